/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Accelerator is an extended resource that the manager shares out among elastic groups. Nodes have what a spec gives them.
const Accelerator corev1.ResourceName = "example.com/accelerator"

// Accelerated is an elastic group of which each worker asks for one accelerator.
func Accelerated(least, most int32) Shape {
	return Shape{Process: true, Workers: least, Change: func(js *jobset.JobSet) {
		workers := &js.Spec.ReplicatedJobs[0]
		workers.Elastic = &jobset.ElasticBounds{MinInstances: least, MaxInstances: most}
		workers.Template.Spec.Parallelism = nil
		one := corev1.ResourceList{Accelerator: resource.MustParse("1")}
		podOf(js).Containers[0].Resources = corev1.ResourceRequirements{Requests: one, Limits: one}
	}}
}

// Sizes adds up how many workers groups are to have.
func Sizes(groups ...*Group) (sum int32, err error) {
	for _, group := range groups {
		js, err := group.jobSet()
		if err != nil {
			return 0, err
		}
		sum += *js.Spec.ReplicatedJobs[0].Template.Spec.Parallelism
	}
	return sum, nil
}

// Keeps expects the Pods of a smaller round of the same group, on their nodes.
func (r *Round) Keeps(smaller *Round) {
	GinkgoHelper()
	for i := range smaller.Pods {
		Expect(r.Pods[i].UID).To(Equal(smaller.Pods[i].UID), "UID of the worker Pod in place %d", i)
		Expect(r.Pods[i].Spec.NodeName).To(Equal(smaller.Pods[i].Spec.NodeName), "node of the worker Pod in place %d", i)
	}
}

// KeepsOn expects the Pods that stood on a node in a larger round, as far as their indexes stay.
func (r *Round) KeepsOn(node string, larger *Round) {
	GinkgoHelper()
	for _, pod := range r.Pods {
		index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
		at := slices.IndexFunc(larger.Pods, func(p *corev1.Pod) bool { return p.Annotations[batchv1.JobCompletionIndexAnnotation] == index })
		if was := larger.Pods[at]; was.Spec.NodeName == node {
			Expect(pod.UID).To(Equal(was.UID), "UID of Pod %s, whose node remains", pod.Name)
		}
	}
}
