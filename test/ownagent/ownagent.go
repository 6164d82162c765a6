/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package ownagent makes templates that bring their agent, as authors write them who do not leave that to the manager.
package ownagent

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Job returns a copy of a Job template whose Pods have an agent, behind their other init containers, and run with an account.
func Job(template *batchv1.JobTemplateSpec, account string, options workerpod.Options) *batchv1.JobTemplateSpec {
	out := template.DeepCopy()
	workerpod.DefaultJob(&out.Spec)
	out.Spec.Template = *Pod(&out.Spec.Template, account, options)
	return out
}

// Pod does the same for a Pod template. What the template says about its restarts stays.
func Pod(template *corev1.PodTemplateSpec, account string, options workerpod.Options) *corev1.PodTemplateSpec {
	out := template.DeepCopy()
	spec := &out.Spec
	spec.RestartPolicy = cmp.Or(spec.RestartPolicy, jobset.DefaultInPlaceRestartPolicy)
	spec.ServiceAccountName = cmp.Or(spec.ServiceAccountName, account)
	agent := workerpod.Agent(options)
	for i := range spec.Containers {
		worker := &spec.Containers[i]
		if len(worker.RestartPolicyRules) == 0 {
			worker.RestartPolicyRules = workerpod.RestartAllUnless(0)
		}
		if worker.RestartPolicy == nil {
			worker.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
		}
		// Where the containers bring profiles of their own, the agent must not be the one that Pod Security refuses.
		ofPod := spec.SecurityContext != nil && spec.SecurityContext.SeccompProfile != nil
		if sc := worker.SecurityContext; !ofPod && sc != nil && sc.SeccompProfile != nil {
			agent.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
		}
	}
	spec.InitContainers = append(spec.InitContainers, agent)
	return out
}
