/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/phases"
)

// record is what the API showed of the JobSet and the Pods of one story, and
// when we saw it.
type record struct {
	mu     sync.Mutex
	latest map[string]*corev1.Pod
	jobSet *jobset.JobSet
	views  phases.Views
}

type view = phases.View

// follow records all JobSets and Pods of a namespace until the context ends. The API server ends a watch that is read too
// slowly, as on a busy machine; an informer goes on where it ended.
func follow(ctx context.Context, api client.WithWatch, namespace string) (*record, error) {
	r := &record{latest: map[string]*corev1.Pod{}}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { r.take(object, false) },
		UpdateFunc: func(_, object any) { r.take(object, false) },
		DeleteFunc: func(object any) {
			if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			r.take(object, true)
		},
	}
	for _, kind := range []struct {
		object client.Object
		list   func() client.ObjectList
	}{
		{&jobset.JobSet{}, func() client.ObjectList { return &jobset.JobSetList{} }},
		{&corev1.Pod{}, func() client.ObjectList { return &corev1.PodList{} }},
	} {
		_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
			ObjectType: kind.object, Handler: handler,
			ListerWatcher: &cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
					list := kind.list()
					return list, api.List(ctx, list, client.InNamespace(namespace), &client.ListOptions{Raw: &options})
				},
				WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
					return api.Watch(ctx, kind.list(), client.InNamespace(namespace), &client.ListOptions{Raw: &options})
				},
			},
		})
		go informer.RunWithContext(ctx)
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return nil, fmt.Errorf("watching %T of namespace %s: %w", kind.object, namespace, ctx.Err())
		}
	}
	return r, nil
}

func (r *record) take(object any, gone bool) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch seen := object.(type) {
	case *corev1.Pod:
		seen.ManagedFields = nil
		r.views = append(r.views, view{At: now, Pod: seen, Gone: gone})
		if gone {
			delete(r.latest, seen.Name)
		} else {
			r.latest[seen.Name] = seen
		}
	case *jobset.JobSet:
		written := statusWritten(seen)
		seen.ManagedFields = nil
		r.views = append(r.views, view{At: now, Written: written, JobSet: seen})
		r.jobSet = seen
	}
}

// pods are the Pods as seen last, those of other owners left out.
func (r *record) pods() []*corev1.Pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	var pods []*corev1.Pod
	for _, pod := range r.latest {
		if pod.Labels[jobset.JobSetNameKey] == jobSetName {
			pods = append(pods, pod)
		}
	}
	return pods
}

// status is that of the JobSet as seen last.
func (r *record) status() jobset.JobSetStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.jobSet == nil {
		return jobset.JobSetStatus{}
	}
	return r.jobSet.Status
}

// statusWritten is when the status of a JobSet was last written.
func statusWritten(js *jobset.JobSet) (last time.Time) {
	for _, entry := range js.ManagedFields {
		if entry.Subresource == "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// seen is all that was seen until now.
func (r *record) seen() phases.Views {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.views)
}

// first is when a view was first like this; zero if none was.
func (r *record) first(like func(view) bool) time.Time { return r.firstView(like).At }

func (r *record) firstView(like func(view) bool) view {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.views.First(like)
}

// broke is when the group of an epoch was seen to be told to restart.
func (r *record) broke(epoch int32) time.Time { return r.first(phases.Breaks(epoch)) }

// breakWritten is when it was told. What follows from that, such as the start of a process, is never before it, but may
// be before we see it.
func (r *record) breakWritten(epoch int32) time.Time {
	return r.firstView(phases.Breaks(epoch)).Written
}

// restartWritten is when the whole JobSet was told to start over for the nth time.
func (r *record) restartWritten(n int32) time.Time { return r.firstView(phases.StartsOver(n)).Written }

// showsWorkerOf looks whether the status of a Pod shows the container in which the worker of an epoch runs, and not the
// one that was there before its agent reported the epoch. The status may lag behind the containers and the agent.
func (r *record) showsWorkerOf(pod *corev1.Pod, epoch int32) error {
	status := containerStatus(pod, workerName)
	if status == nil || status.ContainerID == "" {
		return fmt.Errorf("the status of Pod %s shows no worker", pod.Name)
	}
	old := r.firstView(func(v view) bool {
		if v.Pod == nil || v.Pod.UID != pod.UID || v.Pod.Annotations[jobset.EpochKey] == strconv.Itoa(int(epoch)) {
			return false
		}
		was := containerStatus(v.Pod, workerName)
		return was != nil && was.ContainerID == status.ContainerID
	})
	if old.Pod != nil {
		return fmt.Errorf("the status of Pod %s shows the worker of an earlier epoch", pod.Name)
	}
	return nil
}

// epochsSeen are D and S of every view of the JobSet, in order.
func (r *record) epochsSeen() (pairs [][2]int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.views {
		if v.JobSet != nil {
			pairs = append(pairs, [2]int32{ptr.Deref(v.JobSet.Status.DeprecatedEpoch, 0), ptr.Deref(v.JobSet.Status.SyncedEpoch, 0)})
		}
	}
	return pairs
}
