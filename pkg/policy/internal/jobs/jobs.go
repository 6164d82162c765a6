/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// nextBatch is how soon to go on when a plan could not hold all: at once, but
// behind the JobSets that wait in the queue.
const nextBatch = time.Millisecond

// CreateJobs creates the Jobs whose names no other Job holds, of the ReplicatedJobs
// that have their turn. A name of an earlier attempt is free once its Job, and
// so its Pods, are gone; BlockingRecreate waits until all of them are.
func CreateJobs(v *view.View, before pass.Result) pass.Result {
	var r pass.Result
	if v.RestartStrategy() == jobset.BlockingRecreate && len(v.Observed.Previous) > 0 {
		return r
	}
	left, leaving, awaited := newRoom(), LeavingClaims(v), sets.New[string]()
	indexes := make([][]int32, len(v.Turn))
	for i, rjob := range v.Turn {
		size := left.sizeOf(&rjob.Template.Spec)
		free, missing := v.Observed.Taken.Free(rjob.Name, rjob.Replicas, left.jobsOf(size))
		r.Writes.Uncreated += missing
		if held := heldBy(v, leaving, rjob); missing > 0 && len(held) > 0 {
			if len(awaited) < len(leaving) { // each ReplicatedJob may wait for thousands
				awaited.Insert(sets.List(held)...)
			}
			continue
		}
		indexes[i] = free
		left.take(len(free), size)
	}
	switch {
	case r.Writes.Uncreated == 0 || before.HoldsJobs:
		return r
	case len(awaited) > 0:
		r = r.And(awaitClaims(awaited))
	}
	builder := children.NewBuilder(v.JobSet).CountJobRestarts(v.Gates.RestartJob).InjectAgents(v.Injection).Elastic(v.Gates.ElasticJobSet).KeepAway(v.SickNodes.KeepAway).
		TrackExecutions(v.Gates.ExecutionAttemptsTracking)
	for i, rjob := range v.Turn {
		for _, index := range indexes[i] {
			r.Writes.Do(pass.Op{Kind: pass.CreateJob, Batch: i, Job: builder.Job(rjob, int(index))})
		}
		r.Writes.Uncreated -= int64(len(indexes[i]))
	}
	if r.Writes.Uncreated > 0 && len(awaited) == 0 {
		return r.And(pass.RequeueAfter(nextBatch))
	}
	return r
}

// FollowSuspend makes the unfinished Jobs follow spec.suspend: all of them stop,
// and those that have their turn run.
func FollowSuspend(v *view.View, _ pass.Result) pass.Result {
	if v.SuspendWanted() {
		return suspendJobs(v)
	}
	r := resumeJobs(v)
	if r.Writes.Does(pass.ResumeJob) && r.Writes.Unresumed > 0 {
		r = r.And(pass.RequeueAfter(nextBatch))
	}
	if r.Writes.Unresumed == 0 {
		r = r.And(endSuspension(v))
	}
	return r
}

func suspendJobs(v *view.View) pass.Result {
	r := pass.Tell(pass.BecomesTrue(jobset.JobSetSuspended, constants.JobSetSuspendedReason, constants.JobSetSuspendedMessage),
		pass.BecomesFalse(jobset.JobSetRestarting, constants.RestartingEndedSuspendedReason, constants.RestartingEndedSuspendedMessage))
	for _, job := range v.Observed.Active {
		if !view.Suspended(job) {
			r.Writes.Do(pass.Op{Kind: pass.SuspendJob, Job: job})
		}
	}
	return r
}

// suspending reports whether Jobs may have been suspended, and not yet all of them.
func suspending(v *view.View) bool {
	c := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(jobset.JobSetSuspended))
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason == constants.SuspendingReason
}

// endSuspension ends a suspension, also one that was not complete.
func endSuspension(v *view.View) pass.Result {
	n := pass.BecomesFalse(jobset.JobSetSuspended, constants.ResumedReason, constants.ResumedMessage)
	n.IfTrue = !suspending(v)
	return pass.Tell(n)
}

// resumeJobs resumes the Jobs that have their turn, as many as a plan holds. A Job whose template
// changes has to be at rest first: a change of the Job wakes the JobSet then.
func resumeJobs(v *view.View) pass.Result {
	var r pass.Result
	asleep := map[string][]*batchv1.Job{}
	for _, job := range v.Observed.Active {
		if view.Suspended(job) {
			name := view.ReplicatedJobOf(job)
			asleep[name] = append(asleep[name], job)
		}
	}
	left, with := newRoom(), children.Resumption{
		Execution: children.Execution(v.JobSet, v.Gates.ExecutionAttemptsTracking), Resources: v.Gates.MutablePodResourcesForSuspendedJobSets}
	for _, rjob := range v.Turn {
		jobs, size := asleep[rjob.Name], left.sizeOf(&rjob.Template.Spec)
		most := min(left.jobsOf(size), len(jobs))
		left.take(most, size)
		r.Writes.Unresumed += int64(len(jobs) - most)
		for _, job := range jobs[:most] {
			resumed, changed := children.Resumed(job, rjob, with)
			if changed && !AtRest(job) {
				r.Writes.Unresumed++
				continue
			}
			r.Writes.Do(pass.Op{Kind: pass.ResumeJob, Job: job, Resumed: resumed, ResetStartTime: changed && job.Status.StartTime != nil})
		}
	}
	return r
}

// AtRest reports whether the Job controller has suspended a Job that is to be
// suspended, or never started it. Until then the API server refuses to change its template.
func AtRest(job *batchv1.Job) bool {
	return job.Status.Active == 0 && (job.Status.StartTime == nil || view.HasCondition(job, batchv1.JobSuspended))
}
