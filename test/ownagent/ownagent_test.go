/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ownagent

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestTheTemplateIsAdmitted(t *testing.T) {
	profile := &corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	for name, tc := range map[string]struct {
		options workerpod.Options
		worker  corev1.Container
	}{
		"P41, P42: with the smallest options":         {workerpod.Options{AgentImage: "agent"}, corev1.Container{Name: "worker"}},
		"P41, P42: with every option":                 {workerpod.Options{AgentImage: "agent", BarrierPort: 9000, Resources: &corev1.ResourceRequirements{}}, corev1.Container{Name: "worker"}},
		"P42: with a worker that has its own profile": {workerpod.Options{AgentImage: "agent"}, corev1.Container{Name: "worker", SecurityContext: profile}},
	} {
		t.Run(name, func(t *testing.T) {
			template := &batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{tc.worker}}}}}
			js := &jobset.JobSet{}
			js.Name = "js"
			js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart, MaxRestarts: 1}
			js.Spec.ReplicatedJobs = []jobset.ReplicatedJob{{Name: "workers", GroupName: "default", Replicas: 2, Template: *Job(template, "sa", tc.options)}}
			on := gates.Set{InPlaceRestart: true}
			if errs := validation.Create(js, on); len(errs) > 0 {
				t.Errorf("refused: %v", errs)
			}
			if warnings := validation.Warnings(js, on); len(warnings) > 0 {
				t.Errorf("warned: %q", warnings)
			}
			agent := js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.InitContainers[0]
			if has := agent.SecurityContext.SeccompProfile != nil; has != (tc.worker.SecurityContext != nil) {
				t.Errorf("the agent has a profile: %t", has)
			}
		})
	}
}
