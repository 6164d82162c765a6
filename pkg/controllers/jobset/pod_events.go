/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// podEvents enqueues a JobSet that restarts in place, or tolerates faults, when one of its Pods changes in a field
// that decisions read. It also catches the first failure, whose exit code is in the
// status of the Pod for a tenth of a second.
type podEvents struct {
	reader client.Reader
	memory *memory
	gates  gates.Set
	pods   shared.Indexed[*facts.Member]
	leases facts.Leases
}

var _ handler.EventHandler = &podEvents{}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (e *podEvents) Create(ctx context.Context, evt event.CreateEvent, q queue) {
	e.changed(ctx, nil, evt.Object.(*facts.Member), q)
}

func (e *podEvents) Update(ctx context.Context, evt event.UpdateEvent, q queue) {
	e.changed(ctx, evt.ObjectOld.(*facts.Member), evt.ObjectNew.(*facts.Member), q)
}

func (e *podEvents) Delete(ctx context.Context, evt event.DeleteEvent, q queue) {
	before := evt.Object.(*facts.Member)
	gone := *before
	if !gone.Terminating() { // by force
		gone.Deadline = time.Now()
	}
	if js := e.jobSetOf(ctx, before); js != nil {
		e.observe(ctx, js, e.join(js, before), e.join(js, &gone))
		wakeJobSet(js, q)
	}
}

func (e *podEvents) Generic(context.Context, event.GenericEvent, queue) {}

// changed takes nil for the Pod before if it was not in the cache.
func (e *podEvents) changed(ctx context.Context, before, after *facts.Member, q queue) {
	js := e.jobSetOf(ctx, after)
	if js == nil {
		return
	}
	was, is := e.join(js, before), e.join(js, after)
	e.observe(ctx, js, was, is)
	if was == nil || matters(was, is) || showsReadiness(js, was, is) {
		wakeJobSet(js, q)
	}
}

// jobSetOf returns the JobSet of a Pod if it restarts in place or tolerates faults, else nil. It also returns nil if the JobSet
// is not in the cache yet; its own event is still to come then.
func (e *podEvents) jobSetOf(ctx context.Context, pod *facts.Member) *jobset.JobSet {
	js := shared.JobSetOf(ctx, e.reader, pod)
	if js != nil && (e.inPlace(js) || policy.Tolerates(js, e.gates)) {
		return js
	}
	return nil
}

func (e *podEvents) inPlace(js *jobset.JobSet) bool {
	return workerpod.RestartsInPlace(js, e.gates)
}

// join returns a Pod, nil or not, with what it reports, on itself or in a Lease.
func (e *podEvents) join(js *jobset.JobSet, pod *facts.Member) *facts.Member {
	if pod == nil {
		return nil
	}
	return facts.Join(pod, e.leases.Of(pod), ptr.Deref(js.Status.SyncedEpoch, 0))
}

// observe catches a failure that a change of a Pod shows.
func (e *podEvents) observe(ctx context.Context, js *jobset.JobSet, before, pod *facts.Member) {
	if !e.inPlace(js) {
		return
	}
	if failure, failed := failureIn(js, before, pod); failed && !policy.Bypassed(js) && e.inGroup(ctx, js, pod) {
		e.memory.forJobSet(js).firstFailure.keep(ptr.Deref(js.Status.SyncedEpoch, 0), failure)
	}
}

func wakeJobSet(js *jobset.JobSet, q queue) {
	q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: js.Namespace, Name: js.Name}})
}

// inGroup reports whether the Job of a Pod still has to run (P10): once a Job has met its
// success policy, the Job controller deletes the Pods that are left.
func (e *podEvents) inGroup(ctx context.Context, js *jobset.JobSet, pod *facts.Member) bool {
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

// matters reports whether a Pod changed in a fact that decides something.
func matters(was, is *facts.Member) bool { return was.UID != is.UID || was.Standing != is.Standing }

// showsReadiness reports whether a Pod changed in what is reported about its worker: it is no longer
// ready, or shows why it cannot be. That it becomes ready matters only if condition WorkersNotReady is
// True, so the start of a group enqueues nothing.
func showsReadiness(js *jobset.JobSet, was, is *facts.Member) bool {
	if was.Readiness == is.Readiness || !ranIn(is, js) {
		return false
	}
	return is.Readiness != facts.Ready || apimeta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetWorkersNotReady))
}
