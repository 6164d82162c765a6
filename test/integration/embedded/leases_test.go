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
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

	It("P128: are read by kubectl jobset compare only with the rights for that: without, it says at once which are missing, and deletes the copy", func(ctx SpecContext) {
		serveLogs(ctx)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "compare-"}}
		Expect(stories.API().Create(ctx, namespace)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(stories.API().Delete(ctx, namespace)).To(Succeed()) })
		may(ctx, namespace.Name, "runner", &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "runs-jobsets"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets"}, Verbs: []string{"create", "list", "watch", "delete"}},
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch", "delete"}},
			{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}},
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"list"}},
		}})
		why := "InPlaceRestart Process: its agents report in Leases, and in namespace " + namespace.Name + " you may not watch leases\n"
		Eventually(func() answer { // until the API server knows the rights, nothing is created
			return kubectlJobSet(ctx, namespace.Name, "compare", "-f", manifest(""), "--as=runner", "--restarts=1", "--between=0s")
		}).WithContext(ctx).Should(And(HaveField("Code", 1), HaveField("Err", And(ContainSubstring(why), ContainSubstring("1 of 3 strategies were not measured to the end")))))
		var sets jobset.JobSetList
		Expect(stories.API().List(ctx, &sets, client.InNamespace(namespace.Name))).To(Succeed())
		Expect(sets.Items).To(BeEmpty())
	}, SpecTimeout(2*specTime))
})
