/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
)

var _ = Describe("An elastic group that is to have more Pods than the scheduler has nodes for", func() {
	It("P108a: goes back to the size that it ran with, tries again later, and is charged for neither", func(ctx SpecContext) {
		runNode("has-one-port", "3")
		shape := stories.Accelerated(1, 3)
		bounds := shape.Change
		shape.Change = func(js *jobset.JobSet) {
			bounds(js)
			worker := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers[0]
			worker.Ports = append(worker.Ports, corev1.ContainerPort{Name: "refused", ContainerPort: 17164, HostPort: 17164}) // one for each node
		}
		group := stories.Create(ctx, shape)
		first := group.Becomes(1)
		group.Told(corev1.EventTypeNormal, constants.ElasticResizedReason, "didn't have free ports for the requested pod ports")

		By("trying again")
		group.Told(corev1.EventTypeNormal, constants.ElasticResizedReason, "2 of its 3 Pods have been refused for more than 5s")
		group.Told(corev1.EventTypeNormal, constants.ElasticResizedReason, "it goes back to 1, with which it last ran")
		group.Has(jobset.JobSetElasticWaiting, metav1.ConditionFalse, constants.ElasticRefusedReason)
		again := group.Becomes(1)
		again.Keeps(first)
		group.Charged(0)
		Eventually(func(expect Gomega) {
			js := group.Stored()
			expect.Expect(stories.API().Get(ctx, client.ObjectKeyFromObject(js), js)).To(Succeed())
			ceiling := js.Status.ReplicatedJobsStatus[0].Elastic.Ceiling
			expect.Expect(ceiling).NotTo(BeNil())
			expect.Expect(ceiling.Size).To(BeEquivalentTo(1))
			expect.Expect(ceiling.Refusals).To(BeNumerically(">", 1))
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	})
})
