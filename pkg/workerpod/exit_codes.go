/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// maxRuleCodes is how many exit codes the API takes in one restart rule.
const maxRuleCodes = 255

// workerRules take an action, which restarts the Pod or the container, on every exit code
// of a worker but 0, those of recreate, and those that podFailurePolicy acts on: with the
// latter the container stays as it is, so that Kubernetes acts. No rules:
// podFailurePolicy acts on every failure.
func workerRules(action corev1.ContainerRestartRuleAction, worker string, policy *batchv1.PodFailurePolicy, recreate []int32) []corev1.ContainerRestartRule {
	out := append([]int32{0}, recreate...)
	all := true // all codes but those of out restart in place
	if policy != nil {
		for i := range policy.Rules {
			when := policy.Rules[i].OnExitCodes
			if when == nil || when.ContainerName != nil && *when.ContainerName != worker {
				continue
			}
			if when.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
				out = append(out, when.Values...)
			} else {
				all = false
			}
		}
	}
	if out = sorted(out); all && len(out) <= maxRuleCodes {
		rules := RestartAllUnless(out...)
		rules[0].Action = action
		return rules
	}
	var in []int32
	for code := int32(1); code <= maxExitCode; code++ {
		if !slices.Contains(out, code) && ActedOn(policy, worker, code) < 0 {
			in = append(in, code)
		}
	}
	if len(in) == 0 {
		return nil
	}
	rules := RestartAllUnless(in...)
	rules[0].Action, rules[0].ExitCodes.Operator = action, corev1.ContainerRestartRuleOnExitCodesOpIn
	return rules
}

// ActedOn returns the first rule of a podFailurePolicy that acts when a container fails with a code, or -1.
func ActedOn(policy *batchv1.PodFailurePolicy, container string, code int32) int {
	if policy == nil {
		return -1
	}
	return slices.IndexFunc(policy.Rules, func(rule batchv1.PodFailurePolicyRule) bool {
		when := rule.OnExitCodes
		if when == nil || when.ContainerName != nil && *when.ContainerName != container {
			return false
		}
		return slices.Contains(when.Values, code) == (when.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn)
	})
}
