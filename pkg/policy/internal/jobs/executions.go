/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// Which execution this is, and since when it is active, is in the status before a Job of it runs (C398):
//
//	suspend   SuspendingJobs, no startTime     then Jobs are suspended, and Suspended=True
//	resume    Suspended=False, attempt +1      then Jobs are resumed, and carry it
//	restart   restarts +1, attempt +1          then Jobs are recreated, and carry it
//
// So an execution is counted by the write that ends the suspension, or that restarts, and by no other, whatever is retried: a Job
// that is still to be resumed then is an unfinished intent.

// WaitsForExecution reports whether Jobs are to run and the status does not say yet in which execution, or since when.
func WaitsForExecution(v *view.View, sum *pass.Result) bool {
	runs := sum.Writes.Does(pass.CreateJob|pass.ResumeJob) && !v.SuspendWanted()
	status := &v.JobSet.Status
	uncounted := v.Gates.ExecutionAttemptsTracking && ptr.Deref(executionAttempts(v, 0, status.Restarts), 0) != ptr.Deref(status.ExecutionAttempts, 0)
	return runsAgain(v, sum) || runs && (uncounted || v.IsLimited() && status.StartTime == nil)
}

// runsAgain reports whether the JobSet is resumed and the status has yet to count that.
func runsAgain(v *view.View, sum *pass.Result) bool {
	return v.Gates.ExecutionAttemptsTracking && !sum.Ends && !v.SuspendWanted() && (suspending(v) || v.IsTrue(jobset.JobSetSuspended))
}

// StatusFirst leaves Jobs that are to run to the next pass, and lets the status say that they will.
func StatusFirst(v *view.View, sum pass.Result) pass.Result {
	again := runsAgain(v, &sum)
	if sum = withoutJobs(sum); !again {
		return sum
	}
	sum.Changes |= pass.ResumesJobSet
	return sum.And(endSuspension(v))
}

// withoutJobs leaves the Jobs that are to run to the next pass, and with them what is reported about them.
func withoutJobs(r pass.Result) pass.Result {
	r.Deploys, r.Notices = r.Writes.Does(pass.CreateJob|pass.ResumeJob), nil
	r.Writes.Uncreated += int64(len(r.Writes.Of(pass.CreateJob)))
	r.Writes.Unresumed += int64(len(r.Writes.Of(pass.ResumeJob)))
	r.Writes.Drop(pass.CreateJob | pass.ResumeJob)
	return r
}

// WaitsForSuspended reports whether Jobs are to stop and the status does not say so yet, nor that they ran. If it did not, and the JobSet
// were resumed before all Jobs have stopped, nobody would know that some have.
func WaitsForSuspended(v *view.View, sum *pass.Result) bool {
	counts := v.Gates.ExecutionAttemptsTracking
	if !counts && !v.IsLimited() || !sum.Writes.Does(pass.SuspendJob) {
		return false
	}
	announced := suspending(v) || v.IsTrue(jobset.JobSetSuspended)
	return !announced || counts && v.JobSet.Status.ExecutionAttempts == nil
}

// OnlySuspending leaves Jobs that are to stop to the next pass, and with them what may be refused: nothing is to delay that.
func OnlySuspending(r pass.Result) pass.Result {
	r.Writes.Drop(pass.SuspendJob | pass.CreateService | pass.CreateClaim | pass.GrantAccess | pass.ScaleJob | pass.CreateJob)
	r.Notices = nil
	return r.And(pass.Tell(pass.Silently(jobset.JobSetSuspended, metav1.ConditionFalse, constants.SuspendingReason, constants.SuspendingMessage)))
}

// KeepExecution writes which execution this is, and since when it is active.
func KeepExecution(v *view.View, c pass.Changes, status *jobset.JobSetStatus) {
	if v.Finished { // one that has ended keeps those of its end
		return
	}
	if v.Gates.ExecutionAttemptsTracking {
		status.ExecutionAttempts = executionAttempts(v, c, status.Restarts)
	}
	since := status.StartTime
	switch {
	case !v.Gates.JobSetActiveDeadlineSeconds || v.SuspendWanted():
		status.StartTime = nil
	case since == nil || since.After(v.Now) || c.Any(pass.RestartAllJobs|pass.ChargeGroup): // the second: the clock was put back (P21)
		status.StartTime = ptr.To(metav1.NewTime(v.Now))
	}
}

// executionAttempts returns how many executions there were before this one, once these changes are written; nil if there was none.
func executionAttempts(v *view.View, c pass.Changes, restarts int32) *int32 {
	was := &v.JobSet.Status
	first := was.ExecutionAttempts == nil && was.Restarts == 0
	if first && restarts == 0 && v.SuspendWanted() && !slices.ContainsFunc(v.Observed.Active, func(job *batchv1.Job) bool { return !view.Suspended(job) }) {
		return nil
	}
	attempts := int64(max(ptr.Deref(was.ExecutionAttempts, 0), was.Restarts)) + int64(view.OneIf(c.Any(pass.RestartAllJobs))+view.OneIf(c.Any(pass.ChargeGroup)))
	if c.Any(pass.ResumesJobSet) && !first {
		attempts++
	}
	return ptr.To(int32(min(max(attempts, int64(restarts)), math.MaxInt32)))
}
