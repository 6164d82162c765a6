/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/client-go/clientset/versioned"
)

// Watch keeps a board up to date until the context ends. What the user may not read is told on the board.
func Watch(ctx context.Context, b *Board, jobSets versioned.Interface, core kubernetes.Interface) {
	// Failures are told on the page, with what they mean, and not on the terminal.
	ctx = klog.NewContext(ctx, logr.Discard())
	in, name, ours := b.scope.Namespace, fields.Set{}, jobset.JobSetNameKey
	about := fields.Set{"involvedObject.kind": jobset.Kind}
	if b.scope.Name != "" {
		name[metav1.ObjectNameField], about["involvedObject.name"] = b.scope.Name, b.scope.Name
		ours = labels.SelectorFromSet(labels.Set{jobset.JobSetNameKey: b.scope.Name}).String()
	}
	uncreated := fields.Set{"involvedObject.kind": "Job", "reason": "FailedCreate"}
	js, jobs, pods := jobSets.JobsetV1alpha2().JobSets(in), core.BatchV1().Jobs(in), core.CoreV1().Pods(in)
	events, nodes, leases := core.CoreV1().Events(in), core.CoreV1().Nodes(), core.CoordinationV1().Leases(in)
	follow(ctx, b, JobSets, metav1.ListOptions{FieldSelector: name.String()}, jobSets, js.List, js.Watch)
	follow(ctx, b, Jobs, metav1.ListOptions{LabelSelector: ours}, core, jobs.List, jobs.Watch)
	follow(ctx, b, Pods, metav1.ListOptions{LabelSelector: ours}, core, pods.List, pods.Watch)
	follow(ctx, b, Leases, metav1.ListOptions{LabelSelector: jobset.JobSetUIDKey}, core, leases.List, leases.Watch)
	follow(ctx, b, Events, metav1.ListOptions{FieldSelector: about.String()}, core, events.List, events.Watch)
	follow(ctx, b, JobEvents, metav1.ListOptions{FieldSelector: uncreated.String()}, core, events.List, events.Watch)
	follow(ctx, b, Nodes, metav1.ListOptions{}, core, nodes.List, nodes.Watch)
}

// follow starts to list and watch one kind.
func follow[L runtime.Object](ctx context.Context, b *Board, kind Kind, which metav1.ListOptions, client any,
	list func(context.Context, metav1.ListOptions) (L, error), watchFrom cache.WatchFuncWithContext,
) {
	narrow := func(options *metav1.ListOptions) {
		options.FieldSelector, options.LabelSelector = which.FieldSelector, which.LabelSelector
	}
	reader := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			narrow(&options)
			objects, err := list(ctx, options)
			if err != nil {
				b.Unread(kind, err)
			}
			return objects, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			narrow(&options)
			w, err := watchFrom(ctx, options)
			b.Unread(kind, err) // a user who may list and not watch would see what was
			return w, err
		},
	}
	reflector := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(reader, client), nil, kept{b, kind}, cache.ReflectorOptions{Name: string(kind)})
	go reflector.RunWithContext(ctx)
}

// kept hands the objects of one kind to a board.
type kept struct {
	*Board
	kind Kind
}

func (k kept) Add(o any) error    { return k.with(o, k.Put) }
func (k kept) Update(o any) error { return k.with(o, k.Put) }
func (k kept) Delete(o any) error { return k.with(o, k.Remove) }
func (k kept) Resync() error      { return nil }

func (k kept) Replace(list []any, _ string) error {
	objects := make([]metav1.Object, len(list))
	for i, o := range list {
		if err := k.with(o, func(o ...metav1.Object) { objects[i] = o[0] }); err != nil {
			return err
		}
	}
	k.Board.Replace(k.kind, objects)
	return nil
}

func (k kept) with(o any, act func(...metav1.Object)) error {
	object, ok := o.(metav1.Object)
	if !ok {
		return fmt.Errorf("%T among %s is no object", o, k.kind)
	}
	act(object)
	return nil
}
