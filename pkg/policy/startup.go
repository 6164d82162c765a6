/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
)

// turn returns the ReplicatedJobs whose Jobs may be created or resumed now, in
// the order of the spec.
//
//	AnyOrder               all whose dependsOn is fulfilled
//	InOrder                the first that has not started, or has Jobs that are still
//	                       suspended; nobody waits while the JobSet is suspended
//
//	a started   b not started   c not started     InOrder: b has its turn, c waits for b
func (d *decision) turn() []*jobset.ReplicatedJob {
	var turn []*jobset.ReplicatedJob
	inOrder := d.inOrder() && !d.suspendWanted()
	for i := range d.in.JobSet.Spec.ReplicatedJobs {
		rjob := &d.in.JobSet.Spec.ReplicatedJobs[i]
		runs := d.started(rjob.Name, children.Replicas(rjob)) && d.observed.byName[rjob.Name].Suspended == 0
		if inOrder && runs || !d.dependenciesReached(rjob) {
			continue
		}
		turn = append(turn, rjob)
		if inOrder {
			break
		}
	}
	if inOrder {
		d.startupProgress(len(turn) == 0)
	}
	return turn
}

func (d *decision) inOrder() bool {
	policy := d.in.JobSet.Spec.StartupPolicy
	return policy != nil && policy.StartupPolicyOrder == jobset.InOrder
}

// started tells whether all Jobs of a ReplicatedJob are ready or have ended.
func (d *decision) started(name string, replicas int32) bool {
	status := d.observed.byName[name]
	return status != nil && int64(status.Failed)+int64(status.Ready)+int64(status.Succeeded) == int64(replicas)
}

// dependenciesReached tells whether all that a ReplicatedJob depends on has come to pass.
func (d *decision) dependenciesReached(rjob *jobset.ReplicatedJob) bool {
	for _, dependency := range rjob.DependsOn {
		replicas, known := d.replicasOf(dependency.Name)
		switch {
		case !known:
			return false
		case dependency.Status == jobset.DependencyComplete && !d.completed(dependency.Name, replicas):
			return false
		case dependency.Status == jobset.DependencyReady && !d.started(dependency.Name, replicas):
			return false
		}
	}
	return true
}

// completed tells whether all Jobs of a ReplicatedJob succeeded.
func (d *decision) completed(name string, replicas int32) bool {
	status := d.observed.byName[name]
	return status != nil && status.Succeeded == replicas
}

func (d *decision) replicasOf(name string) (replicas int32, known bool) {
	for i := range d.in.JobSet.Spec.ReplicatedJobs {
		if rjob := &d.in.JobSet.Spec.ReplicatedJobs[i]; rjob.Name == name {
			return children.Replicas(rjob), true
		}
	}
	return 0, false
}

// doneDependencies are the ReplicatedJobs that others waited for to complete, and that did.
func (d *decision) doneDependencies() map[string]bool {
	done := map[string]bool{}
	for i := range d.in.JobSet.Spec.ReplicatedJobs {
		for _, dependency := range d.in.JobSet.Spec.ReplicatedJobs[i].DependsOn {
			replicas, known := d.replicasOf(dependency.Name)
			if known && dependency.Status == jobset.DependencyComplete && d.completed(dependency.Name, replicas) {
				done[dependency.Name] = true
			}
		}
	}
	return done
}

// startupProgress keeps the two conditions of an in-order start. The start is in
// progress while Jobs are still to be created or resumed. After that a worker
// that is not ready for a moment does not make it start again.
func (d *decision) startupProgress(allStarted bool) {
	switch {
	case allStarted:
		d.startup(jobset.JobSetStartupPolicyCompleted, jobset.JobSetStartupPolicyInProgress,
			constants.InOrderCompletedReason, constants.InOrderCompletedMessage)
	case d.jobsToStart():
		d.startup(jobset.JobSetStartupPolicyInProgress, jobset.JobSetStartupPolicyCompleted,
			constants.InOrderInProgressReason, constants.InOrderInProgressMessage)
	}
}

func (d *decision) jobsToStart() bool {
	for i := range d.in.JobSet.Spec.ReplicatedJobs {
		rjob := &d.in.JobSet.Spec.ReplicatedJobs[i]
		if d.observed.current[rjob.Name] < children.Replicas(rjob) || d.observed.byName[rjob.Name].Suspended > 0 {
			return true
		}
	}
	return false
}

// startup makes one of the two conditions True. The other, which excludes it,
// turns False and keeps its reason and message.
func (d *decision) startup(conditionType, other jobset.JobSetConditionType, reason, message string) {
	if c := apimeta.FindStatusCondition(d.plan.Status.Conditions, string(other)); c != nil && c.Status == metav1.ConditionTrue {
		c.Status, c.LastTransitionTime = metav1.ConditionFalse, metav1.NewTime(d.in.Now)
	}
	d.set(conditionType, reason, message)
}
