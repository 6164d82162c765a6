/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// podEvents wakes a JobSet that restarts in place when a Pod of it changes in
// what decisions read, and catches the first failure on the way: its exit
// code stands in the Pod for a tenth of a second.
type podEvents struct {
	reader client.Reader
	memory *memory
}

var _ handler.EventHandler = &podEvents{}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (e *podEvents) Create(ctx context.Context, evt event.CreateEvent, q queue) {
	e.changed(ctx, nil, evt.Object, q)
}

func (e *podEvents) Update(ctx context.Context, evt event.UpdateEvent, q queue) {
	e.changed(ctx, evt.ObjectOld, evt.ObjectNew, q)
}

func (e *podEvents) Delete(ctx context.Context, evt event.DeleteEvent, q queue) {
	if pod, ok := evt.Object.(*corev1.Pod); ok && pod.DeletionTimestamp == nil { // by force
		deleted := *pod
		deleted.DeletionTimestamp = ptr.To(metav1.Now())
		evt.Object = &deleted
	}
	e.changed(ctx, nil, evt.Object, q)
}

func (e *podEvents) Generic(context.Context, event.GenericEvent, queue) {}

func (e *podEvents) changed(ctx context.Context, before, after client.Object, q queue) {
	pod, ok := after.(*corev1.Pod)
	if !ok {
		return
	}
	js := e.jobSetOf(ctx, pod)
	if js == nil || !restartsInPlace(js) {
		return // one of another strategy; or one not in the cache yet, and then its own event comes
	}
	old, known := before.(*corev1.Pod)
	if failure, failed := failureIn(js, old, pod); failed {
		e.memory.sawFailure(js, failure)
	}
	if known && !matters(old, pod) {
		return
	}
	q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: js.Namespace, Name: js.Name}})
}

func (e *podEvents) jobSetOf(ctx context.Context, pod *corev1.Pod) *jobset.JobSet {
	name, ok := pod.Labels[jobset.JobSetNameKey]
	if !ok {
		return nil
	}
	js := &jobset.JobSet{}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: name}
	if err := e.reader.Get(ctx, key, js, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	if uid, ok := pod.Labels[jobset.JobSetUIDKey]; ok && uid != string(js.UID) {
		return nil // of an earlier JobSet of that name
	}
	return js
}

// matters tells whether a Pod changed in anything that decisions read.
func matters(old, pod *corev1.Pod) bool {
	return old.UID != pod.UID ||
		old.Status.Phase != pod.Status.Phase ||
		!old.DeletionTimestamp.Equal(pod.DeletionTimestamp) ||
		old.Annotations[jobset.EpochKey] != pod.Annotations[jobset.EpochKey] ||
		tracked(old) != tracked(pod)
}

func tracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}
