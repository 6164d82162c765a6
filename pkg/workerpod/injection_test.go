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
	reads := func(names ...string) corev1.Container {
		c := corev1.Container{Name: "metrics", RestartPolicy: always}
		for _, name := range names {
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: "1"})
		}
		return c
	}
	with := func(c corev1.Container, change func(*corev1.Container)) corev1.Container { change(&c); return c }
	restart := workerpod.RestartAllUnless(64)
	restart[0].Action = corev1.ContainerRestartRuleActionRestart
	for name, tc := range map[string]struct {
		init corev1.Container
		want bool
	}{
		"P50: the agent as we write it":                         {workerpod.Agent(workerpod.Options{}), true},
		"P60a: a sidecar with a variable of ours":               {reads("JOBSET_NAME"), false},
		"P60a: a sidecar with all variables of ours":            {reads("NAMESPACE", "POD_NAME", "JOBSET_NAME", "JOBSET_UID"), false},
		"P60a: with one of them, and our name":                  {with(reads("JOBSET_NAME"), func(c *corev1.Container) { c.Name = "jobset-agent" }), true},
		"P60a: with one of them, and our port":                  {reads("JOBSET_NAME", "BARRIER_PORT"), true},
		"P60a: with one of them, and a rule for our code":       {with(reads("JOBSET_NAME"), func(c *corev1.Container) { c.RestartPolicyRules = restartAll(64) }), true},
		"P60a: with one of them, and a code that is set":        {reads("JOBSET_NAME", "RESTART_POD_IN_PLACE_EXIT_CODE"), true},
		"P60a: with one of them, and a rule for another code":   {with(reads("JOBSET_NAME"), func(c *corev1.Container) { c.RestartPolicyRules = restartAll(88) }), false},
		"P60a: with one of them, and a probe of its own":        {with(reads("JOBSET_NAME"), func(c *corev1.Container) { c.StartupProbe = probe }), false},
		"P60a: a sidecar of our image":                          {corev1.Container{RestartPolicy: always, Image: "registry.example:5000/jobset/agent:v1@sha256:0"}, true},
		"P60a: one of our image under another name":             {corev1.Container{RestartPolicy: always, Image: "registry.example/jobset-agent"}, true},
		"P60a: one of another agent":                            {with(reads("JOBSET_NAME"), func(c *corev1.Container) { c.Image = "example/agent:7" }), false},
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
