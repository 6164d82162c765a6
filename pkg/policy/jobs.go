/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/placement"
)

// createJobs plans the Jobs whose names nothing holds, of the ReplicatedJobs
// that have their turn. A name of an earlier attempt is free once its Job, and
// so its Pods, are gone; BlockingRecreate waits until all of them are.
func (d *decision) createJobs(turn []*jobset.ReplicatedJob) {
	js := d.in.JobSet
	if d.restartStrategy() == jobset.BlockingRecreate && len(d.observed.Previous) > 0 {
		return
	}
	builder := children.NewBuilder(js).CountJobRestarts(d.in.Gates.RestartJob)
	for _, rjob := range turn {
		var batch []*batchv1.Job
		for index := range int(children.Replicas(rjob)) {
			if !d.observed.Names[placement.JobName(js.Name, rjob.Name, index)] {
				batch = append(batch, builder.Job(rjob, index))
			}
		}
		if len(batch) > 0 {
			d.plan.CreateJobs = append(d.plan.CreateJobs, batch)
		}
	}
	if len(d.plan.CreateJobs) > 0 && d.claimLeaving() {
		d.plan.CreateJobs = nil
		d.plan.requeueAfter(leavingClaimInterval)
	}
}

// followSuspend makes the unfinished Jobs follow spec.suspend: all of them stop,
// and those that have their turn run.
func (d *decision) followSuspend(turn []*jobset.ReplicatedJob) {
	if d.suspendWanted() {
		for _, job := range d.observed.Active {
			if !suspended(job) {
				d.plan.SuspendJobs = append(d.plan.SuspendJobs, job)
			}
		}
		d.set(jobset.JobSetSuspended, constants.SuspendedReason, constants.SuspendedMessage)
		d.clear(jobset.JobSetRestarting, constants.RestartingEndedSuspendedReason, constants.RestartingEndedSuspendedMessage)
		return
	}
	asleep := map[string][]*batchv1.Job{}
	for _, job := range d.observed.Active {
		if suspended(job) {
			name := replicatedJobOf(job)
			asleep[name] = append(asleep[name], job)
		}
	}
	for _, rjob := range turn {
		for _, job := range asleep[rjob.Name] {
			d.resume(job, rjob)
		}
	}
	d.clear(jobset.JobSetSuspended, constants.ResumedReason, constants.ResumedMessage)
}

func (d *decision) resume(job *batchv1.Job, rjob *jobset.ReplicatedJob) {
	resumed, changed := children.Resumed(job, rjob)
	d.plan.ResumeJobs = append(d.plan.ResumeJobs, Resume{
		From:           job,
		Job:            resumed,
		ResetStartTime: changed && job.Status.StartTime != nil,
	})
}

func withoutTerminating(jobs []*batchv1.Job) []*batchv1.Job {
	var live []*batchv1.Job
	for _, job := range jobs {
		if job.DeletionTimestamp == nil {
			live = append(live, job)
		}
	}
	return live
}

func (d *decision) restartStrategy() jobset.JobSetRestartStrategy {
	if d.in.JobSet.Spec.FailurePolicy == nil {
		return jobset.Recreate
	}
	return d.in.JobSet.Spec.FailurePolicy.RestartStrategy
}
