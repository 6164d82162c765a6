/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Nothing has been measured above these sizes, and such a JobSet slows down others.
const (
	manyJobs = 10_000
	manyPods = 100_000
)

// generalWarnings returns the warnings that apply to every restart strategy.
func generalWarnings(js *jobset.JobSet) []string {
	if len(js.Spec.ReplicatedJobs) == 0 {
		return []string{"spec.replicatedJobs: is empty, so nothing will run; a misspelt field (Spec for spec) is dropped without an error"}
	}
	out := sizeWarnings(js)
	for i := range js.Spec.ReplicatedJobs {
		job := jobSpec(js, i)
		if job.TTLSecondsAfterFinished != nil && !workerpod.WantsInPlace(js) {
			out = append(out, fmt.Sprintf("%s: a Job that completes and is deleted by it is created again and runs again; "+
				"remove it, and set spec.ttlSecondsAfterFinished of the JobSet to delete everything at the end",
				jobPath(i).Child("ttlSecondsAfterFinished")))
		}
		if names := podLevelExtended(&job.Template.Spec); len(names) > 0 {
			out = append(out, fmt.Sprintf("%s: Kubernetes refuses %s for a whole Pod, so no Job will be created: "+
				"a Pod can have cpu, memory and hugepages; ask for anything else in a container",
				podPath(i).Child("resources"), strings.Join(names, ", ")))
		}
	}
	return out
}

// sizeWarnings counts in 64 bits and caps each summand: sizes that another rule refuses must not overflow here.
func sizeWarnings(js *jobset.JobSet) []string {
	var jobs, pods int64
	for i := range js.Spec.ReplicatedJobs {
		rj := &js.Spec.ReplicatedJobs[i]
		replicas, parallelism := int64(max(rj.Replicas, 0)), int64(max(ptr.Deref(rj.Template.Spec.Parallelism, 1), 0))
		jobs += replicas
		pods += min(replicas*parallelism, 1<<40)
	}
	const advice = "creating and watching them takes long and loads the control plane; use fewer Jobs of more Pods, or several JobSets"
	var out []string
	if jobs > manyJobs {
		out = append(out, fmt.Sprintf("spec.replicatedJobs: asks for %d Jobs, more than %d in one JobSet: %s", jobs, manyJobs, advice))
	}
	if pods > manyPods {
		out = append(out, fmt.Sprintf("spec.replicatedJobs: asks for %d Pods at a time, more than %d in one JobSet: %s", pods, manyPods, advice))
	}
	return out
}

// podLevelExtended returns, sorted, the Pod-level resources that Kubernetes does not allow.
func podLevelExtended(spec *corev1.PodSpec) (names []string) {
	for name := range resourceNames(spec.Resources) {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names
}
