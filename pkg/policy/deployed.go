/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// A queueing system may give away what a JobSet uses when ResourcesDeployed is False (P86). So it is
// True before anything may run, which is a write of its own, and False only when a read past the
// cache has found nothing that runs. It stays True while a reset pauses.

// waitsForDeployed reports whether Jobs are to run and the condition does not say so yet.
func (v *view) waitsForDeployed(sum *result) bool {
	creates := sum.writes.Does(CreateJob) && !v.suspendWanted()
	return v.tolerant && (creates || sum.writes.Does(ResumeJob)) && !v.isTrue(jobset.JobSetResourcesDeployed)
}

// withoutJobs leaves the Jobs that are to run to the next pass, and with them what is reported about them.
func (r result) withoutJobs() result {
	r.deploys, r.notices = r.writes.Does(CreateJob|ResumeJob), nil
	r.writes.Uncreated += int64(len(r.writes.Of(CreateJob)))
	r.writes.Unresumed += int64(len(r.writes.Of(ResumeJob)))
	r.writes.drop(CreateJob | ResumeJob)
	return r
}

// resourcesDeployed keeps the condition.
func resourcesDeployed(v *view, before result) result {
	if !v.tolerant {
		return result{}
	}
	reported := v.isTrue(jobset.JobSetResourcesDeployed)
	pods, jobs := v.alive()
	switch {
	case !reported && (before.deploys || pods+jobs > 0):
		return tell(becomesTrue(jobset.JobSetResourcesDeployed, constants.ResourcesInUseReason, constants.ResourcesInUseMessage))
	case !reported || pods+jobs > 0 || !v.finished && !v.suspendWanted():
		return result{}
	case !v.ChildrenRead:
		return result{ask: Questions{ReadChildren: true}}
	}
	return tell(becomesFalse(jobset.JobSetResourcesDeployed, constants.ResourcesReleasedReason,
		fmt.Sprintf("0 Pods run and 0 of %d Jobs may start any", len(v.Jobs))))
}

// keepActive counts, in a JobSet that has ended or is suspended, each Job that has Pods left as active until nothing is
// deployed any more. Kueue reads no condition for that: it takes back the quota of a JobSet that it suspended when no
// ReplicatedJob has active Jobs, and those of a Job controller leave out Pods that are being deleted (P129a).
func (v *view) keepActive(status *jobset.JobSetStatus) {
	over := v.finished || v.suspendWanted()
	if !v.tolerant || !over || !apimeta.IsStatusConditionTrue(status.Conditions, string(jobset.JobSetResourcesDeployed)) {
		return
	}
	left := map[string]int32{}
	for _, job := range v.Jobs {
		if job.Status.Active > 0 || ptr.Deref(job.Status.Terminating, 0) > 0 || slices.ContainsFunc(v.Pods[job.UID], hasNotEnded) {
			left[replicatedJobOf(job)]++
		}
	}
	var active int32
	for i := range status.ReplicatedJobsStatus {
		rjob := &status.ReplicatedJobsStatus[i]
		rjob.Active = max(rjob.Active, left[rjob.Name])
		active = max(active, rjob.Active)
	}
	if active == 0 && len(status.ReplicatedJobsStatus) > 0 { // Pods without a Job, or nothing is left and that is not confirmed
		status.ReplicatedJobsStatus[0].Active = 1
	}
}

func hasNotEnded(pod *facts.Member) bool { return !pod.Ended() }

// alive returns how many Pods have not ended, and how many Jobs may have Pods that have not ended.
func (v *view) alive() (pods, jobs int) {
	for _, job := range v.Jobs {
		_, ended := finishedCondition(job)
		atWork := job.Status.Active > 0 || ptr.Deref(job.Status.Terminating, 0) > 0
		if atWork || !ended && (!suspended(job) || !atRest(job)) {
			jobs++
		}
	}
	v.eachPod(func(pod *facts.Member, _ *batchv1.Job) {
		if hasNotEnded(pod) {
			pods++
		}
	})
	return pods, jobs
}

// eachPod visits all Pods of the JobSet, those whose Job is gone with nil, in no order.
func (v *view) eachPod(visit func(*facts.Member, *batchv1.Job)) {
	for _, job := range v.Jobs {
		for _, pod := range v.Pods[job.UID] {
			visit(pod, job)
		}
	}
	for _, pod := range v.Strays {
		visit(pod, nil)
	}
}
