/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

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
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
)

// jobEvents enqueues a JobSet when one of its Jobs changes in a field that decisions read.
//
// A pass reads every Job. If each of J Jobs enqueued the JobSet whenever one
// more of its Pods became ready, starting the JobSet would read J² Jobs. So a
// change that decides something, such as a Job that fails, ends or is deleted, enqueues
// it at once. A change of counts enqueues it after a delay that grows with J, which
// merges such changes. Other changes do not enqueue it.
type jobEvents struct {
	reader client.Reader
	memory *memory
	gates  gates.Set
}

var _ handler.EventHandler = &jobEvents{}

func (e *jobEvents) Create(_ context.Context, evt event.CreateEvent, q queue) {
	e.wake(evt.Object, 0, q)
}

func (e *jobEvents) Delete(_ context.Context, evt event.DeleteEvent, q queue) {
	if key, ok := jobSetKey(evt.Object); ok {
		e.memory.forKey(key).unseen.gone(client.ObjectKeyFromObject(evt.Object).String())
	}
	e.wake(evt.Object, 0, q)
}

func (e *jobEvents) Generic(context.Context, event.GenericEvent, queue) {}

func (e *jobEvents) Update(ctx context.Context, evt event.UpdateEvent, q queue) {
	old, oldOK := evt.ObjectOld.(*batchv1.Job)
	job, jobOK := evt.ObjectNew.(*batchv1.Job)
	switch {
	case !oldOK || !jobOK:
	case decides(old, job):
		e.wake(job, 0, q)
	case policy.CountsOf(old) != policy.CountsOf(job):
		e.wake(job, e.countsDelay(job), q)
	case e.gates.FaultTolerance && showsHealth(old, job) && e.tolerates(ctx, job):
		e.wake(job, e.countsDelay(job), q)
	}
}

// showsHealth reports whether a Job changed in a field that only decisions about JobSets with faultTolerance read: since
// when its Pods are waited for, how many are done or need none (P80, P80a), and whether any still stops (P86).
func showsHealth(old, job *batchv1.Job) bool {
	return !old.Status.StartTime.Equal(job.Status.StartTime) || old.Status.Succeeded != job.Status.Succeeded ||
		!ptr.Equal(old.Status.FailedIndexes, job.Status.FailedIndexes) ||
		(ptr.Deref(old.Status.Terminating, 0) > 0) != (ptr.Deref(job.Status.Terminating, 0) > 0)
}

func (e *jobEvents) tolerates(ctx context.Context, job *batchv1.Job) bool {
	key, ok := jobSetKey(job)
	js := &jobset.JobSet{}
	return ok && e.reader.Get(ctx, key, js, client.UnsafeDisableDeepCopy) == nil && policy.Tolerates(js, e.gates)
}

// decides reports whether a Job changed in a field that can change a decision. Templates
// are not compared: only this controller changes them.
func decides(old, job *batchv1.Job) bool {
	return old.UID != job.UID ||
		!old.DeletionTimestamp.Equal(job.DeletionTimestamp) ||
		!maps.Equal(old.Labels, job.Labels) ||
		!apiequality.Semantic.DeepEqual(old.OwnerReferences, job.OwnerReferences) ||
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
	return e.memory.forKey(key).pace.countsDelay()
}

// jobSetKey returns the name of the JobSet that controls an object. A leftover of an
// earlier JobSet of that name enqueues the new one too, which waits for the leftover to go.
func jobSetKey(obj client.Object) (types.NamespacedName, bool) {
	owner := metav1.GetControllerOfNoCopy(obj)
	if owner == nil || owner.Kind != jobset.Kind || owner.APIVersion != jobset.GroupVersion.String() {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: owner.Name}, true
}
