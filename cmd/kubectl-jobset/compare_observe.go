/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/compare"
	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/logs"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/phases"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// observer follows one JobSet and its Pods.
type observer struct {
	changed chan struct{}

	mu     sync.Mutex
	views  phases.Views
	jobSet *jobset.JobSet
	pods   map[types.UID]*corev1.Pod
	// leases are those in which agents of large groups report.
	leases map[string]*coordinationv1.Lease
}

// observe follows a JobSet, which need not exist yet, until the context ends.
func (c *cluster) observe(ctx context.Context, name string) (*observer, error) {
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	o := &observer{changed: make(chan struct{}, 1), pods: map[types.UID]*corev1.Pod{}, leases: map[string]*coordinationv1.Lease{}}
	jobSets, pods := c.jobSets.JobsetV1alpha2().JobSets(c.namespace), c.kubernetes.CoreV1().Pods(c.namespace)
	leases := c.kubernetes.CoordinationV1().Leases(c.namespace)
	named := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}
	labeled := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{jobset.JobSetNameKey: name}).String()}
	for _, kind := range []struct {
		object runtime.Object
		reader *cache.ListWatch
		// optional: only large groups need it.
		optional bool
	}{
		{&jobset.JobSet{}, reading(named, jobSets.List, jobSets.Watch), false},
		{&corev1.Pod{}, reading(labeled, pods.List, pods.Watch), false},
		{&coordinationv1.Lease{}, reading(metav1.ListOptions{LabelSelector: jobset.JobSetUIDKey}, leases.List, leases.Watch), true},
	} {
		_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
			ObjectType: kind.object, ListerWatcher: kind.reader, Transform: slim,
			Handler: cache.ResourceEventHandlerFuncs{
				AddFunc:    func(object any) { o.take(object, false) },
				UpdateFunc: func(_, object any) { o.take(object, false) },
				DeleteFunc: func(object any) { o.take(object, true) },
			},
		})
		go informer.RunWithContext(ctx)
		if !kind.optional && !cache.WaitForCacheSync(limited.Done(), informer.HasSynced) {
			return nil, fmt.Errorf("watching JobSet %s/%s and its Pods: %w", c.namespace, name, limited.Err())
		}
	}
	return o, nil
}

// reading lists and watches which objects of a kind.
func reading[L runtime.Object](which metav1.ListOptions, list func(context.Context, metav1.ListOptions) (L, error), watchFrom cache.WatchFuncWithContext) *cache.ListWatch {
	narrow := func(options *metav1.ListOptions) {
		options.FieldSelector, options.LabelSelector = which.FieldSelector, which.LabelSelector
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			narrow(&options)
			return list(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			narrow(&options)
			return watchFrom(ctx, options)
		},
	}
}

// slim drops what is not looked at: all views of a comparison are kept.
func slim(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Pod:
		o.ManagedFields, o.Spec = nil, corev1.PodSpec{NodeName: o.Spec.NodeName, Containers: o.Spec.Containers, InitContainers: o.Spec.InitContainers}
	case *jobset.JobSet:
		o.ManagedFields = nil
	}
	return object, nil
}

func (o *observer) take(object any, gone bool) {
	now := time.Now()
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch seen := object.(type) {
	case *coordinationv1.Lease:
		if o.leases[seen.Namespace+"/"+seen.Name] = seen; gone {
			delete(o.leases, seen.Namespace+"/"+seen.Name)
		}
		if pod := o.pods[facts.ReporterOf(seen)]; pod != nil {
			o.views = append(o.views, phases.View{At: now, Pod: o.reporting(pod)})
		}
	case *corev1.Pod:
		o.views = append(o.views, phases.View{At: now, Pod: o.reporting(seen), Gone: gone})
		if o.pods[seen.UID] = seen; gone {
			delete(o.pods, seen.UID)
		}
	case *jobset.JobSet:
		o.views = append(o.views, phases.View{At: now, JobSet: seen, Gone: gone})
		if o.jobSet = seen; gone {
			o.jobSet = nil
		}
	}
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// group is what is seen now.
func (o *observer) group() compare.Group {
	o.mu.Lock()
	defer o.mu.Unlock()
	g := compare.Group{JobSet: o.jobSet}
	for _, pod := range o.pods {
		g.Pods = append(g.Pods, o.reporting(pod))
	}
	return g
}

// reporting returns a Pod with what it and its Lease report (P157).
func (o *observer) reporting(pod *corev1.Pod) *corev1.Pod {
	var synced int32
	if o.jobSet != nil {
		synced = ptr.Deref(o.jobSet.Status.SyncedEpoch, 0)
	}
	return facts.Leases(func(key string) *coordinationv1.Lease { return o.leases[key] }).Reporting(pod, synced)
}

// since returns what was seen after a moment, and forgets the rest.
func (o *observer) since(moment time.Time) phases.Views {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.views {
		if !o.views[i].At.Before(moment) {
			o.views = append(phases.Views(nil), o.views[i:]...)
			return o.views
		}
	}
	o.views = nil
	return nil
}

// until waits until nothing is waited for any more, and looks whenever something changes, and every tenth of a second.
func (o *observer) until(ctx context.Context, timeout time.Duration, waits func() (string, error)) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	over := time.After(timeout)
	for {
		what, err := waits()
		if what == "" || err != nil {
			return err
		}
		select {
		case <-o.changed:
		case <-again.C:
		case <-over:
			return fmt.Errorf("after %s: %s", timeout, what)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// untilRunning waits until all workers run, after a failure if there is a group before it, and returns when the last of them has started.
func (x *comparison) untilRunning(ctx context.Context, s compare.Strategy, seen *observer, before *compare.Group, failed time.Time) (time.Time, error) {
	var started time.Time
	found := starts{}
	err := seen.until(ctx, x.options.timeout, func() (string, error) {
		group := seen.group()
		if err := x.hopeless(group); err != nil {
			return "", err
		}
		if what := group.Waits(s, before); what != "" {
			return what, nil
		}
		now := time.Now()
		if started = now; s.Mode != jobset.ProcessMode {
			return "", nil
		}
		if err := x.findStarts(ctx, group, failed, found); err != nil {
			return "", err
		}
		last, missing := found.last(group)
		if missing > 0 {
			return fmt.Sprintf("the supervisors of %d workers have announced no start of epoch %d", missing, group.Epoch()), nil
		}
		// The clock is that of a node: no worker starts before the lift, or after its line was read.
		if last = latest(last, seen.lifted(group.Epoch())); last.Before(now) {
			started = last
		}
		return "", nil
	})
	return started, err
}

func (o *observer) lifted(epoch int32) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.views.First(phases.Lifts(epoch)).At
}

// starts are when the supervisors of a Pod have announced an epoch.
type starts map[started]time.Time

type started struct {
	pod   types.UID
	epoch int32
}

// last returns the last start in the epoch of a group, and how many Pods with supervisors have not announced one.
func (s starts) last(group compare.Group) (last time.Time, missing int) {
	for _, pod := range group.Running() {
		at, ok := s[started{pod.UID, group.Epoch()}]
		if !ok {
			missing++
		}
		last = latest(last, at)
	}
	return last, missing
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// findStarts reads the logs of all Pods whose start in the epoch of the group is not known. A log that cannot be read yet tells nothing.
func (x *comparison) findStarts(ctx context.Context, group compare.Group, failed time.Time, found starts) error {
	var sources []source
	for _, pod := range group.Running() {
		if _, known := found[started{pod.UID, group.Epoch()}]; known {
			continue
		}
		for i := range pod.Spec.Containers {
			if workerpod.Supervised(&pod.Spec.Containers[i]) {
				sources = append(sources, source{logs.Log{Pod: pod.Name, Container: pod.Spec.Containers[i].Name}, pod.Namespace})
			}
		}
	}
	const slack = 10 // seconds, for clocks that differ
	since := int64(math.Ceil(time.Since(failed).Seconds())) + slack
	read, _, err := x.readMarks(ctx, sources, &since)
	if apierrors.IsForbidden(err) {
		return err
	}
	last, silent := map[string]time.Time{}, map[string]int{} // by Pod
	for i := range sources {
		silent[sources[i].Pod]++
	}
	for i := range read {
		for _, m := range read[i].Marks {
			if m.Run == protocol.RunStart && m.Epoch == group.Epoch() {
				silent[read[i].Pod]--
				last[read[i].Pod] = latest(last[read[i].Pod], m.Time)
			}
		}
	}
	for _, pod := range group.Running() {
		if at, ok := last[pod.Name]; ok && silent[pod.Name] == 0 {
			found[started{pod.UID, group.Epoch()}] = at
		}
	}
	return nil
}
