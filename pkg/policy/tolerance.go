/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
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

// retryPause keeps Jobs from being created until those of earlier attempts are gone and the pause is
// over. Suspending ends the reset: Jobs that are created suspended wait for nothing (P84).
func retryPause(v *view, _ result) result {
	reset := v.resetUnderWay()
	switch {
	case reset == nil:
		return result{}
	case v.suspendWanted() || v.attemptExists():
		return result{reset: &resetStage{}}
	case len(v.observed.Previous) > 0:
		return result{holdsJobs: true}
	case reset.JobsGoneTime == nil && !v.ChildrenRead:
		return result{holdsJobs: true, ask: Questions{ReadChildren: true}}
	}
	gone := ptr.To(metav1.NewTime(wholeSecond(v.Now)))
	if reset.JobsGoneTime.Before(gone) { // else the clock was put back, and the pause would last until it has caught up
		gone = reset.JobsGoneTime
	}
	pause := v.tolerance.RetryPause
	until := gone.Add(pause)
	left := min(pause, v.until(until)) // the second is rounded up, and 0 is no pause
	if left <= 0 {
		return result{reset: &resetStage{}}
	}
	r := requeueAfter(left).and(v.tellPause(reset.JobsGoneTime == nil, until))
	r.holdsJobs = true
	r.reset = &resetStage{&jobset.ResetStatus{StartTime: reset.StartTime, JobsGoneTime: gone}}
	return r
}

// attemptExists reports whether any Job of the current attempt exists.
func (v *view) attemptExists() bool {
	return len(v.observed.Active)+len(v.observed.Successful)+len(v.observed.Failed) > 0
}

// wholeSecond rounds up to what the API keeps, so that a time from there on is never cut short.
func wholeSecond(t time.Time) time.Time {
	return t.Add(time.Second - 1).Truncate(time.Second)
}

// tellPause says until when, behind what the condition says about the cause, and if workers wait longer (P71).
func (v *view) tellPause(begins bool, until time.Time) result {
	text := fmt.Sprintf("they are created again at %s, after a pause of %s (%d of %d restarts used)",
		until.UTC().Format(time.RFC3339), v.tolerance.RetryPause, UsedRestarts(&v.JobSet.Status), v.maxRestarts()) + v.notBeforeLift(until)
	var r result
	if c := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(jobset.JobSetRestarting)); c != nil {
		r = r.and(tell(silently(jobset.JobSetRestarting, metav1.ConditionTrue, c.Reason, v.lastCause("; ")+"all Jobs are gone, "+text)))
	}
	if begins {
		r = r.and(tell(normal(constants.RetryPauseReason, "all Jobs are gone: "+text)))
	}
	return r
}

// applyTolerance changes what the next status remembers of faultTolerance.
func (r *result) applyTolerance(v *view, status *jobset.JobSetStatus) {
	if !v.tolerant {
		v.forgetTolerance(status)
		return
	}
	if status.FaultTolerance == nil {
		status.FaultTolerance = &jobset.FaultToleranceStatus{}
	}
	next := status.FaultTolerance
	next.MaxRestarts = int32(v.maxRestarts())
	if r.reset != nil {
		next.Reset = r.reset.ResetStatus
	}
	if slices.ContainsFunc(r.reports.Outcomes, func(o Outcome) bool { return o == MovedInPlace || o == MovedByReset }) {
		next.LastMoveTime = ptr.To(metav1.NewTime(v.Now))
	}
	switch {
	case v.asksToAvoid() == nil:
		next.NodeFailures = nil
	case r.nodeFailures != nil:
		next.NodeFailures = r.nodeFailures.list
	}
	if r.kept != nil {
		next.PodsKeptUntil = r.kept.Time
	}
	if r.changes.any(completesJobSet|failsJobSet|restartAllJobs) && v.isTrue(jobset.JobSetUnhealthy) {
		n := silently(jobset.JobSetUnhealthy, metav1.ConditionFalse, constants.HealthNotWatchedReason, constants.HealthNotWatchedMessage)
		n.apply(&status.Conditions, v.Now)
	}
	switch {
	case v.finished:
	case r.changes.any(completesJobSet | failsJobSet):
		next.Reset = nil
	case r.changes.any(restartAllJobs):
		next.Reset = &jobset.ResetStatus{StartTime: metav1.NewTime(v.Now)}
	case r.restartJob == nil:
		r.rememberComplete(v, next)
	}
}

// forgetTolerance: a JobSet without faultTolerance remembers nothing, so that nothing old is found if it
// comes back, and its conditions are not kept.
func (v *view) forgetTolerance(status *jobset.JobSetStatus) {
	if status.FaultTolerance == nil {
		return
	}
	status.FaultTolerance = nil
	for _, kind := range []jobset.JobSetConditionType{jobset.JobSetUnhealthy, jobset.JobSetResourcesDeployed, jobset.JobSetOnSickNodes} {
		if apimeta.FindStatusCondition(status.Conditions, string(kind)) != nil {
			n := silently(kind, metav1.ConditionUnknown, constants.FaultToleranceOffReason, constants.FaultToleranceOffMessage)
			n.apply(&status.Conditions, v.Now)
		}
	}
}
