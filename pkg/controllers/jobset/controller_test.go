/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// pass makes a pass a second after the last one.
func pass(t *testing.T, s *shell) (ctrl.Result, error) {
	t.Helper()
	s.Clock.SetTime(s.Clock.Now().Add(time.Second))
	return s.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "js"}})
}

// cached adds objects to the controller's cache.
func cached(t *testing.T, s *shell, jobs []*batchv1.Job, pods ...*corev1.Pod) {
	t.Helper()
	for _, job := range jobs {
		if err := s.jobs.Store.Add(job); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range pods {
		if err := s.pods.Store.Add(facts.Of(pod)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	two := func() *builders.JobSetWrapper {
		return builders.MakeJobSet("js", "ns").Network(jobset.Network{EnableDNSHostnames: ptr.To(true)}).ReplicatedJob(builders.MakeReplicatedJob("a"), builders.MakeReplicatedJob("b"))
	}
	created := []string{"create Service js", "create Job js-a-0", "create Job js-b-0", "update status JobSet js"}
	deleting := two().Obj()
	deleting.DeletionTimestamp, deleting.Finalizers = ptr.To(metav1.NewTime(now)), []string{"foregroundDeletion"}
	tests := map[string]struct {
		js   *jobset.JobSet
		want []string
	}{
		"C60, C91: what a JobSet asks for":   {two().Obj(), created},
		"C19: the reserved name is ours":     {two().ManagedBy(jobset.JobSetControllerName).Obj(), created},
		"C19: another controller's":          {two().ManagedBy("example.com/other").Obj(), nil},
		"C18: one that is deleted":           {deleting, nil},
		"C173: ttl over: nothing is written": {two().Condition(jobset.JobSetFailed, true, "r", "m", now).TTL(0).Obj(), []string{"delete JobSet js"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, tc.js)
			if result, err := pass(t, s); err != nil || result != (ctrl.Result{}) {
				t.Errorf("result %+v, error %v", result, err)
			}
			s.Record.Expect(t, tc.want...)
		})
	}
	t.Run("C33: one that is gone is forgotten", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		if result, err := pass(t, s); err != nil || result != (ctrl.Result{}) || len(s.memory.entries) != 0 {
			t.Errorf("result %+v, error %v, %d remembered", result, err, len(s.memory.entries))
		}
	})
	t.Run("P22: a pass too early waits and looks at nothing", func(t *testing.T) {
		t.Parallel()
		s := newShell(t, two().Obj())
		_, _ = pass(t, s)
		s.Record.Expect(t, created...)
		s.Clock.SetTime(s.Clock.Now().Add(10 * time.Millisecond))
		result, err := s.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "js"}})
		if want := (ctrl.Result{RequeueAfter: 40 * time.Millisecond}); err != nil || result != want {
			t.Errorf("result %+v, error %v, want %+v", result, err, want)
		}
		s.Record.Expect(t)
	})
	t.Run("C378: passes over many Jobs are further apart after one that changed none, unless they restart in place", func(t *testing.T) {
		t.Parallel()
		js := two().Obj()
		s := newShell(t, js)
		waits := func(why string, want time.Duration) {
			t.Helper()
			s.memory.forJobSet(js).pace.jobs.Store(12_000) // as if the last pass had seen so many
			s.Clock.SetTime(s.Clock.Now().Add(100 * time.Millisecond))
			result, err := s.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(js)})
			if err != nil || result.RequeueAfter != want {
				t.Errorf("after a pass that %s: result %+v, error %v, want to wait for %s", why, result, err, want)
			}
		}
		_, _ = pass(t, s)
		waits("created Jobs", 150*time.Millisecond)
		cached(t, s, []*batchv1.Job{builders.MakeJob(js, "a", 0).Obj(), builders.MakeJob(js, "b", 0).Obj()})
		_, _ = pass(t, s)
		waits("changed none", 900*time.Millisecond)
		if err := s.Fake.Get(t.Context(), client.ObjectKeyFromObject(js), js); err != nil {
			t.Fatal(err)
		}
		js.Spec.FailurePolicy, s.gates.InPlaceRestart = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart}, true
		if err := s.Fake.Update(t.Context(), js); err != nil {
			t.Fatal(err)
		}
		_, _ = pass(t, s)
		waits("changed none of a group", 150*time.Millisecond)
	})
	t.Run("C10: a pass that failed is retried when the queue says so, so that its backoff grows", func(t *testing.T) {
		t.Parallel()
		s := newShell(t, two().Obj())
		s.Fail = func(string) error { return errors.New("down") }
		for range 3 { // a wait asked for here would make the queue forget how often it failed
			result, err := s.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "js"}})
			if err == nil || result != (ctrl.Result{}) {
				t.Errorf("result %+v, error %v, want an error", result, err)
			}
		}
	})
}

// TestConfirm: a loss that the cache shows is confirmed before it counts (P14).
func TestConfirm(t *testing.T) {
	t.Parallel()
	js, job := workers()
	one, other := builders.MakePod(job, 0).Epoch("1").Obj(), builders.MakePod(job, 1).Epoch("1").Obj()
	foreign := builders.MakePod(job, 1).Epoch("1").Change(func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "another" }).Obj()
	failed := builders.MakePod(job, 1).Epoch("1").Phase(corev1.PodFailed).Counted().Obj()
	recreatedJob := builders.MakeJob(js, "w", 0).Workers(2).UID("recreated").Obj()
	const (
		broke    = "a worker pod of Job js-w-0 failed, was deleted or did not stop in time; all workers of epoch 1 restart in place"
		breaking = "event Warning InPlaceRestartStarted Reconciling: " + broke
	)
	failureTarget := func(t *testing.T, s *shell) {
		late := stored(t, s, job)
		late.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}
		if err := s.Fake.Status().Update(context.Background(), late); err != nil {
			t.Error(err)
		}
	}
	tests := map[string]struct {
		live      []client.Object
		afterList func(*testing.T, *shell)
		deprecate bool
		charged   int32
		told      []string
	}{
		"P14: the cache lags: nothing is lost":             {live: []client.Object{job, one, other}},
		"P14: the worker is gone":                          {live: []client.Object{job, one}, deprecate: true, charged: 1, told: []string{breaking}},
		"P14: the worker failed":                           {live: []client.Object{job, one, failed}, deprecate: true, charged: 1, told: []string{breaking}},
		"P10: the Pod of another is not it":                {live: []client.Object{job, one, foreign}, deprecate: true, charged: 1, told: []string{breaking}},
		"P16: the Job is gone: D := S, and nothing failed": {live: []client.Object{one}, deprecate: true},
		"P16: the Job is another: D := S, nothing failed":  {live: []client.Object{recreatedJob, one}, deprecate: true},
		"P14: the Job fails between the two reads":         {live: []client.Object{job, one, failed}, afterList: failureTarget},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objs := []client.Object{js.DeepCopy()}
			for _, obj := range tc.live {
				objs = append(objs, obj.DeepCopyObject().(client.Object))
			}
			s := newShell(t, objs...)
			if tc.afterList != nil {
				s.live = interceptor.NewClient(s.Fake, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
					defer tc.afterList(t, s)
					return c.List(ctx, list, opts...)
				}})
			}
			cached(t, s, []*batchv1.Job{job}, one)
			s.memory.forJobSet(js).pace.lastWrite = s.Clock.Now()
			if _, err := pass(t, s); err != nil {
				t.Fatal(err)
			}
			status := stored(t, s, js).Status
			type counters struct{ Deprecated, Synced, Charged int32 }
			want := counters{map[bool]int32{true: 1}[tc.deprecate], 1, tc.charged}
			if diff := cmp.Diff(want, counters{*status.DeprecatedEpoch, *status.SyncedEpoch, status.InPlaceRestarts}); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			s.Record.Expect(t, append([]string{"update status JobSet js"}, tc.told...)...)
		})
	}
	t.Run("P14: a Job that only seems to lack a worker hides no loss in another", func(t *testing.T) {
		t.Parallel()
		js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(0, 1).
			ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(2).Workers(2)).Obj()
		jobs := []*batchv1.Job{builders.MakeJob(js, "w", 0).Workers(2).Obj(), builders.MakeJob(js, "w", 1).Workers(2).Obj()}
		unseen := builders.MakePod(jobs[0], 0).Epoch("1").Obj()
		others := []*corev1.Pod{builders.MakePod(jobs[0], 1).Epoch("1").Obj(), builders.MakePod(jobs[1], 1).Epoch("1").Obj()}
		s := newShell(t, js, jobs[0], jobs[1], unseen, others[0], others[1])
		cached(t, s, jobs, others...)
		if _, err := pass(t, s); err != nil {
			t.Fatal(err)
		}
		if got := stored(t, s, js).Status; *got.DeprecatedEpoch != 1 || got.InPlaceRestarts != 1 {
			t.Errorf("D is %d, charged %d, want 1 and 1", *got.DeprecatedEpoch, got.InPlaceRestarts)
		}
	})
	t.Run("P14: no break when the read fails", func(t *testing.T) {
		t.Parallel()
		s := newShell(t, js.DeepCopy(), job.DeepCopy())
		s.live = interceptor.NewClient(s.Fake, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("down")
		}})
		cached(t, s, []*batchv1.Job{job}, one)
		if _, err := pass(t, s); err == nil {
			t.Error("no error")
		}
		s.Record.Expect(t)
	})
}
