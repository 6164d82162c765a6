/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/tolerance"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// tolerant is a JobSet "js" with faultTolerance {} and one ReplicatedJob w of two Jobs, that has been seen before.
func tolerant(changes ...func(*Input)) Input {
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(2)).Obj()
	js.Spec.FaultTolerance = &jobset.FaultTolerance{}
	js.Status.FaultTolerance = &jobset.FaultToleranceStatus{MaxRestarts: 3}
	js.Status.Conditions = []metav1.Condition{deployed()}
	in := Input{JobSet: js, Now: now, Gates: gates.Set{FaultTolerance: true}, ServiceExists: true, Tolerance: tolerance.Builtin()}
	for _, change := range changes {
		change(&in)
	}
	return in
}

// deployed: the JobSet may use resources, as it has been told long ago.
func deployed() metav1.Condition {
	return builders.Condition(jobset.JobSetResourcesDeployed, true, "ResourcesInUse", "Jobs of the JobSet may run Pods", past)
}

// behindDeployed is what is wanted, of conditions too that come behind ResourcesDeployed.
func behindDeployed(want func(*summary)) func(*summary) {
	return func(w *summary) {
		w.Status.Conditions = nil
		want(w)
		w.Status.Conditions = append([]metav1.Condition{deployed()}, w.Status.Conditions...)
	}
}

// read: the children were just read past the cache.
func read(in *Input) { in.ChildrenRead = true }

// nobodyKeeps is what becomes of ResourcesDeployed without faultTolerance.
func nobodyKeeps(w *summary) {
	for i := range w.Status.Conditions {
		if c := &w.Status.Conditions[i]; c.Type == string(jobset.JobSetResourcesDeployed) {
			*c = metav1.Condition{Type: c.Type, Status: metav1.ConditionUnknown, Reason: "FaultToleranceOff", LastTransitionTime: metav1Time(now),
				Message: "spec.faultTolerance was removed, or feature gate FaultTolerance is off"}
		}
	}
	w.Status.FaultTolerance = nil
}

// has Jobs of an attempt, by index.
func has(attempt int, indexes ...int) func(*Input) {
	return func(in *Input) {
		for _, i := range indexes {
			in.Jobs = append(in.Jobs, builders.MakeJob(in.JobSet, "w", i).Attempt(attempt).Obj())
		}
	}
}

// afterReset: the first restart was decided so long ago, and the Jobs have been gone for gone, if it is not negative.
func afterReset(ago, gone time.Duration) func(*Input) {
	return func(in *Input) {
		status := &in.JobSet.Status
		status.Restarts, status.RestartsCountTowardsMax = 1, 1
		status.FaultTolerance.Reset = &jobset.ResetStatus{StartTime: metav1Time(now.Add(-ago))}
		if gone >= 0 {
			status.FaultTolerance.Reset.JobsGoneTime = ptr.To(metav1Time(now.Add(-gone)))
		}
		status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "DefaultFailurePolicy", "older", now.Add(-ago)), deployed()}
		status.RestartHistory = []jobset.RestartRecord{{Kind: jobset.RestartedByReset, Cause: pass.OtherCause("cause")}}
	}
}

// tolerates changes what the JobSet asks for.
func tolerates(change func(*jobset.FaultTolerance)) func(*Input) {
	return func(in *Input) { change(in.JobSet.Spec.FaultTolerance) }
}

func pauseOf(seconds int32) func(*Input) {
	return tolerates(func(f *jobset.FaultTolerance) { f.RetryPauseSeconds = &seconds })
}

func limitOf(limit int32) func(*Input) {
	return tolerates(func(f *jobset.FaultTolerance) { f.RetryLimit = &limit })
}

func TestFailedJobsLeadToAReset(t *testing.T) {
	t.Parallel()
	firstFails := onJob(0, failed)
	used := func(all, counted int32) func(*Input) {
		return func(in *Input) { in.JobSet.Status.Restarts, in.JobSet.Status.RestartsCountTowardsMax = all, counted }
	}
	resets := behindDeployed(func(w *summary) {
		byDefault("js-w-0")(w)
		w.Status.FaultTolerance.Reset = &jobset.ResetStatus{StartTime: metav1Time(now)}
		w.Outcomes = []Outcome{WasReset}
	})
	spent := func(limit int32) func(*summary) {
		return behindDeployed(func(w *summary) {
			failsWith("ReachedMaxRestarts", "jobset failed due to reaching max number of restarts (first failed job: js-w-0)")(w)
			w.Status.FaultTolerance.MaxRestarts = limit
		})
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P82: a failed Job leads to a reset, charged": {tolerant(has(0, 0, 1), firstFails), resets},
		"P82, P84: the third of three":                {tolerant(used(2, 2), has(2, 0, 1), firstFails), resets},
		"P84: the fourth of three fails the JobSet":   {tolerant(used(3, 3), has(3, 0, 1), firstFails), spent(3)},
		"P84: a limit of 0 allows none":               {tolerant(limitOf(0), has(0, 0, 1), firstFails), spent(0)},
		"P84: a limit that is lowered holds at once":  {tolerant(used(2, 2), limitOf(2), has(2, 0, 1), firstFails), spent(2)},
		"P82: gate off, the first failed Job is the end": {
			tolerant(has(0, 0, 1), firstFails, gateOff), func(w *summary) {
				behindDeployed(failsWith("FailedJobs", "jobset failed due to one or more job failures (first failed job: js-w-0)"))(w)
				nobodyKeeps(w)
			},
		},
		"P82: with a failure policy maxRestarts is the limit": {
			tolerant(used(1, 1), has(1, 0, 1), firstFails, func(in *Input) {
				in.JobSet.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 1}
			}), spent(1),
		},
		"P82: what the failure policy does not count is a reset all the same": {
			tolerant(used(1, 1), has(1, 0, 1), firstFails, func(in *Input) {
				in.JobSet.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 1, Rules: []jobset.FailurePolicyRule{{
					Name: "on", Action: jobset.RestartJobSetAndIgnoreMaxRestarts}}}
			}), behindDeployed(func(w *summary) {
				restartsBy("FailurePolicy_on", jobset.RestartJobSetAndIgnoreMaxRestarts, 0, "js-w-0")(w)
				w.Status.FaultTolerance = &jobset.FaultToleranceStatus{MaxRestarts: 1, Reset: &jobset.ResetStatus{StartTime: metav1Time(now)}}
				w.Outcomes = []Outcome{WasReset}
			}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func TestAResetPauses(t *testing.T) {
	t.Parallel()
	creates := func(w *summary) { w.Creates = [][]string{{"js-w-0", "js-w-1"}} }
	over := func(w *summary) {
		creates(w)
		w.Status.FaultTolerance.Reset = nil
	}
	// pauses until so long from now, of the pause of so many seconds.
	pauses := func(pause string, left time.Duration, until string) func(*summary) {
		return func(w *summary) {
			w.RequeueAfter = left
			w.Status.Conditions[0].Message = "cause; all Jobs are gone, they are created again at " + until + ", after a pause of " + pause + " (1 of 3 restarts used)"
		}
	}
	begins := func(pause string, left time.Duration, until string) func(*summary) {
		return func(w *summary) {
			pauses(pause, left, until)(w)
			w.Status.FaultTolerance.Reset.JobsGoneTime = ptr.To(metav1Time(now))
			w.Events = []Event{{Type: "Normal", Reason: "RetryPause", Message: "all Jobs are gone: they are created again at " + until + ", after a pause of " + pause + " (1 of 3 restarts used)"}}
		}
	}
	// suspended, with so many Jobs left.
	suspended := func(left string) func(*summary) {
		return func(w *summary) {
			over(w)
			released := "0 Pods run and 0 of " + left + " Jobs may start any"
			w.Status.Conditions = []metav1.Condition{
				builders.Condition(jobset.JobSetRestarting, false, "JobSetSuspended", "jobset is suspended", now),
				builders.Condition(jobset.JobSetResourcesDeployed, false, "ResourcesReleased", released, now),
				builders.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", now),
			}
			w.Events = []Event{{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"}, {Type: "Normal", Reason: "JobSetSuspended", Message: "jobset is suspended"}, {Type: "Normal", Reason: "ResourcesReleased", Message: released}}
		}
	}
	// busy: suspended, and a Job that goes may still have Pods.
	busy := func(w *summary) {
		suspended("1")(w)
		w.Creates = [][]string{{"js-w-0"}}
		w.Status.Conditions[1], w.Events = deployed(), w.Events[:2]
	}
	leaving := func(in *Input) { has(0, 1)(in); in.Jobs[0].DeletionTimestamp = ptr.To(metav1Time(past)) }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P82: the Jobs of the last attempt are deleted, and none is created": {
			tolerant(afterReset(0, -1), has(0, 0, 1)), func(w *summary) { w.Deletes = []string{"js-w-0", "js-w-1"} },
		},
		"P82: no name that is free is used before all are gone":  {tolerant(afterReset(time.Minute, -1), leaving), nil},
		"P82: that they are gone is read past the cache":         {tolerant(afterReset(time.Minute, -1)), func(w *summary) { w.Reads = true }},
		"P82: also if there is no pause":                         {tolerant(afterReset(time.Minute, -1), pauseOf(0)), func(w *summary) { w.Reads = true }},
		"P82: one that is found there is waited for":             {tolerant(afterReset(time.Minute, -1), leaving, read), nil},
		"P82, P83: the pause counts from when they are gone":     {tolerant(afterReset(time.Minute, -1), read), begins("1m30s", 90*time.Second, "2026-03-14T12:01:30Z")},
		"P83: another manager keeps it":                          {tolerant(afterReset(time.Minute, 30*time.Second)), pauses("1m30s", time.Minute, "2026-03-14T12:01:00Z")},
		"P83: a second is left":                                  {tolerant(afterReset(time.Hour, 89*time.Second)), pauses("1m30s", time.Second, "2026-03-14T12:00:01Z")},
		"P83: it is over":                                        {tolerant(afterReset(time.Hour, 90*time.Second)), over},
		"P83: a pause that is edited counts from where it began": {tolerant(afterReset(time.Hour, 30*time.Second), pauseOf(40)), pauses("40s", 10*time.Second, "2026-03-14T12:00:10Z")},
		"P83: one that is cut short ends":                        {tolerant(afterReset(time.Hour, 30*time.Second), pauseOf(30)), over},
		"P83: a pause of 0 is none":                              {tolerant(afterReset(time.Minute, -1), pauseOf(0), read), over},
		"P83: which does not mean that names are reused early":   {tolerant(afterReset(time.Minute, -1), pauseOf(0), leaving), nil},
		"P83: a clock that was put back makes no pause longer": {tolerant(afterReset(0, -1), func(in *Input) {
			in.JobSet.Status.FaultTolerance.Reset.JobsGoneTime = ptr.To(metav1Time(now.Add(time.Hour)))
		}), func(w *summary) {
			pauses("1m30s", 90*time.Second, "2026-03-14T12:01:30Z")(w)
			w.Status.FaultTolerance.Reset.JobsGoneTime = ptr.To(metav1Time(now))
		}},
		"P83: it is not cut short by what the API cuts off": {
			tolerant(afterReset(time.Minute, -1), pauseOf(1), read, func(in *Input) { in.Now = now.Add(-999 * time.Millisecond) }), func(w *summary) {
				begins("1s", time.Second, "2026-03-14T12:00:01Z")(w)
			},
		},
		"P82: Jobs that exist end the reset, and the rest is created": {
			tolerant(afterReset(time.Hour, time.Second), has(1, 0)), func(w *summary) {
				w.Status.FaultTolerance.Reset = nil
				w.Creates = [][]string{{"js-w-1"}}
			},
		},
		"P84: suspended in the pause: the Jobs are created suspended": {tolerant(afterReset(time.Hour, time.Second), suspend, read), suspended("0")},
		"P84: suspended while Jobs go: those that are free are, too":  {tolerant(afterReset(time.Hour, -1), leaving, suspend), busy},
		"P83: without faultTolerance there is no pause":               {tolerant(afterReset(time.Hour, time.Second), func(in *Input) { in.JobSet.Spec.FaultTolerance = nil }), func(w *summary) { creates(w); nobodyKeeps(w) }},
		"P83: gate off, there is no pause, and nothing old is kept":   {tolerant(afterReset(time.Hour, time.Second), gateOff), func(w *summary) { creates(w); nobodyKeeps(w) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestAClockThatWasPutBack: a wait that began later than now begins again, and is over when its time has passed (P21).
func TestAClockThatWasPutBack(t *testing.T) {
	t.Parallel()
	goneLater := func(in *Input) {
		in.JobSet.Status.FaultTolerance.Reset.JobsGoneTime = ptr.To(metav1Time(now.Add(time.Hour)))
	}
	assemblesLater := func(in *Input) { in.JobSet.Status.AssemblingSince = ptr.To(metav1Time(now.Add(time.Hour))) }
	lifts := func(p Plan) bool { return *p.Status.SyncedEpoch == 2 }
	for name, tc := range map[string]struct {
		in   Input
		wait time.Duration
		over func(Plan) bool
	}{
		"P21, P83: the pause of a reset":                  {tolerant(afterReset(0, -1), goneLater), 90 * time.Second, func(p Plan) bool { return p.Does(CreateJob) }},
		"P21, P71: the pause after quick failures":        {inPlace(1, 1, "2 2", quick(4, time.Minute), brokeAt(-time.Hour)), 4 * time.Second, lifts},
		"P21, P71: that only the condition tells of":      {inPlace(1, 1, "2 2", quick(4, time.Minute), brokeAgo(-time.Hour)), 4 * time.Second, lifts},
		"P21, P24: the time in which workers may report":  {inPlace(1, 1, "2 1", sinceAgo(time.Minute, assemblesLater)), period, func(p Plan) bool { return p.Does(DeletePod) }},
		"P21, P80: the time in which Pods may still heal": {pods(time.Hour, "R F", unhealthySince(-time.Hour)), time.Minute, func(p Plan) bool { return p.Status.Restarts == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := tc.in
			for _, passed := range []time.Duration{0, tc.wait - time.Second} {
				in.Now = now.Add(passed)
				plan := decideOnce(t, in)
				if left := tc.wait - passed; tc.over(plan) || plan.RequeueAfter != left {
					t.Fatalf("after %s: over %v, looks again after %s, want %s", passed, tc.over(plan), plan.RequeueAfter, left)
				}
				in.JobSet.Status = plan.Status
			}
			in.Now = now.Add(tc.wait)
			if plan := decideOnce(t, in); !tc.over(plan) {
				t.Errorf("after %s it is not over, and looks again after %s", tc.wait, plan.RequeueAfter)
			}
		})
	}
}

// TestAResetOfAGroupPauses: of one that restarts in place, too. It waits for the longer of its two pauses, and says so.
func TestAResetOfAGroupPauses(t *testing.T) {
	t.Parallel()
	pausing := func(in *Input) {
		in.JobSet.Spec.FaultTolerance, in.Gates.FaultTolerance, in.Tolerance = &jobset.FaultTolerance{}, true, tolerance.Builtin()
		in.JobSet.Status.FaultTolerance = &jobset.FaultToleranceStatus{MaxRestarts: 3}
		afterReset(100*time.Second, 80*time.Second)(in)
		in.Jobs, in.Pods, in.ServiceExists = nil, nil, true
	}
	begins := func(in *Input) { in.JobSet.Status.FaultTolerance.Reset.JobsGoneTime, in.ChildrenRead = nil, true }
	const (
		soon    = "they are created again at 2026-03-14T12:00:10Z, after a pause of 1m30s (1 of 3 restarts used)"
		later   = "they are created again at 2026-03-14T12:01:30Z, after a pause of 1m30s (1 of 3 restarts used)"
		longer  = "; no worker starts before 2026-03-14T12:02:36Z: 10 epochs in a row failed within a minute"
		longest = "; no worker starts before 2026-03-14T12:03:20Z: 20 epochs in a row failed within a minute"
	)
	waits := func(left time.Duration, text string) func(*summary) {
		return func(w *summary) {
			w.RequeueAfter, w.Status.AssemblingSince = left, ptr.To(metav1Time(now))
			w.Status.Conditions[0].Message = "cause; all Jobs are gone, " + text
		}
	}
	// stands: the clock of the assembly does while workers wait.
	stands := func(want func(*summary)) func(*summary) {
		return func(w *summary) { want(w); w.ClockStands = true }
	}
	for name, tc := range map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P83: without failures in quick succession":  {inPlace(1, 1, "2 2", pausing), waits(10*time.Second, soon)},
		"P71, P83: whose pause is over first":        {inPlace(1, 1, "2 2", pausing, quick(8, time.Hour)), waits(10*time.Second, soon)},
		"P71, P83: whose pause is over at that time": {inPlace(1, 1, "2 2", pausing, quick(20, time.Hour), longestPause(110*time.Second)), stands(waits(10*time.Second, soon))},
		"P71, P83: whose pause is longer":            {inPlace(1, 1, "2 2", pausing, quick(10, time.Hour)), stands(waits(10*time.Second, soon+longer))},
		"P71, P83: up to the longest":                {inPlace(1, 1, "2 2", pausing, quick(20, time.Hour)), stands(waits(10*time.Second, soon+longest))},
		"P71, P83: without pauses":                   {inPlace(1, 1, "2 2", pausing, quick(20, time.Hour), longestPause(0)), waits(10*time.Second, soon)},
		"P71, P83: the event of the reset says so too": {inPlace(1, 1, "2 2", pausing, begins, quick(10, time.Hour)), stands(func(w *summary) {
			waits(90*time.Second, later+longer)(w)
			w.Status.FaultTolerance.Reset.JobsGoneTime = ptr.To(metav1Time(now))
			w.Events = []Event{{Type: "Normal", Reason: "RetryPause", Message: "all Jobs are gone: " + later + longer}}
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}
