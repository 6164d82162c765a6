/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// exitAction is what the exit of one container asks for.
type exitAction string

const (
	stayDown    exitAction = "StayDown"
	restartOne  exitAction = "RestartOne"
	restartPod  exitAction = "RestartAllContainers"
	noRuleMatch exitAction = ""
)

// onExit tells what a container asks for that ended with the given code. The order of precedence is a kubelet's: the
// first matching rule, then the policy of the container, then the policy of the Pod. Rules without a container-level
// policy cannot reach a node through the API server.
func onExit(c *corev1.Container, podPolicy corev1.RestartPolicy, code int32) exitAction {
	if action := matchRule(c.RestartPolicyRules, code); action != noRuleMatch {
		return action
	}
	policy := string(podPolicy)
	if c.RestartPolicy != nil {
		policy = string(*c.RestartPolicy)
	}
	switch {
	case policy == string(corev1.RestartPolicyAlways), policy == "":
		return restartOne
	case policy == string(corev1.RestartPolicyOnFailure) && code != 0:
		return restartOne
	}
	return stayDown
}

// matchRule returns the action of the first rule that matches. A rule with an action this package does not know matches
// nothing more: a kubelet falls back to the policies then, and does not look at later rules.
func matchRule(rules []corev1.ContainerRestartRule, code int32) exitAction {
	for i := range rules {
		if !ruleMatches(rules[i].ExitCodes, code) {
			continue
		}
		switch rules[i].Action {
		case corev1.ContainerRestartRuleActionRestart:
			return restartOne
		case corev1.ContainerRestartRuleActionRestartAllContainers:
			return restartPod
		}
		return noRuleMatch
	}
	return noRuleMatch
}

func ruleMatches(when *corev1.ContainerRestartRuleOnExitCodes, code int32) bool {
	if when == nil {
		return false
	}
	listed := slices.Contains(when.Values, code)
	switch when.Operator {
	case corev1.ContainerRestartRuleOnExitCodesOpIn:
		return listed
	case corev1.ContainerRestartRuleOnExitCodesOpNotIn:
		return !listed
	}
	return false
}

// isSidecar reports whether an init container is a restartable one.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// hasRestartAllRule reports whether some container of the Pod can restart them all; only such Pods carry the condition.
func hasRestartAllRule(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
		return slices.ContainsFunc(c.RestartPolicyRules, func(rule corev1.ContainerRestartRule) bool {
			return rule.Action == corev1.ContainerRestartRuleActionRestartAllContainers
		})
	})
}
