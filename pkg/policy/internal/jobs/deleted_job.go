/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"fmt"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// DeletedJob fails a JobSet that lacks a Job which somebody else deleted (P81). Deleted, not "not
// created yet": the status has recorded that all Jobs of this attempt existed. A Job with a time to
// live of its own may be missing.
func DeletedJob(v *view.View, _ pass.Result) pass.Result {
	if !v.Tolerant || sleeps(v) || len(v.Observed.Previous) > 0 || v.JobSet.Status.FaultTolerance == nil {
		return pass.Result{}
	}
	complete := v.JobSet.Status.FaultTolerance.CompleteAttempt
	if complete == nil || *complete != attempt(v) {
		return pass.Result{}
	}
	missing, all := "", int64(0)
	for i := range v.JobSet.Spec.ReplicatedJobs {
		rjob := &v.JobSet.Spec.ReplicatedJobs[i]
		if rjob.Template.Spec.TTLSecondsAfterFinished != nil {
			continue
		}
		lowest, count := v.Observed.Taken.Free(rjob.Name, rjob.Replicas, 1)
		if all += count; count > 0 && missing == "" {
			missing = placement.JobName(v.JobSet.Name, rjob.Name, int(lowest[0]))
		}
	}
	switch {
	case all == 0:
		return pass.Result{}
	case !v.ChildrenRead:
		return pass.Result{Ends: true, Ask: pass.Questions{ReadChildren: true}}
	}
	return pass.Fail(constants.ChildJobDeletedReason, fmt.Sprintf(
		"%d Jobs of the running attempt were deleted, and not by the JobSet controller (first: %s)", all, missing))
}

// attempt numbers the attempts: the restarts of all Jobs, and of single ones, before it.
func attempt(v *view.View) int64 {
	n := int64(v.JobSet.Status.Restarts)
	for i := range v.JobSet.Status.ReplicatedJobsStatus {
		for _, restarts := range v.JobSet.Status.ReplicatedJobsStatus[i].JobRestarts {
			n += int64(restarts)
		}
	}
	return n
}

// sleeps reports whether the JobSet is suspended, or was when its status was last written.
func sleeps(v *view.View) bool { return v.SuspendWanted() || v.IsTrue(jobset.JobSetSuspended) }

// isComplete reports whether all Jobs of the attempt exist and stay, and no others do.
func isComplete(v *view.View) bool {
	for _, rjob := range v.Observed.ByName {
		if rjob.Jobs != rjob.Replicas {
			return false
		}
	}
	return len(v.Observed.Previous) == 0 && !v.AnyTerminating()
}

// RememberComplete records that all Jobs of an attempt exist, and forgets it if one is deleted while the JobSet is suspended:
// the Job may disappear after the JobSet is resumed, and is created again (P81).
func RememberComplete(v *view.View, next *jobset.FaultToleranceStatus) {
	switch n := attempt(v); {
	case isComplete(v):
		next.CompleteAttempt = &n
	case sleeps(v):
		next.CompleteAttempt = nil
	}
}
