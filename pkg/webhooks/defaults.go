/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Default fills in the defaults of a new JobSet. It is pure and never
// rejects. It runs on creation only: a default that a stored JobSet lacks would look
// like a change of an immutable field. Updates are filled in by Keep.
func Default(js *jobset.JobSet, g gates.Set) {
	defaultElastic(js, g)
	if workerpod.RestartsInPlace(js, g) {
		defaultInPlace(js)
	}
	setDefault(&js.Spec.SuccessPolicy, jobset.SuccessPolicy{Operator: jobset.DefaultSuccessPolicyOperator})
	setDefault(&js.Spec.StartupPolicy, jobset.StartupPolicy{StartupPolicyOrder: jobset.DefaultStartupPolicyOrder})

	for i := range js.Spec.ReplicatedJobs {
		job := &js.Spec.ReplicatedJobs[i].Template.Spec
		setDefault(&job.CompletionMode, jobset.DefaultCompletionMode)
		job.Template.Spec.RestartPolicy = cmp.Or(job.Template.Spec.RestartPolicy, jobset.DefaultRestartPolicy)
	}

	setDefault(&js.Spec.Network, jobset.Network{})
	setDefault(&js.Spec.Network.EnableDNSHostnames, jobset.DefaultEnableDNSHostnames)
	setDefault(&js.Spec.Network.PublishNotReadyAddresses, jobset.DefaultPublishNotReadyAddresses)

	if js.Spec.FailurePolicy != nil {
		nameRules(js.Spec.FailurePolicy.Rules)
	}
	for i := range js.Spec.VolumeClaimPolicies {
		setDefault(&js.Spec.VolumeClaimPolicies[i].RetentionPolicy, jobset.VolumeRetentionPolicy{WhenDeleted: ptr.To(jobset.DefaultRetentionPolicy)})
	}
}

// nameRules names rules without a name by their position. If a user has given
// that name to another rule, it uses the numbers after the last position.
func nameRules(rules []jobset.FailurePolicyRule) {
	taken := sets.New[string]()
	for i := range rules {
		taken.Insert(rules[i].Name)
	}
	next := len(rules)
	for i := range rules {
		if rules[i].Name != "" {
			continue
		}
		name := ruleName(i)
		for ; taken.Has(name); next++ {
			name = ruleName(next)
		}
		rules[i].Name = name
		taken.Insert(name)
	}
}

func ruleName(number int) string { return fmt.Sprintf(jobset.DefaultFailurePolicyRuleName, number) }

// setDefault fills an absent field.
func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
