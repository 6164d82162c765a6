/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

const (
	jobSetName = "training"
	replicated = "workers"
	// grace is how long a Pod that is deleted may take to end, in seconds.
	grace = 5
	// stubborn is how long a worker that is told to stop can go on: longer than
	// the kubelet waits when it restarts all containers.
	stubborn = "20s"
)

// Shape is a JobSet as stories vary it. The zero value of a field is the usual case.
type Shape struct {
	// Jobs of Workers Pods each: 1 of 2.
	Jobs, Workers int32
	// Strategy is InPlaceRestart, with up to MaxRestarts restarts: 100. NoRestarts is none.
	Strategy    jobset.JobSetRestartStrategy
	MaxRestarts int32
	NoRestarts  bool
	// Rules of the failure policy.
	Rules []jobset.FailurePolicyRule
	// FailJobOn and RecreatePodOn are exit codes of workers that do not restart the Pod in place.
	FailJobOn, RecreatePodOn []int32
	// AgentObeys makes the agent one that ends by order with any exit code.
	AgentObeys bool
	// SlowToStop makes workers outlive SIGTERM until they are killed.
	SlowToStop bool
	// Change is for what only one story does.
	Change func(*jobset.JobSet)
}

func (s Shape) withDefaults() Shape {
	if s.Jobs == 0 {
		s.Jobs = 1
	}
	if s.Workers == 0 {
		s.Workers = 2
	}
	if s.Strategy == "" {
		s.Strategy = jobset.InPlaceRestart
	}
	if s.MaxRestarts == 0 && !s.NoRestarts {
		s.MaxRestarts = 100
	}
	return s
}

func (s Shape) size() int { return int(s.Jobs * s.Workers) }

func (s Shape) inPlace() bool { return s.Strategy == jobset.InPlaceRestart }

// jobSet builds the JobSet of a shape that has its defaults.
func (s Shape) jobSet(namespace string) *jobset.JobSet {
	job := batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
		Parallelism: ptr.To(s.Workers),
		Template:    s.pod(),
	}}
	if s.inPlace() {
		job = *workerpod.PrepareJob(&job, workerpod.Options{
			AgentImage:         AgentImage,
			ServiceAccountName: account,
			FailJobOn:          s.FailJobOn,
			RecreatePodOn:      s.RecreatePodOn,
		})
	} else {
		// What a user who wants fast restarts writes: the first failure counts.
		job.Spec.BackoffLimit = ptr.To[int32](0)
		job.Spec.Completions = ptr.To(s.Workers)
		job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	if s.AgentObeys {
		s.obedientAgent(&job.Spec.Template.Spec)
	}
	js := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: jobSetName},
		Spec: jobset.JobSetSpec{
			FailurePolicy: &jobset.FailurePolicy{RestartStrategy: s.Strategy, MaxRestarts: s.MaxRestarts, Rules: s.Rules},
			ReplicatedJobs: []jobset.ReplicatedJob{{
				Name: replicated, Replicas: ptr.To(s.Jobs), Template: job,
			}},
		},
	}
	if s.Change != nil {
		s.Change(js)
	}
	return js
}

func (s Shape) pod() corev1.PodTemplateSpec {
	worker := corev1.Container{Name: workerName, Image: WorkerImage}
	if s.SlowToStop {
		worker.Env = []corev1.EnvVar{{Name: "WORKER_TERM_DELAY", Value: stubborn}}
	}
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers:                    []corev1.Container{worker},
		TerminationGracePeriodSeconds: ptr.To[int64](grace),
		// On several nodes, where there are several.
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{jobset.JobSetNameKey: jobSetName}},
		}},
	}}
}

// obedientAgent replaces the program of the agent and keeps its shape.
func (s Shape) obedientAgent(pod *corev1.PodSpec) {
	for i := range pod.InitContainers {
		if agent := &pod.InitContainers[i]; agent.Name == agentName {
			agent.Image, agent.Args = WorkerImage, []string{"agent"}
		}
	}
}
