/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// ofWholeJobSet are the actions on one Job, and what stands in for each while gate RestartJob is off.
var ofWholeJobSet = map[jobset.FailurePolicyAction]jobset.FailurePolicyAction{
	jobset.RestartJob:                     jobset.RestartJobSet,
	jobset.RestartJobAndIgnoreMaxRestarts: jobset.RestartJobSetAndIgnoreMaxRestarts,
}

// restartJob makes one failed Job, and no other, one of an earlier attempt.
func (d *decision) restartJob(job *batchv1.Job, action jobset.FailurePolicyAction, eventReason, message string) error {
	known := newAttempts(d.in.JobSet, d.in.Gates)
	rjob, index, err := known.position(job)
	if err != nil {
		return fmt.Errorf("applying failure policy action %s: %w", action, err)
	}
	for i := range d.plan.Status.ReplicatedJobsStatus {
		status := &d.plan.Status.ReplicatedJobsStatus[i]
		if status.Name != rjob {
			continue
		}
		status.JobRestarts = oneMore(status.JobRestarts, index, known.replicas[rjob])
		if built, err := number(job, constants.JobRestartAttemptKey); err == nil { // above the counter only if a status was lost
			status.JobRestarts[index] = max(status.JobRestarts[index], int32(built)+1)
		}
		if action == jobset.RestartJob {
			status.JobRestartsCountTowardsMax = oneMore(status.JobRestartsCountTowardsMax, index, known.replicas[rjob])
		}
	}
	d.plan.Restart = action
	d.event(corev1.EventTypeWarning, eventReason, message)
	return nil
}

// oneMore returns a copy of the counters of a ReplicatedJob, one for each of its Jobs, with one counter raised.
func oneMore(counters []int32, index int, replicas int32) []int32 {
	raised := make([]int32, max(int(replicas), len(counters)))
	copy(raised, counters)
	raised[index]++
	return raised
}
