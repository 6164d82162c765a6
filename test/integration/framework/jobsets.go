/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/ownagent"
)

// AgentAccount is the service account that config/components/agent-access makes.
const AgentAccount = "jobset-agent"

// Injection is what managers here add to worker Pods without an agent.
var Injection = workerpod.Injection{Image: "agent"}

// JobSet is a JobSet of these ReplicatedJobs.
func JobSet(name string, jobs ...jobset.ReplicatedJob) *jobset.JobSet {
	return &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       jobset.JobSetSpec{ReplicatedJobs: jobs},
	}
}

// Replicated is a ReplicatedJob of this many Jobs with this many workers each.
func Replicated(name string, replicas, workers int32) jobset.ReplicatedJob {
	return jobset.ReplicatedJob{
		Name:     name,
		Replicas: replicas,
		Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Parallelism: ptr.To(workers),
			Completions: ptr.To(workers),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "worker", Image: "worker"}},
			}},
		}},
	}
}

// AB is the JobSet of most specs: one Job a, three Jobs b, a worker each.
func AB() *jobset.JobSet {
	return JobSet("js", Replicated("a", 1, 1), Replicated("b", 3, 1))
}

// InPlace makes a JobSet restart in place, agents included.
func InPlace(js *jobset.JobSet, maxRestarts int32) *jobset.JobSet {
	js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: maxRestarts, RestartStrategy: jobset.InPlaceRestart}
	for i := range js.Spec.ReplicatedJobs {
		template := &js.Spec.ReplicatedJobs[i].Template
		*template = *ownagent.Job(template, AgentAccount, workerpod.Options{AgentImage: "agent"})
	}
	return js
}

// Training is a JobSet of one Job that restarts its workers in place.
func Training(workers, maxRestarts int32) *jobset.JobSet {
	return InPlace(JobSet("train", Replicated("workers", 1, workers)), maxRestarts)
}

// PodTemplate is the Pod template of a ReplicatedJob.
func PodTemplate(js *jobset.JobSet, i int) *corev1.PodTemplateSpec {
	return &js.Spec.ReplicatedJobs[i].Template.Spec.Template
}

// JobTemplate is the Job template of a ReplicatedJob.
func JobTemplate(js *jobset.JobSet, i int) *batchv1.JobSpec {
	return &js.Spec.ReplicatedJobs[i].Template.Spec
}
