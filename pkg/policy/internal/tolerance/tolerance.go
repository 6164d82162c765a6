/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

import (
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// A JobSet with spec.faultTolerance is reset where others are restarted (P82, P83):
//
//	decided          all Jobs gone           pause over
//	   |  Jobs are deleted  |  retryPauseSeconds  |  Jobs are created
//	   startTime            jobsGoneTime          reset is absent again
//
// Both times are in the status, so another manager goes on where this one stopped, and a pause that
// is edited counts from where it began. That all Jobs are gone is read past the cache: that of a new
// leader may be from before they were created.

// RetryPause keeps Jobs from being created until those of earlier attempts are gone and the pause is
// over. Suspending ends the reset: Jobs that are created suspended wait for nothing (P84).
func RetryPause(v *view.View, _ pass.Result) pass.Result {
	reset := v.ResetUnderWay()
	switch {
	case reset == nil:
		return pass.Result{}
	case v.SuspendWanted() || attemptExists(v):
		return pass.Result{Reset: &pass.ResetStage{}}
	case len(v.Observed.Previous) > 0:
		return pass.Result{HoldsJobs: true}
	case reset.JobsGoneTime == nil && !v.ChildrenRead:
		return pass.Result{HoldsJobs: true, Ask: pass.Questions{ReadChildren: true}}
	}
	gone := ptr.To(metav1.NewTime(wholeSecond(v.Now)))
	if reset.JobsGoneTime.Before(gone) { // else the clock was put back, and the pause would last until it has caught up
		gone = reset.JobsGoneTime
	}
	pause := v.Settings.RetryPause
	until := gone.Add(pause)
	left := min(pause, v.Until(until)) // the second is rounded up, and 0 is no pause
	if left <= 0 {
		return pass.Result{Reset: &pass.ResetStage{}}
	}
	r := pass.RequeueAfter(left).And(tellPause(v, reset.JobsGoneTime == nil, until))
	r.HoldsJobs = true
	r.Reset = &pass.ResetStage{ResetStatus: &jobset.ResetStatus{StartTime: reset.StartTime, JobsGoneTime: gone}}
	return r
}

// attemptExists reports whether any Job of the current attempt exists.
func attemptExists(v *view.View) bool {
	return len(v.Observed.Active)+len(v.Observed.Successful)+len(v.Observed.Failed) > 0
}

// wholeSecond rounds up to what the API keeps, so that a time from there on is never cut short.
func wholeSecond(t time.Time) time.Time {
	return t.Add(time.Second - 1).Truncate(time.Second)
}

// tellPause says until when, behind what the condition says about the cause, and if workers wait longer (P71).
func tellPause(v *view.View, begins bool, until time.Time) pass.Result {
	text := fmt.Sprintf("they are created again at %s, after a pause of %s (%d of %d restarts used)",
		until.UTC().Format(time.RFC3339), v.Settings.RetryPause, jobs.UsedRestarts(&v.JobSet.Status), jobs.MaxRestarts(v)) + group.NotBeforeLift(v, until)
	var r pass.Result
	if c := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(jobset.JobSetRestarting)); c != nil {
		r = r.And(pass.Tell(pass.Silently(jobset.JobSetRestarting, metav1.ConditionTrue, c.Reason, v.LastCause("; ")+"all Jobs are gone, "+text)))
	}
	if begins {
		r = r.And(pass.Tell(pass.Normal(constants.RetryPauseReason, "all Jobs are gone: "+text)))
	}
	return r
}

// Remember changes what the next status remembers of faultTolerance.
func Remember(v *view.View, r *pass.Result, status *jobset.JobSetStatus) {
	if !v.Tolerant {
		forgetTolerance(v, status)
		return
	}
	if status.FaultTolerance == nil {
		status.FaultTolerance = &jobset.FaultToleranceStatus{}
	}
	next := status.FaultTolerance
	next.MaxRestarts = int32(jobs.MaxRestarts(v))
	if r.Reset != nil {
		next.Reset = r.Reset.ResetStatus
	}
	if slices.ContainsFunc(r.Reports.Outcomes, func(o pass.Outcome) bool { return o == pass.MovedInPlace || o == pass.MovedByReset }) {
		next.LastMoveTime = ptr.To(metav1.NewTime(v.Now))
	}
	switch {
	case jobs.AsksToAvoid(v) == nil:
		next.NodeFailures = nil
	case r.NodeFailures != nil:
		next.NodeFailures = r.NodeFailures.List
	}
	if r.Kept != nil {
		next.PodsKeptUntil = r.Kept.Time
	}
	if r.Changes.Any(pass.CompletesJobSet|pass.FailsJobSet|pass.RestartAllJobs) && v.IsTrue(jobset.JobSetUnhealthy) {
		n := pass.Silently(jobset.JobSetUnhealthy, metav1.ConditionFalse, constants.HealthNotWatchedReason, constants.HealthNotWatchedMessage)
		n.Apply(&status.Conditions, v.Now)
	}
	switch {
	case v.Finished:
	case r.Changes.Any(pass.CompletesJobSet | pass.FailsJobSet):
		next.Reset = nil
	case r.Changes.Any(pass.RestartAllJobs):
		next.Reset = &jobset.ResetStatus{StartTime: metav1.NewTime(v.Now)}
	case r.RestartJob == nil:
		jobs.RememberComplete(v, next)
	}
}

// forgetTolerance: a JobSet without faultTolerance remembers nothing, so that nothing old is found if it
// comes back, and its conditions are not kept.
func forgetTolerance(v *view.View, status *jobset.JobSetStatus) {
	if status.FaultTolerance == nil {
		return
	}
	status.FaultTolerance = nil
	for _, kind := range []jobset.JobSetConditionType{jobset.JobSetUnhealthy, jobset.JobSetResourcesDeployed, jobset.JobSetOnSickNodes} {
		if apimeta.FindStatusCondition(status.Conditions, string(kind)) != nil {
			n := pass.Silently(kind, metav1.ConditionUnknown, constants.FaultToleranceOffReason, constants.FaultToleranceOffMessage)
			n.Apply(&status.Conditions, v.Now)
		}
	}
}
