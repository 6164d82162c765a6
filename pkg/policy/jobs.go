/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
)

// nextBatch is how soon to go on when a plan could not hold all: at once, but
// behind the JobSets that wait in the queue.
const nextBatch = time.Millisecond

// createJobs creates the Jobs whose names no other Job holds, of the ReplicatedJobs
// that have their turn. A name of an earlier attempt is free once its Job, and
// so its Pods, are gone; BlockingRecreate waits until all of them are.
func createJobs(v *view, before result) result {
	var r result
	if v.restartStrategy() == jobset.BlockingRecreate && len(v.observed.Previous) > 0 {
		return r
	}
	left, leaving, awaited := newRoom(), v.leavingClaims(), sets.New[string]()
	indexes := make([][]int32, len(v.turn))
	for i, rjob := range v.turn {
		size := left.sizeOf(&rjob.Template.Spec)
		free, missing := v.observed.taken.free(rjob.Name, rjob.Replicas, left.jobsOf(size))
		r.writes.Uncreated += missing
		if held := v.heldBy(leaving, rjob); missing > 0 && len(held) > 0 {
			if len(awaited) < len(leaving) { // each ReplicatedJob may wait for thousands
				awaited.Insert(sets.List(held)...)
			}
			continue
		}
		indexes[i] = free
		left.take(len(free), size)
	}
	switch {
	case r.writes.Uncreated == 0 || before.holdsJobs:
		return r
	case len(awaited) > 0:
		r = r.and(awaitClaims(awaited))
	}
	builder := children.NewBuilder(v.JobSet).CountJobRestarts(v.Gates.RestartJob).InjectAgents(v.Injection).Elastic(v.Gates.ElasticJobSet).KeepAway(v.SickNodes.KeepAway).
		TrackExecutions(v.Gates.ExecutionAttemptsTracking)
	for i, rjob := range v.turn {
		for _, index := range indexes[i] {
			r.writes.do(Op{Kind: CreateJob, Batch: i, Job: builder.Job(rjob, int(index))})
		}
		r.writes.Uncreated -= int64(len(indexes[i]))
	}
	if r.writes.Uncreated > 0 && len(awaited) == 0 {
		return r.and(requeueAfter(nextBatch))
	}
	return r
}

// followSuspend makes the unfinished Jobs follow spec.suspend: all of them stop,
// and those that have their turn run.
func followSuspend(v *view, _ result) result {
	if v.suspendWanted() {
		return v.suspendJobs()
	}
	r := v.resumeJobs()
	if r.writes.Does(ResumeJob) && r.writes.Unresumed > 0 {
		r = r.and(requeueAfter(nextBatch))
	}
	if r.writes.Unresumed == 0 {
		r = r.and(v.resumed())
	}
	return r
}

func (v *view) suspendJobs() result {
	r := tell(becomesTrue(jobset.JobSetSuspended, constants.JobSetSuspendedReason, constants.JobSetSuspendedMessage),
		becomesFalse(jobset.JobSetRestarting, constants.RestartingEndedSuspendedReason, constants.RestartingEndedSuspendedMessage))
	for _, job := range v.observed.Active {
		if !suspended(job) {
			r.writes.do(Op{Kind: SuspendJob, Job: job})
		}
	}
	return r
}

// suspending reports whether Jobs may have been suspended, and not yet all of them.
func (v *view) suspending() bool {
	c := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(jobset.JobSetSuspended))
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason == constants.SuspendingReason
}

// resumed ends a suspension, also one that was not complete.
func (v *view) resumed() result {
	n := becomesFalse(jobset.JobSetSuspended, constants.ResumedReason, constants.ResumedMessage)
	n.ifTrue = !v.suspending()
	return tell(n)
}

// resumeJobs resumes the Jobs that have their turn, as many as a plan holds. A Job whose template
// changes has to be at rest first: a change of the Job wakes the JobSet then.
func (v *view) resumeJobs() result {
	var r result
	asleep := map[string][]*batchv1.Job{}
	for _, job := range v.observed.Active {
		if suspended(job) {
			name := replicatedJobOf(job)
			asleep[name] = append(asleep[name], job)
		}
	}
	left, with := newRoom(), children.Resumption{
		Execution: children.Execution(v.JobSet, v.Gates.ExecutionAttemptsTracking), Resources: v.Gates.MutablePodResourcesForSuspendedJobSets}
	for _, rjob := range v.turn {
		jobs, size := asleep[rjob.Name], left.sizeOf(&rjob.Template.Spec)
		most := min(left.jobsOf(size), len(jobs))
		left.take(most, size)
		r.writes.Unresumed += int64(len(jobs) - most)
		for _, job := range jobs[:most] {
			resumed, changed := children.Resumed(job, rjob, with)
			if changed && !atRest(job) {
				r.writes.Unresumed++
				continue
			}
			r.writes.do(Op{Kind: ResumeJob, Job: job, Resumed: resumed, ResetStartTime: changed && job.Status.StartTime != nil})
		}
	}
	return r
}

// atRest reports whether the Job controller has suspended a Job that is to be
// suspended, or never started it. Until then the API server refuses to change its template.
func atRest(job *batchv1.Job) bool {
	return job.Status.Active == 0 && (job.Status.StartTime == nil || hasCondition(job, batchv1.JobSuspended))
}
