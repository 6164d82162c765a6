/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/placement"
)

// deletedJob fails a JobSet that lacks a Job which somebody else deleted (P81). Deleted, not "not
// created yet": the status has recorded that all Jobs of this attempt existed. A Job with a time to
// live of its own may be missing.
func deletedJob(v *view, _ result) result {
	if !v.tolerant || v.sleeps() || len(v.observed.Previous) > 0 || v.JobSet.Status.FaultTolerance == nil {
		return result{}
	}
	complete := v.JobSet.Status.FaultTolerance.CompleteAttempt
	if complete == nil || *complete != v.attempt() {
		return result{}
	}
	missing, all := "", int64(0)
	for i := range v.JobSet.Spec.ReplicatedJobs {
		rjob := &v.JobSet.Spec.ReplicatedJobs[i]
		if rjob.Template.Spec.TTLSecondsAfterFinished != nil {
			continue
		}
		lowest, count := v.observed.taken.free(rjob.Name, rjob.Replicas, 1)
		if all += count; count > 0 && missing == "" {
			missing = placement.JobName(v.JobSet.Name, rjob.Name, int(lowest[0]))
		}
	}
	switch {
	case all == 0:
		return result{}
	case !v.ChildrenRead:
		return result{ends: true, ask: Questions{ReadChildren: true}}
	}
	return fail(constants.ChildJobDeletedReason, fmt.Sprintf(
		"%d Jobs of the running attempt were deleted, and not by the JobSet controller (first: %s)", all, missing))
}

// attempt numbers the attempts: the restarts of all Jobs, and of single ones, before it.
func (v *view) attempt() int64 {
	n := int64(v.JobSet.Status.Restarts)
	for i := range v.JobSet.Status.ReplicatedJobsStatus {
		for _, restarts := range v.JobSet.Status.ReplicatedJobsStatus[i].JobRestarts {
			n += int64(restarts)
		}
	}
	return n
}

// sleeps reports whether the JobSet is suspended, or was when its status was last written.
func (v *view) sleeps() bool { return v.suspendWanted() || v.isTrue(jobset.JobSetSuspended) }

// isComplete reports whether all Jobs of the attempt exist and stay, and no others do.
func (v *view) isComplete() bool {
	for _, rjob := range v.observed.byName {
		if rjob.jobs != rjob.replicas {
			return false
		}
	}
	return len(v.observed.Previous) == 0 && !v.anyTerminating()
}

// rememberComplete records that all Jobs of an attempt exist, and forgets it if one is deleted while the JobSet is suspended:
// the Job may disappear after the JobSet is resumed, and is created again (P81).
func (r *result) rememberComplete(v *view, next *jobset.FaultToleranceStatus) {
	switch n := v.attempt(); {
	case v.isComplete():
		next.CompleteAttempt = &n
	case v.sleeps():
		next.CompleteAttempt = nil
	}
}
