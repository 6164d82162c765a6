/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

var _ = Describe("Agents that report in Leases", Ordered, func() {
	BeforeAll(func(ctx SpecContext) {
		shown.runsWith(ctx, "reports: Lease")
		DeferCleanup(func(ctx SpecContext) { shown.runsWith(ctx, "") })
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

	// forget deletes the Leases of a group's agents.
	forget := func(ctx SpecContext, round *stories.Round) {
		GinkgoHelper()
		for _, pod := range round.Pods {
			lease := &coordinationv1.Lease{}
			lease.Namespace, lease.Name = pod.Namespace, facts.LeaseName(pod.Name)
			Expect(client.IgnoreNotFound(stories.API().Delete(ctx, lease))).To(Succeed())
		}
	}
	// restarts in place at the next epoch and is told something about its Leases at the lift.
	restarts := func(group *stories.Group, round *stories.Round, epoch int32, reason, told string) *stories.Round {
		GinkgoHelper()
		group.Tell(order.Exit(1), round.Worker(0))
		next := group.RunsAt(epoch)
		next.IsInPlaceOf(round)
		group.Told(corev1.EventTypeWarning, reason, told)
		return next
	}

	It("P151 P153: report on their Pods, and an event says why, where a quota or somebody else's Lease refuses theirs", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true, Leases: true})
		first := group.RunsAt(1)
		name := facts.LeaseName(first.Pods[0].Name)

		By("a quota")
		none := corev1.ResourceList{"count/leases.coordination.k8s.io": resource.MustParse("0")}
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: group.Namespace(), Name: "no-leases"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
		Expect(stories.API().Create(ctx, quota)).To(Succeed())
		election := func() *coordinationv1.Lease {
			return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: group.Namespace(), Name: name}}
		}
		forget(ctx, first)
		group.ReportsOnPods()
		Eventually(func() error { return stories.API().Create(ctx, election(), client.DryRunAll) }).WithTimeout(time.Minute).Should(MatchError(ContainSubstring("exceeded quota")))
		second := restarts(group, first, 2, constants.AgentLeasesDeniedReason, "were refused, by a ResourceQuota")

		By("a Lease of that name")
		Expect(stories.API().Delete(ctx, quota)).To(Succeed())
		Eventually(func() error { return client.IgnoreAlreadyExists(stories.API().Create(ctx, election())) }).WithTimeout(time.Minute).Should(Succeed())
		group.ReportsInEither()
		third := restarts(group, second, 3, constants.AgentLeasesDeniedReason, "the Leases of "+first.Pods[0].Name+" were refused")
		Expect(stories.API().Delete(ctx, election())).To(Succeed())

		By("nothing any more")
		group.Tell(order.Exit(1), third.Worker(1))
		group.ReportsInLeases()
		group.RunsAt(4).IsInPlaceOf(third)
		group.Charged(3)
	}, SpecTimeout(specTime))

	It("P153: report on their Pods, and an event says why, under the policies of the version before", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) {
			_, err := shown.plane.Kubectl(ctx, "apply", "--server-side", "-k", filepath.Join(framework.Root(), "config/components/agent-access/cluster"))
			Expect(err).NotTo(HaveOccurred())
		})
		_, err := shown.plane.Kubectl(ctx, "delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", constants.AgentLeases)
		Expect(err).NotTo(HaveOccurred())
		group := stories.Create(ctx, stories.Shape{Process: true, Leases: true})
		group.ReportsOnPods()
		first := group.RunsAt(1)
		restarts(group, first, 2, constants.AgentPolicyMissingReason, constants.AgentLeases+" is missing")
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("P153: report on their Pods, and an event says why, with createAccess: false and no rights on Leases", func(ctx SpecContext) {
		shown.runsWith(ctx, "reports: Lease, createAccess: false")
		DeferCleanup(func(ctx SpecContext) { shown.runsWith(ctx, "reports: Lease") })
		group := stories.Create(ctx, stories.Shape{Process: true, Leases: true})
		meta := metav1.ObjectMeta{Namespace: group.Namespace(), Name: "agents-of-before"}
		Expect(stories.API().Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets/agent"}, Verbs: []string{"report"}},
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"patch"}},
		}})).To(Succeed())
		Expect(stories.API().Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: "default"}}})).To(Succeed())
		group.ReportsOnPods()
		first := group.RunsAt(1)
		group.Told(corev1.EventTypeWarning, constants.AgentLeasesDeniedReason, "may not create leases, patch leases; grant it with")
		group.Tell(order.Exit(1), first.Worker(0))
		group.RunsAt(2).IsInPlaceOf(first)
		group.Charged(1)
	}, SpecTimeout(specTime))
})
