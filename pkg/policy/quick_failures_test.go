/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// quick: a number of quick failures in a row, and how long ago the last lift was.
func quick(failures int32, sinceLift time.Duration) func(*Input) {
	return func(in *Input) {
		in.Deadlines.QuickFailurePause = 5 * time.Minute
		in.JobSet.Status.QuickFailures = failures
		in.JobSet.Status.LastSyncTime = ptr.To(metav1.NewTime(now.Add(-sinceLift)))
	}
}

// brokeAgo: the group broke so long ago, as the condition says.
func brokeAgo(ago time.Duration) func(*Input) {
	return func(in *Input) {
		in.JobSet.Status.Conditions = []metav1.Condition{
			builders.Condition(jobset.JobSetRestarting, true, "InPlaceRestart", "first cause", now.Add(-ago)),
		}
	}
}

// brokeAt: the status says so, too, to the microsecond.
func brokeAt(ago time.Duration) func(*Input) {
	return func(in *Input) { in.JobSet.Status.BreakTime = ptr.To(metav1.NewMicroTime(now.Add(-ago))) }
}

func longestPause(longest time.Duration) func(*Input) {
	return func(in *Input) { in.Deadlines.QuickFailurePause = longest }
}

// TestQuickFailuresAreCounted: with the break, in the same write.
func TestQuickFailuresAreCounted(t *testing.T) {
	t.Parallel()
	const noPause = reported + "; all workers of epoch 1 restart in place"
	counts := func(count int32, message string) func(*summary) {
		return func(w *summary) {
			broken(1, reported)(w)
			w.Status.QuickFailures, w.Status.Conditions[0].Message, w.Events[0].Message = count, message, message
		}
	}
	neverLifted := onJobSet(func(js *jobset.JobSet) { js.Status.LastSyncTime = nil })
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P71: the first is no reason to wait":          {inPlace(0, 1, "2 1", quick(0, time.Second)), counts(1, noPause)},
		"P71: the second is, for a second":             {inPlace(0, 1, "2 1", quick(1, 59*time.Second)), counts(2, noPause+", not before 2026-03-14T12:00:01Z: 2 epochs in a row failed within a minute")},
		"P71: each doubles it":                         {inPlace(0, 1, "2 1", quick(8, time.Second)), counts(9, noPause+", not before 2026-03-14T12:02:08Z: 9 epochs in a row failed within a minute")},
		"P71: up to the longest pause":                 {inPlace(0, 1, "2 1", quick(1000, time.Second)), counts(1001, noPause+", not before 2026-03-14T12:05:00Z: 1001 epochs in a row failed within a minute")},
		"P71: the count does not overflow":             {inPlace(0, 1, "2 1", quick(2147483647, time.Second)), counts(2147483647, noPause+", not before 2026-03-14T12:05:00Z: 2147483647 epochs in a row failed within a minute")},
		"P71: an epoch that ran longer ends the row":   {inPlace(0, 1, "2 1", quick(8, time.Minute)), counts(0, noPause)},
		"P71: an epoch of unknown length does, too":    {inPlace(0, 1, "2 1", quick(8, time.Second), neverLifted), counts(0, noPause)},
		"P71: without pauses nothing is counted":       {inPlace(0, 1, "2 1", quick(8, time.Second), longestPause(0)), counts(0, noPause)},
		"P71: a suspended epoch is no failure":         {inPlace(0, 1, "1 1", quick(3, time.Second), suspend), intended(1)},
		"P71: a long one that is suspended ends a row": {inPlace(0, 1, "1 1", quick(3, time.Hour), suspend), func(w *summary) { intended(1)(w); w.Status.QuickFailures = 0 }},
		"P71: a restart of all Jobs counts": {inPlace(0, 1, "1", quick(3, time.Second), onJob(0, failed)), func(w *summary) {
			byDefault("js-w-0")(w)
			w.Status.DeprecatedEpoch, w.Status.QuickFailures = ptr.To[int32](1), 4
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestQuickFailuresDelayTheLift and nothing else.
func TestQuickFailuresDelayTheLift(t *testing.T) {
	t.Parallel()
	const pause = 4 * time.Second // the pause after four
	waits := func(left time.Duration) func(*summary) {
		return func(w *summary) { assembling(w); w.RequeueAfter, w.ClockStands = left, true }
	}
	ends := func(took string, duration time.Duration) func(*summary) {
		return func(w *summary) {
			lifted(2)(w)
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, false, "WorkersSynced", "all 2 workers have reached epoch 2", now)}
			w.Events = []Event{{Type: "Normal", Reason: "InPlaceRestartCompleted", Message: "2 workers restarted in place: epoch 2, " + took + " seconds"}}
			w.Outcomes, w.GroupRestart = []Outcome{GroupLifted}, duration
		}
	}
	stoodStill := func(w *summary) {
		waits(time.Second)(w)
		w.Status.AssemblingSince = ptr.To(metav1.NewTime(now.Add(-time.Hour)))
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P71: who is back waits":                     {inPlace(1, 1, "2 2", quick(4, time.Minute), brokeAgo(time.Second)), waits(pause - time.Second)},
		"P71: the pause is over":                     {inPlace(1, 1, "2 2", quick(4, time.Minute), brokeAgo(pause)), ends("4.0", pause)},
		"P71a: the time in the status is finer":      {inPlace(1, 1, "2 2", quick(4, time.Minute), brokeAgo(pause), brokeAt(pause-time.Millisecond)), waits(time.Millisecond)},
		"P71a: and does not depend on the condition": {inPlace(1, 1, "2 2", quick(4, time.Minute), brokeAt(time.Second)), waits(pause - time.Second)},
		"P71: one that was set back makes no pause longer": {inPlace(1, 1, "2 2", quick(4, time.Minute), brokeAgo(-time.Hour)), func(w *summary) {
			waits(pause)(w)
			w.Status.BreakTime = ptr.To(metav1.NewMicroTime(now))
		}},
		"P71: one failure is no reason to wait":            {inPlace(1, 1, "2 2", quick(1, time.Minute), brokeAgo(0)), ends("0.0", 0)},
		"P71: 0 is off":                                    {inPlace(1, 1, "2 2", quick(4, time.Minute), brokeAgo(time.Second), longestPause(0)), ends("1.0", time.Second)},
		"P71: a restart that is over is no reason to wait": {inPlace(1, 1, "2 2", quick(4, time.Minute)), lifted(2)},
		"P71: a group that runs is not paused":             {inPlace(0, 1, "1 1", quick(4, time.Second), brokeAgo(time.Second)), func(*summary) {}},
		"P71, P48: nobody is late in a pause": {
			inPlace(1, 1, "2 _", quick(9, time.Minute), brokeAgo(127*time.Second), sinceAgo(time.Hour)), stoodStill,
		},
		"P71, P24: after it the clock goes on where it stood": {
			inPlace(1, 1, "2 _", quick(9, time.Minute), brokeAgo(129*time.Second), sinceAgo(2*time.Minute, func(in *Input) { in.Clock.Stood = 2 * time.Minute })),
			func(w *summary) {
				assembling(w)
				w.RequeueAfter, w.ClockMoved = period, 2*time.Minute
				w.Status.AssemblingSince = ptr.To(metav1.NewTime(now))
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestTheBreakIsTheBeginningOfTheRestart: also if a restart of all Jobs was not over yet, the pause
// counts from the break, whoever looks.
func TestTheBreakIsTheBeginningOfTheRestart(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 1, "2 1", quick(3, time.Second))
	in.JobSet.Status.Conditions = []metav1.Condition{
		builders.Condition(jobset.JobSetSuspended, false, "ResumeJobs", "jobset is resumed", past),
		builders.Condition(jobset.JobSetRestarting, true, "DefaultFailurePolicy", "all Jobs", past),
		builders.Condition(jobset.JobSetAgentAccessDenied, false, "AgentAccessAllowed", "", past),
	}
	plan := decideOnce(t, in)
	restarting := plan.Status.Conditions[1]
	if restarting.Type != string(jobset.JobSetRestarting) || !restarting.LastTransitionTime.Time.Equal(now) {
		t.Errorf("P71: the restart begins at %s, want %s", restarting.LastTransitionTime, now)
	}
	next := inPlace(1, 1, "2 2", quick(0, time.Second))
	next.JobSet.Status = plan.Status
	next.Now = now.Add(3 * time.Second)
	if plan := decideOnce(t, next); *plan.Status.SyncedEpoch != 1 || plan.RequeueAfter != time.Second {
		t.Errorf("P71: epoch %d, looks again after %s, want 1 after 1s", *plan.Status.SyncedEpoch, plan.RequeueAfter)
	}
}

// TestThePauseOutlastsARestartOfAllJobs: containers in process mode are ready while their workers are held, and the
// condition of the restart ends with the lift (P71a).
func TestThePauseOutlastsARestartOfAllJobs(t *testing.T) {
	t.Parallel()
	allReady := func(job *batchv1.Job) { job.Status.Ready = ptr.To[int32](2) }
	restarting := func(in *Input) {
		in.JobSet.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "DefaultFailurePolicy", "all Jobs", now.Add(-time.Second))}
	}
	in := inPlace(1, 1, "2 2", quick(4, time.Minute), supervised, brokeAt(time.Second), restarting, onJob(0, allReady))
	check(t, in, func(w *summary) { assembling(w); w.RequeueAfter, w.ClockStands = 3*time.Second, true })

	in.Now = now.Add(3 * time.Second)
	plan := decideOnce(t, in)
	if *plan.Status.SyncedEpoch != 2 || plan.Status.BreakTime != nil {
		t.Fatalf("P71a: epoch %d, break %v, want 2 and none", *plan.Status.SyncedEpoch, plan.Status.BreakTime)
	}
	in.JobSet.Status = plan.Status
	if plan = decideOnce(t, in); plan.Status.Conditions[0].Status != metav1.ConditionFalse {
		t.Errorf("P71a: the restart goes on after the lift: %+v", plan.Status.Conditions[0])
	}
}

// TestWhoResumesDoesNotWait: suspending ends the pause, also of a restart of all Jobs (P71).
func TestWhoResumesDoesNotWait(t *testing.T) {
	t.Parallel()
	in := inPlace(1, 1, "2 2", quick(9, time.Minute), brokeAt(time.Second), suspend)
	if plan := decideOnce(t, in); plan.Status.BreakTime != nil {
		t.Errorf("P71a: the break is kept: %v", plan.Status.BreakTime)
	}
}
