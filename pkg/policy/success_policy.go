/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
)

// successPolicy completes the JobSet when enough of the targeted Jobs
// succeeded, and tells whether it did. Without a policy all Jobs count.
func (d *decision) successPolicy() bool {
	if len(d.observed.Successful) == 0 {
		return false
	}
	policy := d.in.JobSet.Spec.SuccessPolicy
	if policy == nil {
		policy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll}
	}
	targeted := func(name string) bool {
		return len(policy.TargetReplicatedJobs) == 0 || slices.Contains(policy.TargetReplicatedJobs, name)
	}
	var have, need int64
	for _, job := range d.observed.Successful {
		if targeted(replicatedJobOf(job)) {
			have++
		}
	}
	for i := range d.in.JobSet.Spec.ReplicatedJobs {
		if rjob := &d.in.JobSet.Spec.ReplicatedJobs[i]; targeted(rjob.Name) {
			need += int64(children.Replicas(rjob))
		}
	}
	if policy.Operator == jobset.OperatorAny {
		need = 1
	}
	if have < need {
		return false
	}
	d.complete()
	return true
}
