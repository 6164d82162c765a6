/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// Pods are counted Job by Job, each by the clock of its own start (P80):
//
//	startTime of the Job    as many Pods are wanted as run at the same time and are not done
//	  any time              none is Failed without another in its place
//	  + admission           they exist
//	  + admission + warmup  they run
//
// The start of a Job is in its status, and that of a trouble in the condition Unhealthy, so
// another manager measures from the same moments. Resuming a Job starts it again.

// health is what the Pods of the current attempt add up to.
type health struct {
	wanted, exist, run int64
	// unreplaced, missing and idle are the Pods that lack now: Failed ones without another in their place, and
	// of Jobs whose time is up those that do not exist, or do not run.
	unreplaced, missing, idle int64
	// next is how long until the time of another Job that lacks Pods is up, 0 if there is none.
	next time.Duration
}

// add counts the Pods of a Job.
func (h *health) add(v *view.View, job *batchv1.Job) {
	var failed, exist, run int64
	gone := failedForGood(job)
	for _, pod := range v.Pods[job.UID] {
		switch {
		case pod.Phase == corev1.PodFailed:
			if !gone.Has(int64(pod.Index)) {
				failed++
			}
		case pod.Phase == corev1.PodSucceeded || pod.Terminating():
		case pod.Phase == corev1.PodRunning:
			run++
			exist++
		default:
			exist++
		}
	}
	wanted := podsWanted(job, v.Pods[job.UID], gone)
	h.wanted, h.exist, h.run = h.wanted+wanted, h.exist+min(exist, wanted), h.run+min(run, wanted)
	h.unreplaced += max(0, min(failed, wanted-exist))
	mayExist := v.Left(v.Settings.Admission, job.Status.StartTime.Time)
	mayRun := v.Left(v.Settings.Admission+v.Settings.Warmup, job.Status.StartTime.Time)
	switch {
	case wanted <= run:
	case wanted > exist && mayExist <= 0:
		h.missing += wanted - exist
	case mayRun <= 0:
		h.idle += wanted - run
	case wanted > exist:
		h.next = pass.Sooner(h.next, mayExist)
	default:
		h.next = pass.Sooner(h.next, mayRun)
	}
}

// failedForGood are the indexes whose backoffLimitPerIndex is used up: they get no other Pod, and are no reason to stop
// the others (P80a).
func failedForGood(job *batchv1.Job) view.IndexSet {
	text := ptr.Deref(job.Status.FailedIndexes, "")
	if text == "" {
		return nil
	}
	return view.ParseIndexes(text, int64(ptr.Deref(job.Spec.Completions, 0)))
}

// podsWanted returns how many Pods of a Job have to run now; gone are indexes that need none.
func podsWanted(job *batchv1.Job, pods []*facts.Member, gone view.IndexSet) int64 {
	done := int64(job.Status.Succeeded)
	uncounted := job.Status.UncountedTerminatedPods
	if uncounted != nil {
		done += int64(len(uncounted.Succeeded))
	}
	for _, pod := range pods { // those that the Job controller has not seen yet
		if pod.Phase == corev1.PodSucceeded && pod.Tracked && (uncounted == nil || !slices.Contains(uncounted.Succeeded, pod.UID)) {
			done++
		}
	}
	atATime := max(0, int64(ptr.Deref(job.Spec.Parallelism, 1)))
	switch {
	case job.Spec.Completions != nil:
		return max(0, min(atATime, int64(*job.Spec.Completions)-done-gone.Size()))
	case done > 0: // the others end by themselves
		return 0
	}
	return atATime
}

// healthNow looks at the Jobs that are to run. A Job that is about to end, or is being deleted, is up to others.
func healthNow(v *view.View) health {
	var h health
	for _, job := range v.Observed.Active {
		over := view.HasCondition(job, batchv1.JobFailureTarget) || view.HasCondition(job, batchv1.JobSuccessCriteriaMet)
		// Until the Job controller has resumed a Job, its startTime is that of its first start (P80a).
		resumes := view.HasCondition(job, batchv1.JobSuspended)
		if !over && !resumes && !view.Suspended(job) && !pass.IsTerminating(job) && job.Status.StartTime != nil {
			h.add(v, job)
		}
	}
	return h
}

// trouble says what is wrong, "" if nothing is.
func (h *health) trouble(v *view.View) (reason, message string) {
	switch s := &v.Settings; {
	case h.unreplaced > 0:
		return constants.PodsFailedReason, fmt.Sprintf("%d of %d Pods are Failed and not replaced", h.unreplaced, h.wanted)
	case h.missing > 0:
		return constants.PodsMissingReason, fmt.Sprintf("%d of %d Pods exist %s after the start of their Jobs", h.exist, h.wanted, s.Admission)
	case h.idle > 0:
		return constants.PodsNotRunningReason, fmt.Sprintf("%d of %d Pods are Running %s after the start of their Jobs", h.run, h.wanted, s.Admission+s.Warmup)
	}
	return "", ""
}

// UnhealthyPods resets a JobSet whose Pods are not as they should be for too long (P80). A group that
// restarts in place is looked after by its own steps, and a suspended JobSet by none.
func UnhealthyPods(v *view.View, _ pass.Result) pass.Result {
	if !v.Tolerant {
		return pass.Result{}
	}
	if v.SuspendWanted() {
		return pass.Tell(pass.BecomesFalse(jobset.JobSetUnhealthy, constants.HealthNotWatchedReason, constants.HealthNotWatchedMessage))
	}
	if v.Watched {
		return unscheduledPods(v)
	}
	h := healthNow(v)
	reason, message := h.trouble(v)
	if reason == "" {
		return pass.RequeueAfter(h.next).And(pass.Tell(pass.BecomesFalse(jobset.JobSetUnhealthy, constants.PodsHealthyReason, fmt.Sprintf("%d of %d Pods are Running", h.run, h.wanted))))
	}
	left := graceLeft(v)
	if left <= 0 {
		return resetBecause(v, reason, message)
	}
	return pass.RequeueAfter(left).And(pass.RequeueAfter(h.next)).And(tellTrouble(v, reason, message))
}

// tellTrouble writes the condition, and again only for another kind of trouble, or for another spec, which may wait for another
// time. The numbers are those of that moment: each Pod that comes or goes changes them, and would cost a write of the status.
func tellTrouble(v *view.View, reason, message string) pass.Result {
	message += fmt.Sprintf("; waiting %s for them", v.Settings.Failure)
	reported := v.TrueCondition(jobset.JobSetUnhealthy)
	if reported == nil {
		n := pass.BecomesTrue(jobset.JobSetUnhealthy, reason, message)
		n.Condition.ObservedGeneration = v.JobSet.Generation
		return pass.Tell(n).And(pass.Result{Reports: pass.Reports{Outcomes: []pass.Outcome{pass.BecameUnhealthy}}})
	}
	ahead := reported.LastTransitionTime.After(v.Now) // the clock was put back, so the time begins again
	if !ahead && reported.Reason == reason && reported.ObservedGeneration == v.JobSet.Generation {
		return pass.Result{}
	}
	n := pass.Silently(jobset.JobSetUnhealthy, metav1.ConditionTrue, reason, message)
	n.Again, n.Condition.ObservedGeneration = ahead, v.JobSet.Generation
	return pass.Tell(n)
}

// graceLeft returns how long a JobSet may still be unhealthy before it is reset.
func graceLeft(v *view.View) time.Duration {
	since := v.Now
	if reported := v.TrueCondition(jobset.JobSetUnhealthy); reported != nil {
		since = reported.LastTransitionTime.Time
	}
	return min(v.Settings.Failure, v.Left(v.Settings.Failure, since))
}

// resetIsDue reports whether Pods have lacked for so long that the JobSet is reset, which is charged.
func resetIsDue(v *view.View) bool {
	h := healthNow(v)
	reason, _ := h.trouble(v)
	return reason != "" && graceLeft(v) <= 0
}

// resetBecause resets the JobSet, charged, or fails it if no restart is left.
func resetBecause(v *view.View, reason, message string) pass.Result {
	message += fmt.Sprintf(" for more than %s", v.Settings.Failure)
	r := jobs.Charge(v, jobs.RestartAll(reason, jobset.RestartJobSet,
		fmt.Sprintf("applying %s failure policy action (%s)", jobset.RestartJobSet, message), pass.OtherCause(message)), jobs.LastFailure(message))
	r.Ends = true
	return r
}
