/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"fmt"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// Charge counts a restart towards maxRestarts, once, on the counter of what restarts: all Jobs, one Job, or the group in
// place. If no restart is left, the JobSet fails instead, with the message spent. Every restart that counts is charged here.
func Charge(v *view.View, restart pass.Result, spent string) pass.Result {
	switch {
	case BudgetSpent(v): // P15
		return pass.Fail(constants.ReachedMaxRestartsReason, spent)
	case restart.RestartJob != nil:
		restart.RestartJob.Counted = true
	case restart.Changes.Any(pass.RestartAllJobs):
		restart.Changes |= pass.ChargeAllJobs
	default:
		restart.Changes |= pass.ChargeGroup
	}
	return restart
}

// LastFailure says what the budget was spent on last.
func LastFailure(cause string) string {
	return fmt.Sprintf("%s (last failure: %s)", constants.ReachedMaxRestartsMessage, cause)
}

// BudgetSpent reports whether every counted restart that maxRestarts allows was used.
func BudgetSpent(v *view.View) bool { return UsedRestarts(&v.JobSet.Status) >= MaxRestarts(v) }

// MaxRestarts returns how many counted restarts the JobSet may have.
func MaxRestarts(v *view.View) int64 {
	switch policy := v.JobSet.Spec.FailurePolicy; {
	case policy != nil:
		return int64(policy.MaxRestarts)
	case v.Tolerant: // P82
		return int64(v.Settings.RetryLimit)
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
