/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/workerpod"
)

var _ = Describe("Leases in which agents report", func() {
	var (
		namespace string
		groups    int
	)
	BeforeEach(func(ctx SpecContext) {
		namespace, groups = newNamespace(ctx), 0
	})
	runs := func(ctx SpecContext, config string) {
		GinkgoHelper()
		s := newSettings()
		s.more = withAgent + config + "}"
		startReady(ctx, s, inPlaceOn)
		Eventually(holder(ctx)).ShouldNot(BeEmpty())
	}
	// reportsOf is where the agents of a new group of so many workers report.
	reportsOf := func(ctx context.Context, workers int32) string {
		GinkgoHelper()
		groups++
		js := bareInPlace(namespace, fmt.Sprintf("train-%d", groups))
		job := &js.Spec.ReplicatedJobs[0].Template.Spec
		job.Parallelism, job.Completions = ptr.To(workers), ptr.To(workers)
		create(ctx, js)
		Eventually(jobsOf(ctx, js)).Should(Equal(1))
		built := &batchv1.Job{}
		Expect(plane.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: js.Name + "-workers-0"}, built)).To(Succeed())
		agent := &built.Spec.Template.Spec.InitContainers[0]
		if at := workerpod.FindEnv(agent, workerpod.ReportsEnv); at >= 0 {
			return agent.Env[at].Value
		}
		return "Pod"
	}
	// asked are the requests of the manager for Leases of all namespaces.
	asked := func() (n int) {
		for _, r := range allRequestsOf("system:serviceaccount:" + system + ":" + account) {
			if strings.HasPrefix(r.RequestURI, ofAgentLeases) {
				Expect(r.RequestURI).To(ContainSubstring("labelSelector=jobset.sigs.k8s.io%2Fjobset-uid"))
				n++
			}
		}
		return n
	}

	It("P150 P152: are those of large groups, and watched by our label", func(ctx SpecContext) {
		runs(ctx, ", leaseReportsFrom: 2")
		Eventually(reportsOf).WithContext(ctx).WithArguments(int32(2)).Should(Equal("Lease"), "once they can be read")
		Expect(reportsOf(ctx, 1)).To(Equal("Pod"))
		Expect(asked()).NotTo(BeZero())
	})

	It("P150: are not used, and not watched, with reports: Pod", func(ctx SpecContext) {
		before := asked()
		runs(ctx, ", reports: Pod, leaseReportsFrom: 1")
		Expect(reportsOf(ctx, 2)).To(Equal("Pod"))
		Expect(asked()).To(Equal(before))
	})

	It("P150 P152: are not used by a manager that may not read them, which works as before", func(ctx SpecContext) {
		role := &rbacv1.ClusterRole{}
		Expect(plane.client.Get(ctx, client.ObjectKey{Name: "jobset-manager-role"}, role)).To(Succeed())
		shipped := slices.Clone(role.Rules)
		role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "leases") })
		Expect(plane.client.Update(ctx, role)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			role.Rules = shipped
			Expect(plane.client.Update(ctx, role)).To(Succeed())
		})
		before := asked()
		runs(ctx, ", reports: Lease")
		Eventually(asked).Should(BeNumerically(">", before+1), "it tries again")
		Expect(reportsOf(ctx, 2)).To(Equal("Pod"))
	})
})
