/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// woken is a queue that only records which JobSets were enqueued, and after what delay.
type woken struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	after map[types.NamespacedName]time.Duration
}

func (q *woken) Add(r reconcile.Request) { q.AddAfter(r, 0) }

func (q *woken) AddAfter(r reconcile.Request, after time.Duration) {
	if q.after == nil {
		q.after = map[types.NamespacedName]time.Duration{}
	}
	q.after[r.NamespacedName] = after
}

func requestFor(js *jobset.JobSet) reconcile.Request {
	return ctrl.Request{NamespacedName: client.ObjectKeyFromObject(js)}
}

func TestJobsWakeTheirJobSet(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a")).Obj()
	atOnce := map[types.NamespacedName]time.Duration{{Namespace: "ns", Name: "js"}: 0}
	later := map[types.NamespacedName]time.Duration{{Namespace: "ns", Name: "js"}: 50 * time.Millisecond}
	change := func(f func(*batchv1.Job)) func(*builders.JobWrapper) {
		return func(w *builders.JobWrapper) { w.Change(f) }
	}
	tests := map[string]struct {
		change func(*builders.JobWrapper)
		want   map[types.NamespacedName]time.Duration
	}{
		"C352: a Job that failed":                   {func(w *builders.JobWrapper) { w.Failed(now, "R", "m") }, atOnce},
		"C352: a Job that is complete":              {func(w *builders.JobWrapper) { w.Complete() }, atOnce},
		"C352: a Job that is about to fail":         {func(w *builders.JobWrapper) { w.Condition(batchv1.JobFailureTarget) }, atOnce},
		"C352: a Job that is being deleted":         {func(w *builders.JobWrapper) { w.Terminating(now) }, atOnce},
		"C352: a Job that somebody suspended":       {func(w *builders.JobWrapper) { w.Suspend(true) }, atOnce},
		"C352: a Job that somebody scaled":          {func(w *builders.JobWrapper) { w.Workers(9) }, atOnce},
		"C352: a Job of other labels":               {func(w *builders.JobWrapper) { w.Label("k", "v") }, atOnce},
		"C352: a Job of which an index is done":     {func(w *builders.JobWrapper) { w.CompletedIndexes("1") }, atOnce},
		"C352: a Job that is ready now, one of 100": {func(w *builders.JobWrapper) { w.Counts(4, 4, 0) }, later},
		"C352: a Job that has its first Pod":        {func(w *builders.JobWrapper) { w.Counts(1, 0, 0) }, later},
		"C352: a Job of which more Pods are ready":  {func(w *builders.JobWrapper) { w.Counts(0, 3, 0) }, nil},
		"C352: a Job of another start time":         {change(func(job *batchv1.Job) { job.Status.StartTime = ptr.To(metav1.NewTime(now)) }), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			m.forJobSet(js).pace.jobs.Store(100)
			before := builders.MakeJob(js, "a", 0).Workers(4)
			after := builders.MakeJob(js, "a", 0).Workers(4)
			tc.change(after)
			q := &woken{}
			(&jobEvents{memory: m}).Update(t.Context(), event.UpdateEvent{ObjectOld: before.Obj(), ObjectNew: after.Obj()}, q)
			if diff := cmp.Diff(tc.want, q.after); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("C3: a Job that appears or goes, by the name of its JobSet", func(t *testing.T) {
		t.Parallel()
		job := builders.MakeJob(builders.MakeJobSet("js", "ns").UID("an-earlier-one").Obj(), "a", 0).Obj()
		for _, tell := range []func(*jobEvents, *woken){
			func(e *jobEvents, q *woken) { e.Create(t.Context(), event.CreateEvent{Object: job}, q) },
			func(e *jobEvents, q *woken) { e.Delete(t.Context(), event.DeleteEvent{Object: job}, q) },
		} {
			q := &woken{}
			tell(&jobEvents{memory: newMemory()}, q)
			if diff := cmp.Diff(atOnce, q.after); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		}
	})
	t.Run("C3: a Job without a controller, or with one of another kind, wakes no JobSet", func(t *testing.T) {
		t.Parallel()
		q := &woken{}
		e := &jobEvents{memory: newMemory()}
		for _, owner := range []func(*batchv1.Job){
			func(job *batchv1.Job) { job.OwnerReferences = nil },
			func(job *batchv1.Job) { job.OwnerReferences[0].Kind = "CronJob" },
			func(job *batchv1.Job) { job.OwnerReferences[0].Controller = nil },
		} {
			e.Create(t.Context(), event.CreateEvent{Object: builders.MakeJob(js, "a", 0).Change(owner).Obj()}, q)
		}
		if len(q.after) > 0 {
			t.Errorf("woken: %v", q.after)
		}
	})
}

// TestJobsWakeJobSetsThatTolerateFaults: by what nobody else reads.
func TestJobsWakeJobSetsThatTolerateFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*batchv1.JobStatus){
		"P80a: an index that failed for good":                  func(s *batchv1.JobStatus) { s.FailedIndexes = ptr.To("1") },
		"P80: a Job that starts, whose Pods nobody may create": func(s *batchv1.JobStatus) { s.StartTime = ptr.To(metav1.NewTime(now)) },
		"P80: a Job without indexes of which a Pod is done":    func(s *batchv1.JobStatus) { s.Succeeded = 1 },
		"P86: a Job whose last Pod has stopped, too":           func(s *batchv1.JobStatus) { s.Terminating = ptr.To[int32](0) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a")).Obj()
			before := builders.MakeJob(js, "a", 0).Workers(4).Change(func(job *batchv1.Job) { job.Status.Terminating = ptr.To[int32](2) }).Obj()
			after := before.DeepCopy()
			change(&after.Status)
			for _, tc := range []struct{ gate, asks, want bool }{{true, true, true}, {true, false, false}, {false, true, false}} {
				asking := js.DeepCopy()
				if tc.asks {
					asking.Spec.FaultTolerance = &jobset.FaultTolerance{}
				}
				s := newShell(t, asking)
				q := &woken{}
				(&jobEvents{reader: s.Fake, memory: newMemory(), gates: gates.Set{FaultTolerance: tc.gate}}).Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
				if got := len(q.after) > 0; got != tc.want {
					t.Errorf("gate %t, faultTolerance %t: woken %t, want %t", tc.gate, tc.asks, got, tc.want)
				}
			}
		})
	}
}
