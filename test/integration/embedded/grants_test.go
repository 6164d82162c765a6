/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// specTime is how long one of these may take; most of it is the patience of its steps.
const specTime = 5 * time.Minute

var _ = Describe("What agents are granted", func() {
	patience := func(what any) AsyncAssertion {
		return Eventually(what).WithTimeout(time.Minute).WithPolling(50 * time.Millisecond)
	}
	role := func(ctx context.Context, group *stories.Group) *rbacv1.Role {
		GinkgoHelper()
		var roles rbacv1.RoleList
		Expect(stories.API().List(ctx, &roles, client.InNamespace(group.Namespace()), client.MatchingLabels{jobset.JobSetNameKey: group.Name()})).To(Succeed())
		if len(roles.Items) != 1 {
			return &rbacv1.Role{}
		}
		return &roles.Items[0]
	}
	verbs := func(role *rbacv1.Role) (all []string) {
		for _, rule := range role.Rules {
			all = append(all, rule.Verbs...)
		}
		return all
	}

	It("P56: is there before they ask, comes back, is put right, and goes with its JobSet", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{})
		first := group.RunsAt(1)
		Expect(grants(ctx, group)).To(Equal([]string{"Role", "RoleBinding"}))

		By("deleting the Role")
		granted := role(ctx, group)
		Expect(stories.API().Delete(ctx, granted)).To(Succeed())
		patience(func() types.UID { return role(ctx, group).UID }).ShouldNot(BeElementOf(types.UID(""), granted.UID))

		By("widening the Role")
		wide := role(ctx, group)
		wide.Rules[0].ResourceNames = nil
		Expect(stories.API().Update(ctx, wide)).To(Succeed())
		patience(func() []rbacv1.PolicyRule { return role(ctx, group).Rules }).Should(Equal(granted.Rules))
		group.Tell(order.Exit(1), first.Worker(0))
		group.RunsAt(2).IsInPlaceOf(first)

		By("deleting the JobSet")
		group.LeavesNothing()
	}, SpecTimeout(specTime))

	cluster := filepath.Join(framework.Root(), "config/components/agent-access/cluster")
	kubectl := func(ctx SpecContext, args ...string) {
		GinkgoHelper()
		_, err := shown.plane.Kubectl(ctx, args...)
		Expect(err).NotTo(HaveOccurred())
	}

	It("P153: is nothing to write Leases while no admission policy narrows that, and groups run on", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{})
		group.RunsAt(1)
		Expect(verbs(role(ctx, group))).To(ContainElement("create"))

		DeferCleanup(func(ctx SpecContext) { kubectl(ctx, "apply", "--server-side", "-k", cluster) })
		kubectl(ctx, "delete", "validatingadmissionpolicybinding", constants.AgentLeases)
		patience(func() []string { return verbs(role(ctx, group)) }).Should(And(ContainElement("patch"), Not(ContainElement("create"))))
		late := stories.Create(ctx, stories.Shape{})
		late.RunsAt(1)

		kubectl(ctx, "apply", "--server-side", "-k", cluster)
		patience(func() []string { return verbs(role(ctx, group)) }).Should(ContainElement("create"))
	}, SpecTimeout(specTime))

	It("P56: is nothing to patch while no admission policy narrows it, which is told", func(ctx SpecContext) {
		running := stories.Create(ctx, stories.Shape{})
		running.RunsAt(1)
		Expect(verbs(role(ctx, running))).To(ContainElement("patch"))

		By("taking the policy away")
		DeferCleanup(func(ctx SpecContext) { kubectl(ctx, "apply", "--server-side", "-k", cluster) })
		kubectl(ctx, "delete", "validatingadmissionpolicy", constants.AgentAccess)
		patience(func() []string { return verbs(role(ctx, running)) }).ShouldNot(ContainElement("patch"))
		running.Has(jobset.JobSetAgentAccessDenied, metav1.ConditionTrue, constants.AgentAccessWithheldReason)
		running.Told(corev1.EventTypeWarning, constants.AgentAccessWithheldReason, "config/components/agent-access/cluster")
		late := stories.Create(ctx, stories.Shape{})
		late.Has(jobset.JobSetAgentAccessDenied, metav1.ConditionTrue, constants.AgentAccessWithheldReason)
		Expect(grants(ctx, late)).To(BeEmpty())

		By("doing what it says")
		kubectl(ctx, "apply", "--server-side", "-k", cluster)
		late.RunsAt(1)
		late.Has(jobset.JobSetAgentAccessDenied, metav1.ConditionFalse, constants.AgentAccessGrantedReason)
		patience(func() []string { return verbs(role(ctx, running)) }).Should(ContainElement("patch"))
	}, SpecTimeout(specTime))
})
