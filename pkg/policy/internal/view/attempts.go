/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
)

// Attempts distinguishes Jobs of earlier attempts from those of the current one.
// Each Job is labelled with two counters as they were when it was built: restarts
// of the whole JobSet, and restarts of this Job alone. The status holds the current ones.
//
//	status.restarts 1, a.jobRestarts [0 2]
//
//	a-0  restart-attempt 1  job-restart-attempt 0   current
//	a-1  restart-attempt 1  job-restart-attempt 1   previous: restarted alone since
//	b-0  restart-attempt 0                          previous: all were restarted since
type Attempts struct {
	restarts int32
	// jobRestarts are the counters of each ReplicatedJob, nil where none of its Jobs was restarted alone.
	jobRestarts map[string][]int32
	Replicas    map[string]int32
	byJob       bool
	// newest is the latest attempt that a Job was built for: above restarts only if a status was lost.
	newest int32
}

// NewAttempts reads from the status which attempt the Jobs of a JobSet belong to.
func NewAttempts(js *jobset.JobSet, g gates.Set) Attempts {
	a := Attempts{restarts: js.Status.Restarts, byJob: g.RestartJob}
	if !a.byJob {
		return a
	}
	a.jobRestarts = make(map[string][]int32, len(js.Status.ReplicatedJobsStatus))
	for i := range js.Status.ReplicatedJobsStatus {
		a.jobRestarts[js.Status.ReplicatedJobsStatus[i].Name] = js.Status.ReplicatedJobsStatus[i].JobRestarts
	}
	a.Replicas = make(map[string]int32, len(js.Spec.ReplicatedJobs))
	for i := range js.Spec.ReplicatedJobs {
		a.Replicas[js.Spec.ReplicatedJobs[i].Name] = js.Spec.ReplicatedJobs[i].Replicas
	}
	return a
}

// previous reports whether a Job belongs to an earlier attempt.
func (a *Attempts) previous(job *batchv1.Job) (bool, error) {
	attempt, err := attemptOf(job, constants.RestartsKey, a.restarts)
	if err != nil {
		return false, err
	}
	previous := attempt < int64(a.restarts)
	if !previous && a.byJob {
		if previous, err = a.restartedAlone(job); err != nil {
			return false, err // it may be foreign, and says nothing about our attempts then
		}
	}
	a.newest = max(a.newest, int32(attempt))
	return previous, nil
}

// restartedAlone reports whether a Job was restarted alone since it was built.
func (a *Attempts) restartedAlone(job *batchv1.Job) (bool, error) {
	rjob, index, err := a.Position(job)
	if err != nil {
		return false, err
	}
	if children.OwnValue(job, constants.JobRestartAttemptKey) == "" {
		// Built while the gate was off: it counts as never restarted, so that the
		// action, taken once, replaces it.
		return restartsAt(a.jobRestarts[rjob], index) > 0, nil
	}
	current := restartsAt(a.jobRestarts[rjob], index)
	jobAttempt, err := attemptOf(job, constants.JobRestartAttemptKey, current)
	return jobAttempt < int64(current), err
}

// Position returns which Job of which ReplicatedJob this is.
func (a *Attempts) Position(job *batchv1.Job) (rjob string, index int, err error) {
	rjob = children.OwnValue(job, jobset.ReplicatedJobNameKey)
	if rjob == "" {
		return "", 0, unreadable(job, jobset.ReplicatedJobNameKey, fmt.Errorf("it is missing"))
	}
	at, err := Number(job, jobset.JobIndexKey)
	if err != nil {
		return "", 0, err
	}
	if at < 0 || at >= int64(a.Replicas[rjob]) {
		return "", 0, unreadable(job, jobset.JobIndexKey, fmt.Errorf("index %d is not one of the %d Jobs of ReplicatedJob %q", at, a.Replicas[rjob], rjob))
	}
	return rjob, int(at), nil
}

// restartsAt reads a counter from a list that may be shorter than the number of Jobs.
func restartsAt(counters []int32, index int) int32 {
	if index < len(counters) {
		return counters[index]
	}
	return 0
}

// mostAhead is how far the attempt of a Job may be ahead of a status that was lost. A label that says more was edited, and
// counting on from it would overflow.
const mostAhead = 1 << 20

// attemptOf reads the attempt that a Job was built for, of which the status counts the current one.
func attemptOf(job *batchv1.Job, key string, current int32) (int64, error) {
	attempt, err := Number(job, key)
	if err == nil && attempt > int64(current)+mostAhead {
		err = unreadable(job, key, fmt.Errorf("attempt %d is far above the current one, %d", attempt, current))
	}
	return attempt, err
}

// Number reads a counter that the controller wrote on a Job.
func Number(job *batchv1.Job, key string) (int64, error) {
	n, err := strconv.ParseInt(children.OwnValue(job, key), 10, 32)
	if err != nil {
		return 0, unreadable(job, key, err)
	}
	return n, nil
}

func unreadable(job *batchv1.Job, key string, err error) error {
	return fmt.Errorf("reading label %s of Job %s/%s, which the controller wrote when it created the Job and which must not change: %w; delete the Job to have it recreated",
		key, job.Namespace, job.Name, err)
}
