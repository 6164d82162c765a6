/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// FindTurn returns the ReplicatedJobs whose Jobs may be created or resumed now, in
// the order of the spec.
//
//	AnyOrder               all whose dependsOn is fulfilled
//	InOrder                the first that has not started, or has Jobs that are still
//	                       suspended; no Job waits while the JobSet is suspended
//
//	a started   b not started   c not started     InOrder: b has its turn, c waits for b
func FindTurn(v *view.View) []*jobset.ReplicatedJob {
	var turn []*jobset.ReplicatedJob
	inOrder := startsInOrder(v)
	for i := range v.JobSet.Spec.ReplicatedJobs {
		rjob := &v.JobSet.Spec.ReplicatedJobs[i]
		seen := v.Observed.ByName[rjob.Name]
		runs := started(v, seen) && seen.Suspended == 0
		if inOrder && runs || !dependenciesReached(v, rjob) {
			continue
		}
		turn = append(turn, rjob)
		if inOrder {
			break
		}
	}
	return turn
}

func startsInOrder(v *view.View) bool {
	policy := v.JobSet.Spec.StartupPolicy
	return policy != nil && policy.StartupPolicyOrder == jobset.InOrder && !v.SuspendWanted()
}

// started reports whether all Jobs of a ReplicatedJob are ready or have ended.
func started(v *view.View, r *view.ReplicatedJob) bool {
	ready := int64(r.Ready)
	if v.Back != nil {
		ready = v.Back[r.Name]
	}
	return int64(r.Failed)+ready+int64(r.Succeeded) == int64(r.Replicas)
}

// CountBack counts, by ReplicatedJob, the Jobs whose workers are all done or back: at S+1 while the group assembles, at S while
// it runs. In process mode others wait for that, and not for readiness: a worker that is held, such as an sshd, is never
// ready (P126). So the pass that sees the last report gives the next Jobs their turn and does not lift. It returns nil if
// the group has no order of start, or readiness decides.
func CountBack(v *view.View) map[string]int64 {
	if !v.Watched || workerpod.ModeOf(v.JobSet.Spec.FailurePolicy) != jobset.ProcessMode || !hasOrder(v) {
		return nil
	}
	back := make(map[string]int64, len(v.Observed.ByName))
	for _, job := range v.Observed.Active {
		if job.DeletionTimestamp == nil && view.HasCondition(job, batchv1.JobSuccessCriteriaMet) {
			back[view.ReplicatedJobOf(job)]++
		}
	}
	for i := range v.Group.Jobs {
		if job := &v.Group.Jobs[i]; allBack(v, job) {
			back[view.ReplicatedJobOf(job.Job)]++
		}
	}
	return back
}

func allBack(v *view.View, job *view.JobSlots) bool {
	back := job.Done.Size()
	for i := range job.Slots {
		if job.Slots[i].State == view.SlotDone || v.IsBack(job.Slots[i]) {
			back++
		}
	}
	return back == job.Indexes
}

// StartsNext reports whether Jobs start that waited for the workers of others.
func StartsNext(v *view.View, writes *pass.Writes) bool {
	return v.Back != nil && writes.Does(pass.CreateJob|pass.ResumeJob)
}

// hasOrder reports whether some ReplicatedJobs wait for others to be ready.
func hasOrder(v *view.View) bool {
	return startsInOrder(v) || slices.ContainsFunc(v.JobSet.Spec.ReplicatedJobs, func(rjob jobset.ReplicatedJob) bool {
		return slices.ContainsFunc(rjob.DependsOn, func(d jobset.DependsOn) bool { return d.Status == jobset.DependencyReady })
	})
}

// dependenciesReached reports whether everything that a ReplicatedJob depends on has happened.
func dependenciesReached(v *view.View, rjob *jobset.ReplicatedJob) bool {
	for _, dependency := range rjob.DependsOn {
		first := v.Observed.ByName[dependency.Name]
		switch {
		case first == nil:
			return false
		case dependency.Status == jobset.DependencyComplete && first.Succeeded != first.Replicas:
			return false
		case dependency.Status == jobset.DependencyReady && !started(v, first):
			return false
		}
	}
	return true
}

// StartupCondition keeps the two conditions of an in-order start. The start is in
// progress while Jobs are still to be created or resumed. After that a worker
// that is not ready for a moment does not make it start again.
func StartupCondition(v *view.View, _ pass.Result) pass.Result {
	switch {
	case !startsInOrder(v):
		return pass.Result{}
	case len(v.Turn) == 0:
		return startup(v, jobset.JobSetStartupPolicyCompleted, jobset.JobSetStartupPolicyInProgress,
			constants.InOrderCompletedReason, constants.InOrderCompletedMessage)
	case jobsToStart(v):
		return startup(v, jobset.JobSetStartupPolicyInProgress, jobset.JobSetStartupPolicyCompleted,
			constants.InOrderInProgressReason, constants.InOrderInProgressMessage)
	}
	return pass.Result{}
}

func jobsToStart(v *view.View) bool {
	for _, rjob := range v.Observed.ByName {
		if rjob.Suspended > 0 {
			return true
		}
	}
	return LacksJobs(v)
}

// LacksJobs reports whether there are Jobs to create.
func LacksJobs(v *view.View) bool {
	for _, rjob := range v.Observed.ByName {
		if rjob.Jobs < rjob.Replicas {
			return true
		}
	}
	return false
}

// startup makes one of the two conditions True. The other, which excludes it,
// turns False and keeps its reason and message.
func startup(v *view.View, conditionType, other jobset.JobSetConditionType, reason, message string) pass.Result {
	becomes := pass.BecomesTrue(conditionType, reason, message)
	if c := v.TrueCondition(other); c != nil {
		return pass.Tell(pass.Silently(other, metav1.ConditionFalse, c.Reason, c.Message), becomes)
	}
	return pass.Tell(becomes)
}
