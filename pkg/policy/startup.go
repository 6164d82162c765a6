/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
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
		runs := seen.started() && seen.Suspended == 0
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
func (r *replicatedJob) started() bool {
	return int64(r.Failed)+int64(r.Ready)+int64(r.Succeeded) == int64(r.replicas)
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
		case dependency.Status == jobset.DependencyReady && !first.started():
			return false
		}
	}
	return true
}

// doneDependencies returns the ReplicatedJobs that others waited for to complete, and that did.
func (v *view) doneDependencies() map[string]bool {
	done := map[string]bool{}
	for i := range v.JobSet.Spec.ReplicatedJobs {
		for _, dependency := range v.JobSet.Spec.ReplicatedJobs[i].DependsOn {
			first := v.observed.byName[dependency.Name]
			if first != nil && dependency.Status == jobset.DependencyComplete && first.Succeeded == first.replicas {
				done[dependency.Name] = true
			}
		}
	}
	return done
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
		if rjob.jobs < rjob.replicas || rjob.Suspended > 0 {
			return true
		}
	}
	return false
}

// startup makes one of the two conditions True. The other, which excludes it,
// turns False and keeps its reason and message.
func (v *view) startup(conditionType, other jobset.JobSetConditionType, reason, message string) result {
	becomes := becomesTrue(conditionType, reason, message)
	if c := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(other)); c != nil && c.Status == metav1.ConditionTrue {
		return tell(silently(other, metav1.ConditionFalse, c.Reason, c.Message), becomes)
	}
	return tell(becomes)
}
