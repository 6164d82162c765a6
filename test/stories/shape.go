/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/ownagent"
)

const (
	// JobSetName is that of the JobSet of a story.
	JobSetName = "training"
	jobSetName = JobSetName
	replicated = "workers"
	// grace is how long a Pod that is deleted may take to end, in seconds.
	grace = 5
	// workerProgram is the entrypoint of the image of workers, which a supervisor has to be told.
	workerProgram = "/worker"
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
	// OwnAgent makes the manifest bring the agent, and the namespace an account that may do what
	// agents do. Otherwise the manager sees to both, and nothing prepares the namespace.
	OwnAgent bool
	// Process is process mode, which a manifest that names commands and no mode gets: a supervisor starts
	// the workers again. Otherwise the manifest asks for container mode.
	Process bool
	// Leases: the manager is configured to let agents in process mode report in Leases.
	Leases bool
	// AgentObeys makes the agent one that ends by order with any exit code. The manifest brings it.
	AgentObeys bool
	// Account is a service account of the Pods to which nobody grants anything: the default one.
	Account string
	// NamespaceLabels are those of the namespace.
	NamespaceLabels map[string]string
	// SlowToStop makes workers outlive SIGTERM until they are killed.
	SlowToStop bool
	// Container is the name of the workers' container where others write the JobSet; "worker" if it is empty.
	Container string
	// Change is for what only one story does.
	Change func(*jobset.JobSet)
}

func (s Shape) withDefaults() Shape {
	s.Jobs, s.Workers = cmp.Or(s.Jobs, 1), cmp.Or(s.Workers, 2)
	s.Strategy = cmp.Or(s.Strategy, jobset.InPlaceRestart)
	s.Container = cmp.Or(s.Container, workerName)
	s.OwnAgent = s.OwnAgent || s.AgentObeys
	if s.MaxRestarts == 0 && !s.NoRestarts {
		s.MaxRestarts = 100
	}
	return s
}

func (s Shape) size() int { return int(s.Jobs * s.Workers) }

func (s Shape) inPlace() bool { return s.Strategy == jobset.InPlaceRestart }

// jobSet builds the JobSet of a shape that has its defaults.
func (s Shape) jobSet(namespace string) *jobset.JobSet {
	js := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: jobSetName},
		Spec: jobset.JobSetSpec{
			FailurePolicy: &jobset.FailurePolicy{RestartStrategy: s.Strategy, MaxRestarts: s.MaxRestarts, Rules: s.Rules},
			ReplicatedJobs: []jobset.ReplicatedJob{{
				Name: replicated, Replicas: s.Jobs, Template: batchv1.JobTemplateSpec{Spec: s.job()},
			}},
		},
	}
	if s.inPlace() && !s.Process {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode, RecreatePodOnExitCodes: s.RecreatePodOn}
	} else if len(s.RecreatePodOn) > 0 {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{RecreatePodOnExitCodes: s.RecreatePodOn}
	}
	if s.Change != nil {
		s.Change(js)
	}
	return js
}

// job is what a user writes of a Job for the strategy.
func (s Shape) job() batchv1.JobSpec {
	job := batchv1.JobSpec{Parallelism: ptr.To(s.Workers), Template: s.pod()}
	if len(s.FailJobOn) > 0 {
		job.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:      batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: s.FailJobOn},
		}}}
	}
	if !s.inPlace() {
		// What a user who wants fast restarts writes: the first failure counts.
		job.BackoffLimit = ptr.To[int32](0)
		job.Completions = ptr.To(s.Workers)
		job.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		job.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	if s.OwnAgent {
		job = ownagent.Job(&batchv1.JobTemplateSpec{Spec: job}, account, workerpod.Options{AgentImage: AgentImage}).Spec
	}
	if s.AgentObeys {
		s.obedientAgent(&job.Template.Spec)
	}
	return job
}

func (s Shape) pod() corev1.PodTemplateSpec {
	worker := corev1.Container{Name: workerName, Image: WorkerImage}
	if s.Process {
		worker.Command = []string{workerProgram}
	}
	if s.SlowToStop {
		worker.Env = []corev1.EnvVar{{Name: "WORKER_TERM_DELAY", Value: stubborn}}
	}
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers:                    []corev1.Container{worker},
		ServiceAccountName:            s.Account,
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
