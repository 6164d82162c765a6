/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// wholeJobSetAction maps each action on one Job to the one that replaces it while gate RestartJob is off.
var wholeJobSetAction = map[jobset.FailurePolicyAction]jobset.FailurePolicyAction{
	jobset.RestartJob:                     jobset.RestartJobSet,
	jobset.RestartJobAndIgnoreMaxRestarts: jobset.RestartJobSetAndIgnoreMaxRestarts,
}

// restartJob restarts one failed Job.
func restartJob(v *view.View, job *batchv1.Job, action jobset.FailurePolicyAction, message string) pass.Result {
	attempts := view.NewAttempts(v.JobSet, v.Gates)
	rjob, index, err := attempts.Position(job)
	if err != nil {
		return pass.Result{Err: fmt.Errorf("applying failure policy action %s: %w", action, err)}
	}
	restart := &pass.JobRestart{ReplicatedJob: rjob, Index: index, Replicas: attempts.Replicas[rjob]}
	if built, err := view.Number(job, constants.JobRestartAttemptKey); err == nil { // above the counter only if a status was lost
		restart.Attempt = int32(built) + 1
	}
	r := pass.Tell(pass.Warning(constants.ActionReason(action), message))
	r.RestartJob, r.Reports.Restart = restart, action
	r.Began = &jobset.RestartRecord{Kind: jobset.RestartedJob, Cause: causeOf(v, job)}
	return r
}

// CountRestart raises the counters of a Job that restarts alone.
func CountRestart(r *pass.JobRestart, statuses []jobset.ReplicatedJobStatus) {
	for i := range statuses {
		status := &statuses[i]
		if status.Name != r.ReplicatedJob {
			continue
		}
		status.JobRestarts = oneMore(status.JobRestarts, r.Index, r.Replicas)
		status.JobRestarts[r.Index] = max(status.JobRestarts[r.Index], r.Attempt)
		if r.Counted {
			status.JobRestartsCountTowardsMax = oneMore(status.JobRestartsCountTowardsMax, r.Index, r.Replicas)
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
