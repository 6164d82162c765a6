/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// SuccessPolicy completes the JobSet when enough of the targeted Jobs succeeded. Without a policy
// all Jobs count.
func SuccessPolicy(v *view.View, _ pass.Result) pass.Result {
	if len(v.Observed.Successful) == 0 || !SuccessMet(v, v.Observed.Successful) {
		return pass.Result{}
	}
	return pass.Complete()
}

// SuccessMet reports whether these are enough successful Jobs.
func SuccessMet(v *view.View, successful []*batchv1.Job) bool {
	policy := v.JobSet.Spec.SuccessPolicy
	if policy == nil {
		policy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll}
	}
	targets := sets.New(policy.TargetReplicatedJobs...) // looked up for each Job (C382)
	targeted := func(name string) bool { return len(targets) == 0 || targets.Has(name) }
	var have, need int64
	for _, job := range successful {
		if targeted(view.ReplicatedJobOf(job)) {
			have++
		}
	}
	for i := range v.JobSet.Spec.ReplicatedJobs {
		if rjob := &v.JobSet.Spec.ReplicatedJobs[i]; targeted(rjob.Name) {
			need += int64(rjob.Replicas)
		}
	}
	if policy.Operator == jobset.OperatorAny {
		need = 1
	}
	return have >= need
}
