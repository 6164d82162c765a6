/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// charge counts a restart towards maxRestarts, once, on the counter of what restarts: all Jobs, one Job, or the group in
// place. If no restart is left, the JobSet fails instead, with the message spent. Every restart that counts is charged here.
func (v *view) charge(restart result, spent string) result {
	switch {
	case v.budgetSpent(): // P15
		return fail(constants.ReachedMaxRestartsReason, spent)
	case restart.restartJob != nil:
		restart.restartJob.counted = true
	case restart.changes.any(restartAllJobs):
		restart.changes |= chargeAllJobs
	default:
		restart.changes |= chargeGroup
	}
	return restart
}

// lastFailure says what the budget was spent on last.
func lastFailure(cause string) string {
	return fmt.Sprintf("%s (last failure: %s)", constants.ReachedMaxRestartsMessage, cause)
}

// budgetSpent reports whether every counted restart that maxRestarts allows was used.
func (v *view) budgetSpent() bool { return UsedRestarts(&v.JobSet.Status) >= v.maxRestarts() }

func (v *view) maxRestarts() int64 {
	switch policy := v.JobSet.Spec.FailurePolicy; {
	case policy != nil:
		return int64(policy.MaxRestarts)
	case v.tolerant: // P82
		return int64(v.tolerance.RetryLimit)
	}
	return 0
}

// UsedRestarts returns how many restarts count towards maxRestarts: those of the whole
// JobSet, of single Jobs and of the group draw on one budget. No gate refunds what was used.
func UsedRestarts(status *jobset.JobSetStatus) int64 {
	used := int64(status.RestartsCountTowardsMax) + int64(status.InPlaceRestarts)
	for i := range status.ReplicatedJobsStatus {
		for _, restarts := range status.ReplicatedJobsStatus[i].JobRestartsCountTowardsMax {
			used += int64(restarts)
		}
	}
	return used
}
