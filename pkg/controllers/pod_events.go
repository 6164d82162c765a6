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
	"sigs.k8s.io/jobset/pkg/policy"
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
	before, ok := evt.Object.(*corev1.Pod)
	if !ok {
		return
	}
	pod := *before
	if pod.DeletionTimestamp == nil { // by force
		pod.DeletionTimestamp = ptr.To(metav1.Now())
	}
	if js := e.observe(ctx, before, &pod); js != nil {
		wakeJobSet(js, q)
	}
}

func (e *podEvents) Generic(context.Context, event.GenericEvent, queue) {}

func (e *podEvents) changed(ctx context.Context, before, after client.Object, q queue) {
	pod, ok := after.(*corev1.Pod)
	if !ok {
		return
	}
	old, known := before.(*corev1.Pod)
	if js := e.observe(ctx, old, pod); js != nil && (!known || matters(old, pod)) {
		wakeJobSet(js, q)
	}
}

// observe catches a failure that a change of a Pod shows, and returns the JobSet of the Pod if it
// restarts in place; nil if it does not, or is not in the cache yet: then its own event comes.
func (e *podEvents) observe(ctx context.Context, before, pod *corev1.Pod) *jobset.JobSet {
	js := e.jobSetOf(ctx, pod)
	if js == nil || !restartsInPlace(js) {
		return nil
	}
	if failure, failed := failureIn(js, before, pod); failed && !policy.Bypassed(js) && e.inGroup(ctx, js, pod) {
		e.memory.sawFailure(js, failure)
	}
	return js
}

func wakeJobSet(js *jobset.JobSet, q queue) {
	q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: js.Namespace, Name: js.Name}})
}

// inGroup tells whether a Pod is of a Job that is still to run (P10): when a Job has met its
// success policy, the Pods that it does not need are deleted.
func (e *podEvents) inGroup(ctx context.Context, js *jobset.JobSet, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return false
	}
	job := &batchv1.Job{}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}
	if err := e.reader.Get(ctx, key, job, client.UnsafeDisableDeepCopy); err != nil || job.UID != owner.UID {
		return false
	}
	over := slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobSuccessCriteriaMet || c.Type == batchv1.JobComplete)
	})
	return !over && job.DeletionTimestamp == nil && metav1.IsControlledBy(job, js)
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
