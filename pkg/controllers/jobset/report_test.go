/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

var breaking = policy.Event{Type: "Warning", Reason: "InPlaceRestartStarted", Message: "100% broken"}

// seen returns a shell, and the JobSet as its cache shows it.
func seen(t *testing.T, w *builders.JobSetWrapper) (*shell, *jobset.JobSet) {
	t.Helper()
	js := w.Obj()
	s := newShell(t, js)
	return s, stored(t, s, js)
}

func statusOf(js *jobset.JobSet, change func(*jobset.JobSetStatus)) jobset.JobSetStatus {
	status := *js.Status.DeepCopy()
	change(&status)
	return status
}

func readyJobs(n int32) func(*jobset.JobSetStatus) {
	return func(s *jobset.JobSetStatus) {
		s.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "w", Ready: n}}
	}
}

func report(t *testing.T, s *shell, js *jobset.JobSet, plan policy.Plan, want ctrl.Result) {
	t.Helper()
	got, err := s.report(t.Context(), js, &plan)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	epoch := func(s *jobset.JobSetStatus) { s.SyncedEpoch = ptr.To[int32](1) }
	t.Run("C20: nothing changed: nothing is written or told", func(t *testing.T) {
		t.Parallel()
		s, js := seen(t, builders.MakeJobSet("js", "ns"))
		js.Status.ReplicatedJobsStatus = nil
		status := statusOf(js, func(s *jobset.JobSetStatus) { s.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{} })
		report(t, s, js, policy.Plan{Status: status, Reports: policy.Reports{Events: []policy.Event{breaking}}, Pace: policy.Pace{RequeueAfter: time.Minute}}, ctrl.Result{RequeueAfter: time.Minute})
		s.Record.Expect(t)
	})
	t.Run("C20, C23: one write, and then the events in their order", func(t *testing.T) {
		t.Parallel()
		s, js := seen(t, builders.MakeJobSet("js", "ns"))
		before := js.DeepCopy()
		plan := policy.Plan{Status: statusOf(js, epoch), Reports: policy.Reports{Events: []policy.Event{breaking, {Type: "Normal", Reason: "R", Message: "m"}}}}
		report(t, s, js, plan, ctrl.Result{})
		s.Record.Expect(t, "update status JobSet js", "event Warning InPlaceRestartStarted Reconciling: 100% broken", "event Normal R Reconciling: m")
		if diff := cmp.Diff(plan.Status, stored(t, s, js).Status, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, js); diff != "" {
			t.Errorf("the cached JobSet changed:\n%s", diff)
		}
	})
	t.Run("P21: a conflict is no error, tells nothing and looks again", func(t *testing.T) {
		t.Parallel()
		s, js := seen(t, builders.MakeJobSet("js", "ns"))
		other := js.DeepCopy()
		other.Status.Restarts = 1
		if err := s.Fake.Status().Update(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		report(t, s, js, policy.Plan{Status: statusOf(js, epoch), Reports: policy.Reports{Events: []policy.Event{breaking}}}, ctrl.Result{RequeueAfter: passInterval})
		s.Record.Expect(t, "update status JobSet js")
		if got := stored(t, s, js).Status; got.SyncedEpoch != nil || got.Restarts != 1 {
			t.Errorf("the write of the other was lost: %+v", got)
		}
	})
	t.Run("C22: another failure is an error and tells nothing", func(t *testing.T) {
		t.Parallel()
		s, js := seen(t, builders.MakeJobSet("js", "ns"))
		down := errors.New("down")
		s.Fail = func(string) error { return down }
		_, err := s.report(t.Context(), js, &policy.Plan{Status: statusOf(js, epoch), Reports: policy.Reports{Events: []policy.Event{breaking}}})
		if !errors.Is(err, down) {
			t.Errorf("error %v, want %v", err, down)
		}
		s.Record.Expect(t, "update status JobSet js")
	})
	t.Run("C316: a long note is cut, within a rune or not", func(t *testing.T) {
		t.Parallel()
		s, js := seen(t, builders.MakeJobSet("js", "ns"))
		s.tell(js, policy.Event{Message: strings.Repeat("é", 600)})
		_, note, _ := strings.Cut(s.Record.All()[0], ": ")
		if len(note) > shared.MaxNote || !utf8.ValidString(note) || !strings.HasSuffix(note, "é...") {
			t.Errorf("%d bytes, valid %v, ends in %q", len(note), utf8.ValidString(note), note[len(note)-8:])
		}
	})
}

func TestTroubleIsOneEvent(t *testing.T) {
	t.Parallel()
	s, js := seen(t, builders.MakeJobSet("js", "ns"))
	quota, down := errors.New("quota"), errors.New("down")
	for _, told := range []struct {
		version, reason string
		trouble         error
	}{
		{"1", "JobCreationFailed", quota},
		{"2", "JobCreationFailed", quota},
		{"3", "PVCCreationFailed", quota},
		{"4", "JobCreationFailed", quota},
		{"5", "JobCreationFailed", down},
		{"6", "JobCreationFailed", down},
		{"7", "JobCreationFailed", quota},
	} {
		js.ResourceVersion = told.version
		s.tellTrouble(t.Context(), js, told.reason, told.trouble)
		if js.ResourceVersion != told.version {
			t.Fatal("the cached JobSet changed")
		}
	}
	if diff := cmp.Diff([]string{"1", "1", "3", "1", "5", "5", "7"}, s.Record.About); diff != "" {
		t.Errorf("C370: the version stays as long as the trouble does (-want +got):\n%s", diff)
	}
}

func TestAManagerThatStopsTellsNoTrouble(t *testing.T) {
	t.Parallel()
	s, js := seen(t, builders.MakeJobSet("js", "ns"))
	stopped, stop := context.WithCancel(t.Context())
	stop()
	s.tellTrouble(stopped, js, "JobCreationFailed", errors.New("unexpected error when reading response body: context canceled"))
	if len(s.Record.All()) != 0 {
		t.Errorf("told %q", s.Record.All())
	}
}

func TestCountsWait(t *testing.T) {
	t.Parallel()
	s, js := seen(t, builders.MakeJobSet("js", "ns"))
	const second = time.Second
	counts := func(n int32) policy.Plan {
		return policy.Plan{Status: statusOf(js, readyJobs(n)), Pace: policy.Pace{CountsInterval: second}}
	}
	later := func(d time.Duration) { s.Clock.SetTime(s.Clock.Now().Add(d)) }

	report(t, s, js, counts(1), ctrl.Result{}) // the first write
	s.Record.Expect(t, "update status JobSet js")
	js = stored(t, s, js)

	later(300 * time.Millisecond)
	report(t, s, js, counts(2), ctrl.Result{RequeueAfter: 700 * time.Millisecond})
	plan := counts(2)
	plan.RequeueAfter = 100 * time.Millisecond
	report(t, s, js, plan, ctrl.Result{RequeueAfter: 100 * time.Millisecond})
	s.Record.Expect(t)

	epoch := counts(3) // an epoch never waits
	epoch.Status.SyncedEpoch = ptr.To[int32](1)
	report(t, s, js, epoch, ctrl.Result{})
	s.Record.Expect(t, "update status JobSet js")
	js = stored(t, s, js)

	later(500 * time.Millisecond) // and its write counts
	report(t, s, js, counts(4), ctrl.Result{RequeueAfter: 500 * time.Millisecond})
	running := counts(4)
	running.CountsInterval = 0
	later(500 * time.Millisecond)
	report(t, s, js, counts(4), ctrl.Result{})
	js = stored(t, s, js)
	running = policy.Plan{Status: statusOf(js, readyJobs(5))} // while the group runs nothing waits
	report(t, s, js, running, ctrl.Result{})
	s.Record.Expect(t, "update status JobSet js", "update status JobSet js")
}

func TestOnlyCounts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*jobset.JobSetStatus)
		want   bool
	}{
		"P22: nothing":  {func(*jobset.JobSetStatus) {}, true},
		"P22: counts":   {readyJobs(2), true},
		"P22: S":        {func(s *jobset.JobSetStatus) { s.SyncedEpoch = ptr.To[int32](2) }, false},
		"P22: D":        {func(s *jobset.JobSetStatus) { s.DeprecatedEpoch = ptr.To[int32](1) }, false},
		"P22: charges":  {func(s *jobset.JobSetStatus) { s.InPlaceRestarts++ }, false},
		"P22: restarts": {func(s *jobset.JobSetStatus) { s.Restarts++ }, false},
		"P22: conditions": {func(s *jobset.JobSetStatus) {
			s.Conditions = append(s.Conditions, builders.Condition("x", true, "r", "m", now))
		}, false},
		"P22, C373: who is not ready": {func(s *jobset.JobSetStatus) {
			s.Conditions = append(s.Conditions, builders.Condition(jobset.JobSetWorkersNotReady, true, "r", "m", now))
		}, true},
		"P22: counts and S": {func(s *jobset.JobSetStatus) { readyJobs(3)(s); s.SyncedEpoch = ptr.To[int32](2) }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := builders.MakeJobSet("js", "ns").Epochs(0, 1).Obj().Status
			b := *a.DeepCopy()
			tc.change(&b)
			if got := onlyCounts(&a, &policy.Plan{Status: b}); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestReplacedPodsAreToldOnce(t *testing.T) {
	t.Parallel()
	s, js := seen(t, builders.MakeJobSet("js", "ns"))
	_, job := workers()
	pod := builders.MakePod(job, 0).Change(func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }).Obj()
	plan := policy.Plan{Status: js.Status, Reports: policy.Reports{InvalidEpochs: []*facts.Member{facts.Of(builders.MakePod(job, 0).Epoch("x").Obj())},
		Replaced: []policy.Replacement{{Pod: facts.Of(pod), Because: "container worker cannot be stopped"}}}}
	report(t, s, js, plan, ctrl.Result{})
	report(t, s, js, plan, ctrl.Result{})
	s.Record.Expect(t,
		"event Warning InvalidEpoch Reconciling: annotation jobset.sigs.k8s.io/epoch of Pod js-w-0-0 is \"x\", not a decimal number from 1 to 2147483647: it counts as not reported",
		"event Warning WorkerReplaced Reconciling: worker pod js-w-0-0 on node n1 cannot restart in place and is replaced: container worker cannot be stopped") // P70
}

func TestReasonsToWaitAreToldOnce(t *testing.T) {
	t.Parallel()
	s, js := seen(t, builders.MakeJobSet("js", "ns"))
	waitsFor := func(claim string) policy.Plan {
		return policy.Plan{Status: js.Status, Reports: policy.Reports{Once: []policy.Event{{Type: "Normal", Reason: "PVCTerminating", Message: claim}}}}
	}
	report(t, s, js, waitsFor("data-js"), ctrl.Result{})
	report(t, s, js, waitsFor("data-js"), ctrl.Result{})
	report(t, s, js, waitsFor("models-js"), ctrl.Result{})
	report(t, s, js, policy.Plan{Status: js.Status}, ctrl.Result{})
	report(t, s, js, waitsFor("models-js"), ctrl.Result{}) // deleted again
	s.Record.Expect(t, "event Normal PVCTerminating Reconciling: data-js", "event Normal PVCTerminating Reconciling: models-js",
		"event Normal PVCTerminating Reconciling: models-js") // C181
}

func TestInvalidEpochsAreToldOnce(t *testing.T) {
	t.Parallel()
	s, js := seen(t, builders.MakeJobSet("js", "ns"))
	_, job := workers()
	pod := func(epoch string) policy.Plan {
		return policy.Plan{Status: js.Status, Reports: policy.Reports{InvalidEpochs: []*facts.Member{facts.Of(builders.MakePod(job, 0).Epoch(epoch).Obj())}}}
	}
	told := func(value string) string {
		return "event Warning InvalidEpoch Reconciling: annotation jobset.sigs.k8s.io/epoch of Pod js-w-0-0 is \"" + value +
			"\", not a decimal number from 1 to 2147483647: it counts as not reported"
	}
	report(t, s, js, pod("abc"), ctrl.Result{})
	report(t, s, js, pod("abc"), ctrl.Result{})
	s.Record.Expect(t, told("abc"))
	report(t, s, js, pod("%d"), ctrl.Result{})
	report(t, s, js, pod("%d"), ctrl.Result{})
	s.Record.Expect(t, told("%d"))
}

func TestAnInvalidEpochIsToldOfTheLeaseThatHasIt(t *testing.T) {
	t.Parallel()
	s, _, job, leases := leased(t)
	inLeases(leases, job, "x", "1")
	passes(t, s)
	s.Record.Expect(t, "event Warning InvalidEpoch Reconciling: annotation jobset.sigs.k8s.io/epoch of Lease jobset.js-w-0-0 is \"x\", "+
		"not a decimal number from 1 to 2147483647: it counts as not reported") // P12, P152
}
