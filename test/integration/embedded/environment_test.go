/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

var _ = Describe("The environment of workers", func() {
	torch := func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Environment: jobset.TorchEnvironment}
	}

	It("P120 P121 P122: has the address of rank 0 in each epoch, also after its Pod was replaced", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true, Change: torch})
		first := group.RunsAt(1)
		address := first.Pods[0].Status.PodIP
		Expect(first.Reads("master")).To(HaveEach(address))
		Expect(group.Status().ReplicatedJobsStatus[0].Address).To(Equal(address))
		uid := first.Pods[0].Labels[jobset.JobSetUIDKey]
		Expect(first.Reads("rendezvous")).To(HaveEach(uid + "-1"))

		By("losing rank 0")
		deletes(ctx, 0, first.Pods[0])
		second := group.RunsAt(2)
		replaced := second.Pods[0].Status.PodIP
		Expect(replaced).NotTo(Equal(address), "the Pod that replaced it has an address of its own")
		Expect(second.Reads("master")).To(HaveEach(replaced))
		Expect(second.Reads("rendezvous")).To(HaveEach(uid + "-2"))
		group.Charged(1)
	})

	It("P120 P122: has the DNS name of rank 0 and the size of the specification during a bypass", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true, Change: func(js *jobset.JobSet) {
			torch(js)
			js.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: ""}
		}})
		bypassed := group.RunsAttempt(0)
		name := group.Name()
		Expect(bypassed.Reads("master")).To(HaveEach(HavePrefix(name + "-")))
		Expect(bypassed.Reads("rank")).To(Equal([]string{"0", "1"}))
		Expect(bypassed.Reads("worldSize")).To(HaveEach("2"))
		Expect(bypassed.Reads("epoch")).To(HaveEach("0"))
	})

	// The program stands in for JAX: it waits for the others as jax.distributed.initialize does, and starts only if all have come.
	It("P127: lets the processes of JAX find each other in each epoch, also after the Pod of rank 0 was replaced", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true, Jobs: 2, Change: func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Environment: jobset.JaxEnvironment}
			js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers[0].Args = []string{"jax"}
		}})
		first := group.RunsAt(1)
		Expect(first.Reads("coordinator")).To(HaveEach(first.Pods[0].Status.PodIP + ":8476"))
		Expect(first.Reads("processes")).To(HaveEach("4"))
		Expect(first.Reads("process")).To(ConsistOf("0", "1", "2", "3"))

		By("losing rank 0")
		deletes(ctx, 0, first.Pods[0])
		second := group.RunsAt(2)
		replaced := second.Pods[0].Status.PodIP
		Expect(replaced).NotTo(Equal(first.Pods[0].Status.PodIP))
		Expect(second.Reads("coordinator")).To(HaveEach(replaced + ":8476"))
		Expect(second.Reads("process")).To(Equal(first.Reads("process")))
		group.Charged(1)
	})
})
