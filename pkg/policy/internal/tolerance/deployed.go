/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// A queueing system may give away what a JobSet uses when ResourcesDeployed is False (P86). So it is
// True before anything may run, which is a write of its own, and False only when a read past the
// cache has found nothing that runs. It stays True while a reset pauses.

// WaitsForDeployed reports whether Jobs are to run and the condition does not say so yet.
func WaitsForDeployed(v *view.View, sum *pass.Result) bool {
	creates := sum.Writes.Does(pass.CreateJob) && !v.SuspendWanted()
	return v.Tolerant && (creates || sum.Writes.Does(pass.ResumeJob)) && !v.IsTrue(jobset.JobSetResourcesDeployed)
}

// ResourcesDeployed keeps the condition.
func ResourcesDeployed(v *view.View, before pass.Result) pass.Result {
	if !v.Tolerant {
		return pass.Result{}
	}
	reported := v.IsTrue(jobset.JobSetResourcesDeployed)
	pods, jobs := alive(v)
	switch {
	case !reported && (before.Deploys || pods+jobs > 0):
		return pass.Tell(pass.BecomesTrue(jobset.JobSetResourcesDeployed, constants.ResourcesInUseReason, constants.ResourcesInUseMessage))
	case !reported || pods+jobs > 0 || !v.Finished && !v.SuspendWanted():
		return pass.Result{}
	case !v.ChildrenRead:
		return pass.Result{Ask: pass.Questions{ReadChildren: true}}
	}
	return pass.Tell(pass.BecomesFalse(jobset.JobSetResourcesDeployed, constants.ResourcesReleasedReason,
		fmt.Sprintf("0 Pods run and 0 of %d Jobs may start any", len(v.Jobs))))
}

// KeepActive counts, in a JobSet that has ended or is suspended, each Job that has Pods left as active until nothing is
// deployed any more. Kueue reads no condition for that: it takes back the quota of a JobSet that it suspended when no
// ReplicatedJob has active Jobs, and those of a Job controller leave out Pods that are being deleted (P129a).
func KeepActive(v *view.View, status *jobset.JobSetStatus) {
	over := v.Finished || v.SuspendWanted()
	if !v.Tolerant || !over || !apimeta.IsStatusConditionTrue(status.Conditions, string(jobset.JobSetResourcesDeployed)) {
		return
	}
	left := map[string]int32{}
	for _, job := range v.Jobs {
		if job.Status.Active > 0 || ptr.Deref(job.Status.Terminating, 0) > 0 || slices.ContainsFunc(v.Pods[job.UID], hasNotEnded) {
			left[view.ReplicatedJobOf(job)]++
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
func alive(v *view.View) (pods, atWork int) {
	for _, job := range v.Jobs {
		_, ended := view.FinishedCondition(job)
		works := job.Status.Active > 0 || ptr.Deref(job.Status.Terminating, 0) > 0
		if works || !ended && (!view.Suspended(job) || !jobs.AtRest(job)) {
			atWork++
		}
	}
	eachPod(v, func(pod *facts.Member, _ *batchv1.Job) {
		if hasNotEnded(pod) {
			pods++
		}
	})
	return pods, atWork
}

// eachPod visits all Pods of the JobSet, those whose Job is gone with nil, in no order.
func eachPod(v *view.View, visit func(*facts.Member, *batchv1.Job)) {
	for _, job := range v.Jobs {
		for _, pod := range v.Pods[job.UID] {
			visit(pod, job)
		}
	}
	for _, pod := range v.Strays {
		visit(pod, nil)
	}
}
