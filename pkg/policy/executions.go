/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// Which execution this is, and since when it is active, is in the status before a Job of it runs (C398):
//
//	suspend   SuspendingJobs, no startTime     then Jobs are suspended, and Suspended=True
//	resume    Suspended=False, attempt +1      then Jobs are resumed, and carry it
//	restart   restarts +1, attempt +1          then Jobs are recreated, and carry it
//
// So an execution is counted by the write that ends the suspension, or that restarts, and by no other, whatever is retried: a Job
// that is still to be resumed then is an unfinished intent.

// waitsForExecution reports whether Jobs are to run and the status does not say yet in which execution, or since when.
func (v *view) waitsForExecution(sum *result) bool {
	runs := sum.writes.Does(CreateJob|ResumeJob) && !v.suspendWanted()
	status := &v.JobSet.Status
	uncounted := v.Gates.ExecutionAttemptsTracking && ptr.Deref(v.executionAttempts(0, status.Restarts), 0) != ptr.Deref(status.ExecutionAttempts, 0)
	return v.runsAgain(sum) || runs && (uncounted || v.isLimited() && status.StartTime == nil)
}

// runsAgain reports whether the JobSet is resumed and the status has yet to count that.
func (v *view) runsAgain(sum *result) bool {
	return v.Gates.ExecutionAttemptsTracking && !sum.ends && !v.suspendWanted() && (v.suspending() || v.isTrue(jobset.JobSetSuspended))
}

// statusFirst leaves Jobs that are to run to the next pass, and lets the status say that they will.
func (v *view) statusFirst(sum result) result {
	again := v.runsAgain(&sum)
	if sum = sum.withoutJobs(); !again {
		return sum
	}
	sum.changes |= resumesJobSet
	return sum.and(v.resumed())
}

// waitsForSuspended reports whether Jobs are to stop and the status does not say so yet, nor that they ran. If it did not, and the JobSet
// were resumed before all Jobs have stopped, nobody would know that some have.
func (v *view) waitsForSuspended(sum *result) bool {
	counts := v.Gates.ExecutionAttemptsTracking
	if !counts && !v.isLimited() || !sum.writes.Does(SuspendJob) {
		return false
	}
	announced := v.suspending() || v.isTrue(jobset.JobSetSuspended)
	return !announced || counts && v.JobSet.Status.ExecutionAttempts == nil
}

// onlySuspending leaves Jobs that are to stop to the next pass, and with them what may be refused: nothing is to delay that.
func onlySuspending(r result) result {
	r.writes.drop(SuspendJob | CreateService | CreateClaim | GrantAccess | ScaleJob | CreateJob)
	r.notices = nil
	return r.and(tell(silently(jobset.JobSetSuspended, metav1.ConditionFalse, constants.SuspendingReason, constants.SuspendingMessage)))
}

// keepExecution writes which execution this is, and since when it is active.
func (v *view) keepExecution(c changes, status *jobset.JobSetStatus) {
	if v.finished { // one that has ended keeps those of its end
		return
	}
	if v.Gates.ExecutionAttemptsTracking {
		status.ExecutionAttempts = v.executionAttempts(c, status.Restarts)
	}
	since := status.StartTime
	switch {
	case !v.Gates.JobSetActiveDeadlineSeconds || v.suspendWanted():
		status.StartTime = nil
	case since == nil || since.After(v.Now) || c.any(restartAllJobs|chargeGroup): // the second: the clock was put back (P21)
		status.StartTime = ptr.To(metav1.NewTime(v.Now))
	}
}

// executionAttempts returns how many executions there were before this one, once these changes are written; nil if there was none.
func (v *view) executionAttempts(c changes, restarts int32) *int32 {
	was := &v.JobSet.Status
	first := was.ExecutionAttempts == nil && was.Restarts == 0
	if first && restarts == 0 && v.suspendWanted() && !slices.ContainsFunc(v.observed.Active, func(job *batchv1.Job) bool { return !suspended(job) }) {
		return nil
	}
	attempts := int64(max(ptr.Deref(was.ExecutionAttempts, 0), was.Restarts)) + int64(oneIf(c.any(restartAllJobs))+oneIf(c.any(chargeGroup)))
	if c.any(resumesJobSet) && !first {
		attempts++
	}
	return ptr.To(int32(min(max(attempts, int64(restarts)), math.MaxInt32)))
}
