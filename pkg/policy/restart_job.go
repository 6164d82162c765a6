/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// wholeJobSetAction maps each action on one Job to the one that replaces it while gate RestartJob is off.
var wholeJobSetAction = map[jobset.FailurePolicyAction]jobset.FailurePolicyAction{
	jobset.RestartJob:                     jobset.RestartJobSet,
	jobset.RestartJobAndIgnoreMaxRestarts: jobset.RestartJobSetAndIgnoreMaxRestarts,
}

// restartJob restarts one failed Job.
func (v *view) restartJob(job *batchv1.Job, action jobset.FailurePolicyAction, message string) result {
	attempts := newAttempts(v.JobSet, v.Gates)
	rjob, index, err := attempts.position(job)
	if err != nil {
		return result{err: fmt.Errorf("applying failure policy action %s: %w", action, err)}
	}
	restart := &jobRestart{replicatedJob: rjob, index: index, replicas: attempts.replicas[rjob]}
	if built, err := number(job, constants.JobRestartAttemptKey); err == nil { // above the counter only if a status was lost
		restart.attempt = int32(built) + 1
	}
	r := tell(warning(constants.ActionReason(action), message))
	r.restartJob, r.reports.Restart = restart, action
	r.began = &jobset.RestartRecord{Kind: jobset.RestartedJob, Cause: v.causeOf(job)}
	return r
}

// apply raises the counters of the Job.
func (r *jobRestart) apply(statuses []jobset.ReplicatedJobStatus) {
	for i := range statuses {
		status := &statuses[i]
		if status.Name != r.replicatedJob {
			continue
		}
		status.JobRestarts = oneMore(status.JobRestarts, r.index, r.replicas)
		status.JobRestarts[r.index] = max(status.JobRestarts[r.index], r.attempt)
		if r.counted {
			status.JobRestartsCountTowardsMax = oneMore(status.JobRestartsCountTowardsMax, r.index, r.replicas)
		}
	}
}

// maxCounters is how many counters the schema lets the status have for one ReplicatedJob.
const maxCounters = 1024

// oneMore returns a copy of the counters of a ReplicatedJob, as many as it has Jobs but at
// most maxCounters, with one counter raised.
func oneMore(counters []int32, index int, replicas int32) []int32 {
	raised := make([]int32, max(int(min(replicas, maxCounters)), index+1, len(counters)))
	copy(raised, counters)
	raised[index]++
	return raised
}
