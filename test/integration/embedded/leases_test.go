/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

var _ = Describe("Agents that report in Leases", Ordered, func() {
	BeforeAll(func(ctx SpecContext) {
		shown.defaults = "reports: Lease"
		shown.swap(ctx, shown.manager)
		DeferCleanup(func(ctx SpecContext) {
			shown.defaults = ""
			shown.swap(ctx, shown.manager)
		})
	})

	It("P150 P151 P152 P153: do so in all epochs, tell the success on the Pod, and leave nothing", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true, Workers: 3, Leases: true})
		first := group.RunsAt(1)
		group.Tell(order.Exit(3), first.Worker(1))
		second := group.RunsAt(2)
		second.IsInPlaceOf(first)
		group.Charged(1)
		pods := func() []corev1.Pod {
			var list corev1.PodList
			Expect(stories.API().List(ctx, &list, client.InNamespace(first.Pods[0].Namespace))).To(Succeed())
			return list.Items
		}
		for _, pod := range pods() {
			Expect(pod.Annotations).NotTo(Or(HaveKey(jobset.EpochKey), HaveKey(jobset.WorkerExitKey)), "Pod %s", pod.Name)
		}

		By("deleting a Lease and a Pod")
		lease := &coordinationv1.Lease{}
		lease.Namespace, lease.Name = first.Pods[0].Namespace, facts.LeaseName(first.Pods[0].Name)
		Expect(stories.API().Delete(ctx, lease)).To(Succeed())
		deletes(ctx, 0, second.Pods[2])
		third := group.RunsAt(3)

		By("ending with 0")
		group.Tell(order.Done, third.Workers()...)
		group.Completes()
		for _, pod := range pods() {
			Expect(pod.Annotations).To(HaveKeyWithValue(jobset.WorkerExitKey, ContainSubstring(`"done":true`)), "Pod %s", pod.Name)
		}
		group.LeavesNothing()
	}, SpecTimeout(specTime))
})
