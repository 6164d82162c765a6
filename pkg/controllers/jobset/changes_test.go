/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestTheNextPassWaitsForTheCache(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a"), builders.MakeReplicatedJob("b")).Obj()
	jobs := []*batchv1.Job{builders.MakeJob(js, "a", 0).Obj(), builders.MakeJob(js, "b", 0).Obj()}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(js)}
	// looks reports whether the next call of the queue makes a pass, after a time.
	looks := func(t *testing.T, s *shell, after time.Duration) bool {
		t.Helper()
		s.Clock.SetTime(s.Clock.Now().Add(after))
		result, err := s.Reconcile(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter != unseenInterval
	}
	started := func(t *testing.T) *shell {
		t.Helper()
		s := newShell(t, js)
		s.cacheLag = time.Second
		if !looks(t, s, time.Minute) {
			t.Fatal("the first pass waits")
		}
		s.Record.Expect(t, "create Job js-a-0", "create Job js-b-0", "update status JobSet js")
		return s
	}
	t.Run("C61: until it shows every Job that the last created, and keeps no worker meanwhile", func(t *testing.T) {
		t.Parallel()
		s := started(t)
		if looks(t, s, 100*time.Millisecond) {
			t.Error("it does not wait for the first Job")
		}
		cached(t, s, jobs[:1])
		if looks(t, s, 100*time.Millisecond) {
			t.Error("it does not wait for the second Job")
		}
		cached(t, s, jobs[1:])
		if !looks(t, s, 100*time.Millisecond) {
			t.Error("it still waits")
		}
	})
	t.Run("C61: not for one that was deleted before it was looked for", func(t *testing.T) {
		t.Parallel()
		s := started(t)
		cached(t, s, jobs[1:])
		(&jobEvents{memory: s.memory}).Delete(t.Context(), event.DeleteEvent{Object: jobs[0]}, &woken{})
		if !looks(t, s, 100*time.Millisecond) {
			t.Error("it waits for a Job that is gone")
		}
	})
	t.Run("C61: not longer than the cache may lag", func(t *testing.T) {
		t.Parallel()
		if !looks(t, started(t), time.Second) {
			t.Error("it still waits")
		}
	})
	t.Run("C10: not if the last one failed", func(t *testing.T) {
		t.Parallel()
		s := newShell(t, js)
		s.cacheLag = time.Hour
		s.Fail = func(request string) error {
			if request == "create Job js-b-0" {
				return errors.New("quota")
			}
			return nil
		}
		for range 2 {
			if _, err := s.Reconcile(t.Context(), request); err == nil {
				t.Error("it waits for the Job that was created, want it to retry the other one")
			}
		}
	})
}

func TestWhatCannotBeCreatedHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	refuse := func(s *shell, what string) {
		s.Fail = func(request string) error {
			if request == what {
				return errors.New("quota")
			}
			return nil
		}
	}
	t.Run("P84: a Job that cannot be created keeps no other from being suspended", func(t *testing.T) {
		t.Parallel()
		js := builders.MakeJobSet("js", "ns").Suspend(true).ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(2)).Obj()
		job := builders.MakeJob(js, "a", 0).Obj()
		s := newShell(t, js, job)
		cached(t, s, []*batchv1.Job{job})
		refuse(s, "create Job js-a-1")
		if _, err := pass(t, s); err == nil {
			t.Error("no error, want that the other is refused")
		}
		if got := stored(t, s, job).Spec.Suspend; got == nil || !*got {
			t.Errorf("suspend of the Job that runs is %v, want true", got)
		}
	})
	t.Run("P15: a Service that cannot be created keeps no group from breaking", func(t *testing.T) {
		t.Parallel()
		js, job := workers()
		js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(true)}
		s := newShell(t, js, job)
		cached(t, s, []*batchv1.Job{job}, builders.MakePod(job, 0).Epoch("2").Obj(), builders.MakePod(job, 1).Epoch("1").Obj())
		refuse(s, "create Service js")
		if _, err := pass(t, s); err != nil {
			t.Error(err)
		}
		if got := stored(t, s, js).Status; *got.DeprecatedEpoch != *got.SyncedEpoch || got.InPlaceRestarts != 1 {
			t.Errorf("D is %d, charged %d, want %d and 1", *got.DeprecatedEpoch, got.InPlaceRestarts, *got.SyncedEpoch)
		}
		if _, err := pass(t, s); err == nil {
			t.Error("the next pass does not try to create the Service")
		}
	})
}

func TestAPassEndsInTime(t *testing.T) {
	t.Parallel()
	t.Run("C377: what is not started after half a second is for the next pass, and no failure is reported", func(t *testing.T) {
		t.Parallel()
		js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(200)).Obj()
		s := newShell(t, js)
		s.slots = make(chan struct{}, 2)
		s.Fail = func(string) error { // a request takes 10 ms
			s.Clock.SetTime(s.Clock.Now().Add(10 * time.Millisecond))
			return nil
		}
		result, err := pass(t, s)
		if want := (ctrl.Result{RequeueAfter: nextPart}); err != nil || result != want {
			t.Errorf("result %+v, error %v, want %+v", result, err, want)
		}
		if got := len(s.Record.All()) - 1; got < 50 || got > 53 { // and the write of the status
			t.Errorf("%d Jobs were created, want about 50", got)
		}
	})
	t.Run("C377: a JobSet is not called suspended before all of its Jobs are", func(t *testing.T) {
		t.Parallel()
		js := builders.MakeJobSet("js", "ns").Suspend(true).ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(100)).Obj()
		objs := []client.Object{js}
		var jobs []*batchv1.Job
		for i := range 100 {
			jobs = append(jobs, builders.MakeJob(js, "a", i).Obj())
			objs = append(objs, jobs[i])
		}
		s := newShell(t, objs...)
		s.slots = make(chan struct{}, 1)
		cached(t, s, jobs)
		s.Fail = func(string) error {
			s.Clock.SetTime(s.Clock.Now().Add(10 * time.Millisecond))
			return nil
		}
		_, _ = pass(t, s)
		if got := stored(t, s, js).Status.Conditions; len(got) != 0 {
			t.Errorf("conditions %v, want none yet", got)
		}
		for i := range jobs {
			jobs[i] = stored(t, s, jobs[i])
		}
		cached(t, s, jobs)
		_, _ = pass(t, s)
		if got := stored(t, s, js).Status.Conditions; len(got) != 1 {
			t.Errorf("conditions %v, want that it is suspended", got)
		}
	})
	t.Run("C377: all passes share the requests that may be under way", func(t *testing.T) {
		t.Parallel()
		js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(3)).Obj()
		s := newShell(t, js)
		s.slots = make(chan struct{}, 1)
		s.slots <- struct{}{} // another pass
		done := make(chan error)
		builder := children.NewBuilder(js)
		go func() {
			done <- s.execute(t.Context(), js, planOf(policy.Op{Kind: policy.CreateJob, Job: builder.Job(&js.Spec.ReplicatedJobs[0], 0)}))
		}()
		select {
		case err := <-done:
			t.Fatalf("it creates a Job although no request may be started: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		<-s.slots
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
