/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package children builds the objects that a JobSet asks for. It reads nothing
// but the JobSet, and does not know what exists already.
package children

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
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
			Annotations:     merged(rjob.Template.Annotations, exclusive, keys),
			OwnerReferences: []metav1.OwnerReference{OwnerReference(js)},
		},
		Spec: *rjob.Template.Spec.DeepCopy(),
	}
	pods := &job.Spec.Template
	pods.Labels = merged(pods.Labels, keys)
	pods.Annotations = merged(pods.Annotations, exclusive, keys)
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

// Resumed returns a copy of a suspended Job as it is to run: the Pod template
// fields that may change while suspended are merged in from the JobSet, whose
// values win. Nothing is removed, and the controller's own keys stay as built.
// The second result reports whether the template changed.
func Resumed(job *batchv1.Job, rjob *jobset.ReplicatedJob) (*batchv1.Job, bool) {
	resumed := job.DeepCopy()
	resumed.Spec.Suspend = ptr.To(false)
	have, want := &resumed.Spec.Template, rjob.Template.Spec.Template.DeepCopy()
	have.Labels = merged(have.Labels, want.Labels, ownKeys(job.Spec.Template.Labels))
	have.Annotations = merged(have.Annotations, want.Annotations, ownKeys(job.Spec.Template.Annotations))
	workerpod.AllowEviction(have)
	have.Spec.NodeSelector = merged(have.Spec.NodeSelector, want.Spec.NodeSelector, ownKeys(job.Spec.Template.Spec.NodeSelector))
	have.Spec.Tolerations = union(have.Spec.Tolerations, want.Spec.Tolerations, SameToleration)
	have.Spec.SchedulingGates = union(have.Spec.SchedulingGates, want.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) corev1.PodSchedulingGate { return g })
	changed := !apiequality.Semantic.DeepEqual(resumed.Spec.Template, job.Spec.Template)
	return resumed, changed
}

// ownKeys picks the entries that the controller wrote when it built the Job.
func ownKeys(entries map[string]string) map[string]string {
	own := maps.Clone(entries)
	maps.DeleteFunc(own, func(key, _ string) bool { return !reservedKeys.Has(key) })
	return own
}

// union appends those of the wanted entries that are not there yet, in their order. Two entries with the same key are
// the same; each is looked at once (C382).
func union[T any, K comparable](have, want []T, key func(T) K) []T {
	all, known := slices.Clone(have), make(map[K]bool, len(have)+len(want))
	for _, entry := range have {
		known[key(entry)] = true
	}
	for _, entry := range want {
		if k := key(entry); !known[k] {
			all, known[k] = append(all, entry), true
		}
	}
	return all
}

// SameToleration returns a toleration with its seconds as values in the place of a pointer, so that == compares by meaning.
func SameToleration(t corev1.Toleration) (key struct {
	corev1.Toleration
	limited bool
	seconds int64
}) {
	key.limited, key.seconds = t.TolerationSeconds != nil, ptr.Deref(t.TolerationSeconds, 0)
	key.Toleration, key.TolerationSeconds = t, nil
	return key
}
