/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
)

// jobEvents wakes a JobSet when one of its Jobs changes in what decisions read.
//
// A pass looks at every Job. If each of J Jobs woke the JobSet each time one
// more of its Pods is ready, bringing it up would take J² looks. So what
// decides, a Job that fails, ends or is deleted, wakes it at once; what only
// counts wakes it after a time that grows with J, for all that counts until
// then; and the rest wakes nobody.
type jobEvents struct {
	memory *memory
}

var _ handler.EventHandler = &jobEvents{}

func (e *jobEvents) Create(_ context.Context, evt event.CreateEvent, q queue) {
	e.wake(evt.Object, 0, q)
}

func (e *jobEvents) Delete(_ context.Context, evt event.DeleteEvent, q queue) {
	e.wake(evt.Object, 0, q)
}

func (e *jobEvents) Generic(context.Context, event.GenericEvent, queue) {}

func (e *jobEvents) Update(_ context.Context, evt event.UpdateEvent, q queue) {
	old, oldOK := evt.ObjectOld.(*batchv1.Job)
	job, jobOK := evt.ObjectNew.(*batchv1.Job)
	switch {
	case !oldOK || !jobOK:
	case decides(old, job):
		e.wake(job, 0, q)
	case policy.CountsOf(old) != policy.CountsOf(job):
		e.wake(job, e.countsDelay(job), q)
	}
}

// decides tells whether a Job changed in what a decision may turn on. Templates
// are not compared: only this controller changes them.
func decides(old, job *batchv1.Job) bool {
	return old.UID != job.UID ||
		!old.DeletionTimestamp.Equal(job.DeletionTimestamp) ||
		!maps.Equal(old.Labels, job.Labels) ||
		!slices.EqualFunc(old.OwnerReferences, job.OwnerReferences, func(a, b metav1.OwnerReference) bool {
			return apiequality.Semantic.DeepEqual(a, b)
		}) ||
		ptr.Deref(old.Spec.Suspend, false) != ptr.Deref(job.Spec.Suspend, false) ||
		!ptr.Equal(old.Spec.Parallelism, job.Spec.Parallelism) ||
		!ptr.Equal(old.Spec.Completions, job.Spec.Completions) ||
		old.Status.CompletedIndexes != job.Status.CompletedIndexes ||
		!slices.EqualFunc(old.Status.Conditions, job.Status.Conditions, func(a, b batchv1.JobCondition) bool {
			return a.Type == b.Type && a.Status == b.Status
		})
}

// wake enqueues the JobSet that controls a Job.
func (e *jobEvents) wake(job client.Object, delay time.Duration, q queue) {
	key, ok := jobSetKey(job)
	if !ok {
		return
	}
	if request := (reconcile.Request{NamespacedName: key}); delay > 0 {
		q.AddAfter(request, delay)
	} else {
		q.Add(request)
	}
}

func (e *jobEvents) countsDelay(job *batchv1.Job) time.Duration {
	key, _ := jobSetKey(job)
	return e.memory.countsDelay(key)
}

// jobSetKey is the JobSet that controls an object, by name: a leftover of an
// earlier JobSet of that name wakes the new one too, which waits for it to go.
func jobSetKey(obj client.Object) (types.NamespacedName, bool) {
	owner := metav1.GetControllerOfNoCopy(obj)
	if owner == nil || owner.Kind != jobset.Kind || owner.APIVersion != jobset.GroupVersion.String() {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: owner.Name}, true
}
