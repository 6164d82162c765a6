/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Resumption is what a Job gets at a resume behind feature gates.
type Resumption struct {
	// Execution is the annotation that says to which execution it belongs.
	Execution map[string]string
	// Resources: requests and limits of containers are those of the template.
	Resources bool
}

// Resumed returns a copy of a suspended Job as it is to run: of the Pod template fields that may change while suspended, it
// has what the JobSet's template has, and no longer what only an earlier template had (C334a). What others added is kept, and the
// controller's own keys stay as built. The second result reports whether the template changed.
func Resumed(job *batchv1.Job, rjob *jobset.ReplicatedJob, with Resumption) (*batchv1.Job, bool) {
	resumed := job.DeepCopy()
	resumed.Spec.Suspend = ptr.To(false)
	have, want := &resumed.Spec.Template, rjob.Template.Spec.Template.DeepCopy()
	removeLeftovers(have, leftovers(job, want))
	have.Labels = merged(have.Labels, want.Labels, ownKeys(job.Spec.Template.Labels))
	have.Annotations = merged(have.Annotations, want.Annotations, ownKeys(job.Spec.Template.Annotations), with.Execution)
	workerpod.AllowEviction(have)
	have.Spec.NodeSelector = merged(have.Spec.NodeSelector, want.Spec.NodeSelector, ownKeys(job.Spec.Template.Spec.NodeSelector))
	have.Spec.Tolerations = union(have.Spec.Tolerations, want.Spec.Tolerations, SameToleration)
	have.Spec.SchedulingGates = union(have.Spec.SchedulingGates, want.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) corev1.PodSchedulingGate { return g })
	if with.Resources {
		workerpod.CopyResources(&have.Spec, &want.Spec)
	}
	if with.Execution != nil {
		resumed.Annotations = merged(resumed.Annotations, with.Execution)
	}
	record(resumed, want)
	changed := !apiequality.Semantic.DeepEqual(resumed.Spec.Template, job.Spec.Template)
	return resumed, changed
}

// Resized reports whether a Job has other requests or limits than it had.
func Resized(job, was *batchv1.Job) bool {
	is, had := &job.Spec.Template.Spec, &was.Spec.Template.Spec
	equal := func(a, b corev1.Container) bool { return apiequality.Semantic.DeepEqual(a.Resources, b.Resources) }
	return !slices.EqualFunc(is.InitContainers, had.InitContainers, equal) || !slices.EqualFunc(is.Containers, had.Containers, equal)
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
