/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestHoldsAgent(t *testing.T) {
	always := ptr.To(corev1.ContainerRestartPolicyAlways)
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready"}}}
	restart := workerpod.RestartAllUnless(64)
	restart[0].Action = corev1.ContainerRestartRuleActionRestart
	for name, tc := range map[string]struct {
		init corev1.Container
		want bool
	}{
		"P50: the agent as we write it":                         {workerpod.Agent(workerpod.Options{}), true},
		"P50: a sidecar with the variable of ours":              {corev1.Container{RestartPolicy: always, Env: []corev1.EnvVar{{Name: "JOBSET_NAME"}}}, true},
		"P50: a sidecar with the probe of ours":                 {corev1.Container{RestartPolicy: always, StartupProbe: workerpod.StartupProbe(80)}, true},
		"P50: an agent built by others":                         {corev1.Container{RestartPolicy: always, RestartPolicyRules: restartAll(64), StartupProbe: probe}, true},
		"P50: a sidecar that restarts everything, but no probe": {corev1.Container{RestartPolicy: always, RestartPolicyRules: restartAll(0)}, false},
		"P50: a sidecar with a probe that restarts alone":       {corev1.Container{RestartPolicy: always, RestartPolicyRules: restart, StartupProbe: probe}, false},
		"P50: a sidecar of a mesh":                              {corev1.Container{Name: "istio-proxy", RestartPolicy: always, StartupProbe: probe}, false},
		"P50: a sidecar that has our name and nothing else":     {corev1.Container{Name: "jobset-agent", RestartPolicy: always}, false},
		"P50: an init container that reads JOBSET_NAME":         {corev1.Container{Env: []corev1.EnvVar{{Name: "JOBSET_NAME"}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &corev1.PodSpec{InitContainers: []corev1.Container{{Name: "download"}, tc.init}}
			if got := workerpod.HoldsAgent(spec); got != tc.want {
				t.Errorf("HoldsAgent = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestIsInjected(t *testing.T) {
	agent := workerpod.Agent(workerpod.Options{})
	for name, tc := range map[string]struct {
		policy *jobset.FailurePolicy
		inits  []corev1.Container
		want   bool
	}{
		"P50: a template without an agent":         {policy: &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart}, want: true},
		"P50: a template that its author prepared": {policy: &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart}, inits: []corev1.Container{agent}},
		"P50: another strategy":                    {policy: &jobset.FailurePolicy{RestartStrategy: jobset.Recreate}},
		"P50: a JobSet without a failure policy":   {},
	} {
		t.Run(name, func(t *testing.T) {
			js := &jobset.JobSet{Spec: jobset.JobSetSpec{FailurePolicy: tc.policy, ReplicatedJobs: make([]jobset.ReplicatedJob, 1)}}
			js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.InitContainers = tc.inits
			if got := workerpod.IsInjected(js, &js.Spec.ReplicatedJobs[0]); got != tc.want {
				t.Errorf("IsInjected = %t, want %t", got, tc.want)
			}
		})
	}
}
