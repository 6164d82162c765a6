/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/tolerance"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func at(t time.Time) *metav1.Time { return ptr.To(metav1.NewTime(t)) }

// limited makes a JobSet one with a deadline of so many seconds, that is active since a time, if any.
func limited(seconds int64, since *metav1.Time, changes ...func(*Input)) func(*Input) {
	return func(in *Input) {
		in.Gates.JobSetActiveDeadlineSeconds = true
		in.JobSet.Spec.ActiveDeadlineSeconds, in.JobSet.Status.StartTime = &seconds, since
		for _, change := range changes {
			change(in)
		}
	}
}

func deadlineExceeded(w *summary) {
	const message = "jobset was active for longer than activeDeadlineSeconds: 60"
	w.Status.Conditions = append(w.Status.Conditions, builders.Condition(jobset.JobSetFailed, true, "DeadlineExceeded", message, now))
	w.Status.TerminalState = "Failed"
	w.Events = []Event{{Type: "Warning", Reason: "DeadlineExceeded", Message: message}}
	w.Outcomes = []Outcome{Failed}
}

func jobFailed(w *builders.JobWrapper) { w.Failed(past, "BackoffLimitExceeded", "m") }

func TestActiveDeadline(t *testing.T) {
	t.Parallel()
	soon, long := at(now.Add(-20*time.Second)), at(now.Add(-time.Minute))
	waits := func(left time.Duration) func(*summary) { return func(w *summary) { w.RequeueAfter = left } }
	jumped := func(in *Input) { in.Clock.SteadySince = now.Add(-10 * time.Second) }
	off := func(in *Input) { in.Gates.JobSetActiveDeadlineSeconds = false }
	anyJob := func(in *Input) { in.JobSet.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAny} }
	retries := func(in *Input) {
		in.JobSet.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 3, RestartStrategy: jobset.Recreate}
	}
	for name, tc := range map[string]struct {
		jobs   jobChanges
		change func(*Input)
		want   func(*summary)
	}{
		"C394: a deadline in the future is waited for":             {change: limited(60, soon), want: waits(40 * time.Second)},
		"C392: one that has passed fails the JobSet":               {change: limited(60, long), want: deadlineExceeded},
		"C393: the success policy comes before it":                 {jobs: jobChanges{"js-a-1": done}, change: limited(60, long, anyJob), want: completes},
		"C393: the success policy comes before it, with a failure": {jobs: jobChanges{"js-a-0": jobFailed, "js-a-1": done}, change: limited(60, long, anyJob), want: completes},
		"C393: the failure policy comes after it":                  {jobs: jobChanges{"js-a-0": jobFailed}, change: limited(60, long, retries), want: deadlineExceeded},
		"C394: what the clock jumped over did not pass (P21a)":     {change: limited(60, long, jumped), want: waits(50 * time.Second)},
		"C394 C391: a start after now begins again (P21)": {change: limited(60, at(now.Add(time.Hour))), want: func(w *summary) {
			w.Status.StartTime, w.RequeueAfter = at(now), time.Minute
		}},
		"C394: the longest deadline is one":                   {change: limited(math.MaxInt64, soon), want: waits((1<<32 - 20) * time.Second)},
		"C391: with the gate off there is none, and no start": {change: limited(60, long, off), want: func(w *summary) { w.Status.StartTime = nil }},
		"C391: without a deadline the start is kept, too": {change: func(in *Input) { in.Gates.JobSetActiveDeadlineSeconds = true }, want: func(w *summary) {
			w.Status.StartTime = at(now)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := doing(twoKinds(), tc.jobs)
			tc.change(&in)
			check(t, in, tc.want)
		})
	}
}

func TestDeadlineOfASuspendedJobSet(t *testing.T) {
	t.Parallel()
	long := at(now.Add(-time.Minute))
	suspended := jobChanges{"js-a-0": off, "js-a-1": off, "js-b-0": off}
	for name, tc := range map[string]struct {
		jobs jobChanges
		in   *builders.JobSetWrapper
		with func(*Input)
		want func(*summary)
	}{
		"C394 C391: a suspended JobSet has no start, and no deadline": {suspended, twoKinds().Suspend(true).Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", past),
			limited(60, long), func(w *summary) { w.Status.StartTime = nil }},
		"C398: that it is suspended is written before its Jobs are": {nil, twoKinds().Suspend(true), limited(60, long), func(w *summary) {
			w.Status.StartTime = nil
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, false, "SuspendingJobs", "jobset is being suspended", now)}
		}},
		"C398: its Jobs are suspended then": {nil, twoKinds().Suspend(true).Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", past), limited(60, nil), func(w *summary) {
			w.Suspends = []string{"js-a-0", "js-a-1", "js-b-0"}
		}},
		"C398: the start is written before the first Job is resumed": {suspended, twoKinds(), limited(60, nil), func(w *summary) {
			w.Status.StartTime, w.RequeueAfter = at(now), time.Minute
		}},
		"C398: the Jobs are resumed then": {suspended, twoKinds(), limited(60, long, func(in *Input) { in.Now = long.Add(0) }), func(w *summary) {
			w.Resumes, w.RequeueAfter = []string{"js-a-0", "js-a-1", "js-b-0"}, time.Minute
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := doing(tc.in, tc.jobs)
			tc.with(&in)
			check(t, in, tc.want)
		})
	}
}

// TestDeadlineWaitsForASuccess (C393): the last worker has ended with 0, and its Job does not know yet.
func TestDeadlineWaitsForASuccess(t *testing.T) {
	t.Parallel()
	long := at(now.Add(-time.Minute))
	t.Run("C393 P45: a success that is not counted yet comes before the deadline", func(t *testing.T) {
		t.Parallel()
		check(t, inPlace(0, 1, "ok1|1", driven, limited(60, long)), nil)
	})
	t.Run("C393: without one the group fails", func(t *testing.T) {
		t.Parallel()
		check(t, inPlace(0, 1, "1|1", driven, limited(60, long)), deadlineExceeded)
	})
}

func TestAPauseIsActive(t *testing.T) {
	t.Parallel()
	in := doing(twoKinds().Restarts(1, 1), nil)
	in.Jobs, in.Gates.FaultTolerance, in.Tolerance = nil, true, tolerance.Builtin()
	in.JobSet.Spec.FaultTolerance = &jobset.FaultTolerance{}
	in.JobSet.Status.FaultTolerance = &jobset.FaultToleranceStatus{Reset: &jobset.ResetStatus{StartTime: *at(past), JobsGoneTime: at(now)}}
	limited(60, at(now.Add(-59*time.Second)))(&in)
	if plan := decideOnce(t, in); plan.RequeueAfter != time.Second || plan.Does(CreateJob) {
		t.Errorf("C394: looks again after %s, want a second; %v", plan.RequeueAfter, plan.Ops)
	}
	in.Now = now.Add(time.Second)
	if plan := decideOnce(t, in); plan.Status.TerminalState != "Failed" {
		t.Error("C394: the JobSet pauses, and does not fail")
	}
}

// TestStartTime looks at status.startTime alone, after each kind of restart.
func TestStartTime(t *testing.T) {
	t.Parallel()
	recently := at(now.Add(-time.Second))
	tracked := func(in *Input) {
		in.Gates.JobSetActiveDeadlineSeconds, in.JobSet.Status.StartTime = true, recently
	}
	rules := func(action jobset.FailurePolicyAction) *builders.JobSetWrapper {
		return twoKinds().FailurePolicy(jobset.Recreate, 3, jobset.FailurePolicyRule{Name: "r", Action: action})
	}
	onFailure := func(w *builders.JobSetWrapper) Input {
		in := doing(w, jobChanges{"js-a-0": jobFailed})
		in.Gates.RestartJob = true
		for i := range in.Jobs {
			in.Jobs[i].Labels["jobset.sigs.k8s.io/job-restart-attempt"] = "0"
		}
		return in
	}
	grows := func(in *Input) {
		in.Gates.ElasticJobSet = true
		in.JobSet.Spec.ReplicatedJobs[0].Template.Spec.Completions, in.JobSet.Spec.ReplicatedJobs[0].Template.Spec.Parallelism = ptr.To[int32](3), ptr.To[int32](3)
		in.JobSet.Spec.ReplicatedJobs[0].Template.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	}
	disabled := func(in *Input) {
		in.JobSet.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetFailed, true, "r", "m", past)}
	}
	for name, tc := range map[string]struct {
		in   Input
		want *metav1.Time
	}{
		"C391: a restart of all Jobs sets it":                    {onFailure(rules(jobset.RestartJobSet)), at(now)},
		"C391: one that does not count sets it":                  {onFailure(rules(jobset.RestartJobSetAndIgnoreMaxRestarts)), at(now)},
		"C391: a restart of a single Job leaves it":              {onFailure(rules(jobset.RestartJob)), recently},
		"C391: a failure that ends the JobSet leaves it":         {onFailure(rules(jobset.FailJobSet)), recently},
		"C391: a group restart in place that is charged sets it": {inPlace(0, 1, "1 2"), at(now)},
		"C391: one that is planned leaves it":                    {inPlace(0, 1, "1 1", grows), recently},
		"C391: a lift leaves it":                                 {inPlace(0, 0, "1 1"), recently},
		"C391: one that has ended keeps it":                      {inPlace(0, 1, "1 1", disabled), recently},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracked(&tc.in)
			if got := decideOnce(t, tc.in).Status.StartTime; !got.Equal(tc.want) {
				t.Errorf("startTime %v, want %v", got, tc.want)
			}
			gateOff(&tc.in)
			if got := decideOnce(t, tc.in).Status.StartTime; got != nil && !jobSetEnded(&tc.in) {
				t.Errorf("startTime %v with the gate off", got)
			}
		})
	}
}

func jobSetEnded(in *Input) bool {
	_, ended := pass.FinishedBy(in.JobSet)
	return ended
}
