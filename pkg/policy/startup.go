/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// findTurn returns the ReplicatedJobs whose Jobs may be created or resumed now, in
// the order of the spec.
//
//	AnyOrder               all whose dependsOn is fulfilled
//	InOrder                the first that has not started, or has Jobs that are still
//	                       suspended; no Job waits while the JobSet is suspended
//
//	a started   b not started   c not started     InOrder: b has its turn, c waits for b
func (v *view) findTurn() []*jobset.ReplicatedJob {
	var turn []*jobset.ReplicatedJob
	inOrder := v.startsInOrder()
	for i := range v.JobSet.Spec.ReplicatedJobs {
		rjob := &v.JobSet.Spec.ReplicatedJobs[i]
		seen := v.observed.byName[rjob.Name]
		runs := v.started(seen) && seen.Suspended == 0
		if inOrder && runs || !v.dependenciesReached(rjob) {
			continue
		}
		turn = append(turn, rjob)
		if inOrder {
			break
		}
	}
	return turn
}

func (v *view) startsInOrder() bool {
	policy := v.JobSet.Spec.StartupPolicy
	return policy != nil && policy.StartupPolicyOrder == jobset.InOrder && !v.suspendWanted()
}

// started reports whether all Jobs of a ReplicatedJob are ready or have ended.
func (v *view) started(r *replicatedJob) bool {
	ready := int64(r.Ready)
	if v.back != nil {
		ready = v.back[r.Name]
	}
	return int64(r.Failed)+ready+int64(r.Succeeded) == int64(r.replicas)
}

// jobsBack counts, by ReplicatedJob, the Jobs whose workers are all done or back: at S+1 while the group assembles, at S while
// it runs. In process mode others wait for that, and not for readiness: a worker that is held, such as an sshd, is never
// ready (P126). So the pass that sees the last report gives the next Jobs their turn and does not lift. It returns nil if
// the group has no order of start, or readiness decides.
func (v *view) jobsBack() map[string]int64 {
	if !v.watched || workerpod.ModeOf(v.JobSet.Spec.FailurePolicy) != jobset.ProcessMode || !v.hasOrder() {
		return nil
	}
	back := make(map[string]int64, len(v.observed.byName))
	for _, job := range v.observed.Active {
		if job.DeletionTimestamp == nil && hasCondition(job, batchv1.JobSuccessCriteriaMet) {
			back[replicatedJobOf(job)]++
		}
	}
	for i := range v.group.jobs {
		if job := &v.group.jobs[i]; v.allBack(job) {
			back[replicatedJobOf(job.Job)]++
		}
	}
	return back
}

func (v *view) allBack(job *jobSlots) bool {
	back := job.done.size()
	for i := range job.slots {
		if job.slots[i].State == slotDone || v.isBack(job.slots[i]) {
			back++
		}
	}
	return back == job.size
}

// startsNext reports whether Jobs start that waited for the workers of others.
func (v *view) startsNext(writes *Writes) bool {
	return v.back != nil && writes.Does(CreateJob|ResumeJob)
}

// hasOrder reports whether some ReplicatedJobs wait for others to be ready.
func (v *view) hasOrder() bool {
	return v.startsInOrder() || slices.ContainsFunc(v.JobSet.Spec.ReplicatedJobs, func(rjob jobset.ReplicatedJob) bool {
		return slices.ContainsFunc(rjob.DependsOn, func(d jobset.DependsOn) bool { return d.Status == jobset.DependencyReady })
	})
}

// dependenciesReached reports whether everything that a ReplicatedJob depends on has happened.
func (v *view) dependenciesReached(rjob *jobset.ReplicatedJob) bool {
	for _, dependency := range rjob.DependsOn {
		first := v.observed.byName[dependency.Name]
		switch {
		case first == nil:
			return false
		case dependency.Status == jobset.DependencyComplete && first.Succeeded != first.replicas:
			return false
		case dependency.Status == jobset.DependencyReady && !v.started(first):
			return false
		}
	}
	return true
}

// startupCondition keeps the two conditions of an in-order start. The start is in
// progress while Jobs are still to be created or resumed. After that a worker
// that is not ready for a moment does not make it start again.
func startupCondition(v *view, _ result) result {
	switch {
	case !v.startsInOrder():
		return result{}
	case len(v.turn) == 0:
		return v.startup(jobset.JobSetStartupPolicyCompleted, jobset.JobSetStartupPolicyInProgress,
			constants.InOrderCompletedReason, constants.InOrderCompletedMessage)
	case v.jobsToStart():
		return v.startup(jobset.JobSetStartupPolicyInProgress, jobset.JobSetStartupPolicyCompleted,
			constants.InOrderInProgressReason, constants.InOrderInProgressMessage)
	}
	return result{}
}

func (v *view) jobsToStart() bool {
	for _, rjob := range v.observed.byName {
		if rjob.Suspended > 0 {
			return true
		}
	}
	return v.lacksJobs()
}

// lacksJobs reports whether there are Jobs to create.
func (v *view) lacksJobs() bool {
	for _, rjob := range v.observed.byName {
		if rjob.jobs < rjob.replicas {
			return true
		}
	}
	return false
}

// startup makes one of the two conditions True. The other, which excludes it,
// turns False and keeps its reason and message.
func (v *view) startup(conditionType, other jobset.JobSetConditionType, reason, message string) result {
	becomes := becomesTrue(conditionType, reason, message)
	if c := v.trueCondition(other); c != nil {
		return tell(silently(other, metav1.ConditionFalse, c.Reason, c.Message), becomes)
	}
	return tell(becomes)
}
