/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Default fills in what a new JobSet leaves open. It is pure and never
// rejects. It runs on creation only: a default that came later would look
// like a change of a field that must not change.
func Default(js *jobset.JobSet) {
	setDefault(&js.Spec.SuccessPolicy, jobset.SuccessPolicy{Operator: jobset.OperatorAll})
	setDefault(&js.Spec.StartupPolicy, jobset.StartupPolicy{StartupPolicyOrder: jobset.AnyOrder})

	for i := range js.Spec.ReplicatedJobs {
		job := &js.Spec.ReplicatedJobs[i].Template.Spec
		setDefault(&job.CompletionMode, batchv1.IndexedCompletion)
		if job.Template.Spec.RestartPolicy == "" {
			job.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		}
	}

	setDefault(&js.Spec.Network, jobset.Network{})
	setDefault(&js.Spec.Network.EnableDNSHostnames, true)
	setDefault(&js.Spec.Network.PublishNotReadyAddresses, true)

	if js.Spec.FailurePolicy != nil {
		for i := range js.Spec.FailurePolicy.Rules {
			if rule := &js.Spec.FailurePolicy.Rules[i]; rule.Name == "" {
				rule.Name = fmt.Sprintf("failurePolicyRule%d", i)
			}
		}
	}
	for i := range js.Spec.VolumeClaimPolicies {
		whenDeleted := jobset.RetentionPolicyDelete
		setDefault(&js.Spec.VolumeClaimPolicies[i].RetentionPolicy, jobset.VolumeRetentionPolicy{WhenDeleted: &whenDeleted})
	}
}

// setDefault fills an absent field.
func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
