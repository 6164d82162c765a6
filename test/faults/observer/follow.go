/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observer

import (
	"context"
	"fmt"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/process"
)

// retry is the time between attempts while the API server is away.
const retry = 100 * time.Millisecond

// Start watches a JobSet that exists, and its Pods and their Leases, until the context ends.
func Start(ctx context.Context, api client.WithWatch, js *jobset.JobSet) *Observer {
	o := newObserver(js)
	one := &client.ListOptions{Namespace: js.Namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", js.Name)}
	jobSets := follower{api: api, list: func() client.ObjectList { return &jobset.JobSetList{} }, options: one,
		see: func(object client.Object, version uint64, gap bool) {
			if js, ok := object.(*jobset.JobSet); ok {
				o.seeJobSet(js, version, gap)
			}
		}}
	pods := follower{api: api, list: func() client.ObjectList { return &corev1.PodList{} }, options: &client.ListOptions{Namespace: js.Namespace},
		see: func(object client.Object, version uint64, _ bool) {
			if pod, ok := object.(*corev1.Pod); ok {
				o.seePod(pod, version)
			}
		}}
	leases := follower{api: api, list: func() client.ObjectList { return &coordinationv1.LeaseList{} }, options: &client.ListOptions{Namespace: js.Namespace},
		see: func(object client.Object, version uint64, _ bool) {
			if lease, ok := object.(*coordinationv1.Lease); ok {
				o.seeLease(lease, version)
			}
		}}
	go jobSets.run(ctx, true)
	go pods.run(ctx, false)
	go leases.run(ctx, false)
	return o
}

// follower sees every version of some objects, as far as the API server still has them.
type follower struct {
	api     client.WithWatch
	list    func() client.ObjectList
	options *client.ListOptions
	see     func(object client.Object, version uint64, gap bool)
	// last is the version of what was seen last.
	last string
}

// run follows. What is found by a list was written at some time since the last version that
// was seen; late says whether to call that the end of this time or its beginning.
func (f *follower) run(ctx context.Context, late bool) {
	for ctx.Err() == nil {
		if f.last == "" {
			if f.relist(ctx, late) != nil && process.Pause(ctx, retry) != nil {
				return
			}
			continue
		}
		if err := f.watch(ctx); apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			if f.relist(ctx, late) == nil {
				continue
			}
		}
		if process.Pause(ctx, retry) != nil {
			return
		}
	}
}

func (f *follower) relist(ctx context.Context, late bool) error {
	list := f.list()
	if err := f.api.List(ctx, list, f.options); err != nil {
		return err
	}
	objects, err := meta.ExtractList(list)
	if err != nil {
		return fmt.Errorf("reading a list: %w", err)
	}
	at := list.GetResourceVersion()
	if !late && f.last != "" {
		at = f.last
	}
	version, err := strconv.ParseUint(at, 10, 64)
	if err != nil {
		return fmt.Errorf("reading the version of a list: %w", err)
	}
	for _, object := range objects {
		if object, ok := object.(client.Object); ok {
			f.see(object, version, true)
		}
	}
	f.last = list.GetResourceVersion()
	return nil
}

// watch follows from the last version until the watch ends.
func (f *follower) watch(ctx context.Context) error {
	options := *f.options
	options.Raw = &metav1.ListOptions{ResourceVersion: f.last, AllowWatchBookmarks: true}
	events, err := f.api.Watch(ctx, f.list(), &options)
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Error {
			return apierrors.FromObject(event.Object)
		}
		object, ok := event.Object.(client.Object)
		if !ok {
			continue
		}
		f.last = object.GetResourceVersion()
		version, err := strconv.ParseUint(f.last, 10, 64)
		if err != nil {
			return fmt.Errorf("reading a version: %w", err)
		}
		if event.Type != watch.Bookmark {
			f.see(object, version, false)
		}
	}
	return nil
}
