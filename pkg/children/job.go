/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package children builds the objects that a JobSet asks for. It reads nothing
// but the JobSet, and does not know what exists already.
package children

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Builder builds the Jobs of one JobSet at its current restart attempt. Sums
// over the whole spec are taken once, so that building all Jobs is linear.
type Builder struct {
	jobSet  *jobset.JobSet
	indexes indexes
	// claims are the places of the templates of claims, from 1, by name.
	claims map[string]int
	// restarts are the counters of Jobs restarted on their own, by ReplicatedJob;
	// byJob: every Job carries its counter.
	restarts map[string][]int32
	byJob    bool
	// injection is what is added to worker Pods without an agent.
	injection workerpod.Injection
	// elastic: sizes may change.
	elastic bool
	// execution is what Jobs and Pods carry of status.executionAttempts, nil if nothing.
	execution map[string]string
	// sick says which nodes Pods keep away from.
	sick nodehealth.Rules
}

// NewBuilder returns a Builder for a JobSet, which it reads and never changes.
func NewBuilder(js *jobset.JobSet) *Builder {
	b := &Builder{jobSet: js, indexes: newIndexes(js), claims: claimPlaces(js), restarts: map[string][]int32{}}
	for i := range js.Status.ReplicatedJobsStatus {
		b.restarts[js.Status.ReplicatedJobsStatus[i].Name] = js.Status.ReplicatedJobsStatus[i].JobRestarts
	}
	return b
}

// CountJobRestarts makes every Job carry how often it was restarted on its own, 0 included (gate RestartJob).
func (b *Builder) CountJobRestarts(on bool) *Builder {
	b.byJob = on
	return b
}

// InjectAgents says which agents Pods without one get, if the JobSet restarts in place.
func (b *Builder) InjectAgents(with workerpod.Injection) *Builder {
	b.injection = with
	return b
}

// Elastic says whether the number of Pods of a Job may change (gate ElasticJobSet).
func (b *Builder) Elastic(on bool) *Builder {
	b.elastic = on
	return b
}

// KeepAway makes Pods keep away from nodes on which a resource that they request is sick (P90).
func (b *Builder) KeepAway(from nodehealth.Rules) *Builder {
	b.sick = from
	return b
}

// TrackExecutions makes every Job carry the execution that it belongs to (gate ExecutionAttemptsTracking).
func (b *Builder) TrackExecutions(on bool) *Builder {
	b.execution = Execution(b.jobSet, on)
	return b
}

// Execution returns the annotation that says to which execution a Job belongs that is created or resumed now, nil if they are not tracked.
func Execution(js *jobset.JobSet, on bool) map[string]string {
	if !on {
		return nil
	}
	return map[string]string{jobset.ExecutionAttemptKey: strconv.Itoa(int(ptr.Deref(js.Status.ExecutionAttempts, 0)))}
}

// Job builds the Job at an index of a ReplicatedJob.
func (b *Builder) Job(rjob *jobset.ReplicatedJob, jobIndex int) *batchv1.Job {
	js := b.jobSet
	keys := b.keys(rjob, jobIndex)
	exclusive := exclusiveAnnotations(js, rjob)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:            placement.JobName(js.Name, rjob.Name, jobIndex),
			Namespace:       js.Namespace,
			Labels:          merged(rjob.Template.Labels, keys),
			Annotations:     merged(rjob.Template.Annotations, exclusive, keys, b.execution),
			OwnerReferences: []metav1.OwnerReference{OwnerReference(js)},
		},
		Spec: *rjob.Template.Spec.DeepCopy(),
	}
	pods := &job.Spec.Template
	pods.Labels = merged(pods.Labels, keys)
	pods.Annotations = merged(pods.Annotations, exclusive, keys, b.execution)
	if NeedsService(js) {
		pods.Spec.Subdomain = Subdomain(js)
	}
	b.mountClaims(&pods.Spec)
	if selectsNodes(job) {
		reserveNodes(job)
		// The topology key may come from the JobSet and the strategy from the Job
		// template: the Pods say so too, so that nothing else places them.
		pods.Annotations[jobset.NodeSelectorStrategyKey] = job.Annotations[jobset.NodeSelectorStrategyKey]
	}
	if workerpod.WantsInPlace(js) {
		workerpod.CountEachIndex(&job.Spec)
	}
	if workerpod.IsInjected(js, rjob) {
		job.Spec.Template = workerpod.Inject(job, js.Spec.FailurePolicy, b.injection, b.place(rjob, jobIndex))
	}
	job.Spec.Template.Spec.Affinity = b.sick.KeepAway(&job.Spec.Template.Spec)
	// Always explicit, so that the Job never starts before the JobSet does.
	job.Spec.Suspend = ptr.To(ptr.Deref(js.Spec.Suspend, false))
	record(job, &rjob.Template.Spec.Template)
	return job
}

// selectsNodes reports whether exclusive placement of the Job uses nodes labelled beforehand.
func selectsNodes(job *batchv1.Job) bool {
	_, exclusive := job.Annotations[jobset.ExclusiveKey]
	_, strategy := job.Annotations[jobset.NodeSelectorStrategyKey]
	return exclusive && strategy
}

// reserveNodes binds the Pods of a Job to the nodes that are labelled and tainted for it.
func reserveNodes(job *batchv1.Job) {
	pods := &job.Spec.Template.Spec
	pods.NodeSelector = merged(pods.NodeSelector, map[string]string{
		jobset.NamespacedJobKey: placement.NamespacedJob(job.Namespace, job.Name),
	})
	pods.Tolerations = append(pods.Tolerations, corev1.Toleration{
		Key:      jobset.NoScheduleTaintKey,
		Operator: corev1.TolerationOpExists,
		Effect:   corev1.TaintEffectNoSchedule,
	})
}
