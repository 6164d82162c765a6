/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/workerpod"
)

func restartAll(unless ...int32) []corev1.ContainerRestartRule {
	return []corev1.ContainerRestartRule{{
		Action:    "RestartAllContainers",
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: "NotIn", Values: unless},
	}}
}

func TestActionOn(t *testing.T) {
	rule := func(action corev1.ContainerRestartRuleAction, op corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) corev1.ContainerRestartRule {
		return corev1.ContainerRestartRule{Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: op, Values: codes}}
	}
	rules := []corev1.ContainerRestartRule{{Action: "Restart"}, rule("Restart", "In", 1, 2), rule("Odd", "Nonsense", 1), rule("RestartAllContainers", "NotIn", 64)}
	for name, tc := range map[string]struct {
		code int32
		want corev1.ContainerRestartRuleAction
	}{
		"the first rule that matches decides": {2, "Restart"},
		"NotIn takes the rest":                {88, "RestartAllContainers"},
		"no rule matches":                     {64, ""},
		"zero is a code as any other":         {0, "RestartAllContainers"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := workerpod.ActionOn(rules, tc.code); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
