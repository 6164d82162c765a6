/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
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
	runs := func(ctx SpecContext, config string) *manager {
		GinkgoHelper()
		s := newSettings()
		s.more = withAgent + config + "}"
		m := startReady(ctx, s, inPlaceOn)
		Eventually(holder(ctx)).ShouldNot(BeEmpty())
		return m
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

	It("P153b: are not read while no policy guards them, also with createAccess: false: who may only create Leases restarts nothing, and the group works by reports on Pods", func(ctx SpecContext) {
		guard := func() {
			kubectl("apply", "--server-side", "-k", filepath.Join(root, "config/components/agent-access/cluster"))
		}
		guard()
		DeferCleanup(guard)
		m := runs(ctx, ", reports: Lease, createAccess: false")
		js := bareInPlace(namespace, "guarded")
		js.Spec.FailurePolicy.MaxRestarts = 5
		create(ctx, js)
		lifts(ctx, js)
		epochs := func() ([2]int32, error) {
			err := plane.client.Get(ctx, client.ObjectKeyFromObject(js), js)
			return [2]int32{ptr.Deref(js.Status.DeprecatedEpoch, 0), ptr.Deref(js.Status.SyncedEpoch, 0)}, err
		}
		pod := &corev1.Pod{}
		Expect(plane.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: js.Name + "-workers-0-0"}, pod)).To(Succeed())
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "jobset." + pod.Name,
			Labels: map[string]string{jobset.JobSetUIDKey: string(js.UID)}, Annotations: map[string]string{jobset.EpochKey: "2"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}}}}

		for _, kind := range []string{"validatingadmissionpolicy", "validatingadmissionpolicybinding"} {
			By("deleting its " + kind)
			kubectl("delete", kind, "jobset-agent-leases")
			Eventually(m.Err).Should(gbytes.Say("admission policy of agents is not in force.*jobset-agent-leases"))
			before, err := epochs()
			Expect(err).NotTo(HaveOccurred())
			lease.Annotations[jobset.EpochKey] = fmt.Sprint(before[1] + 1)
			Expect(plane.client.Create(ctx, lease)).To(Succeed())
			Consistently(epochs).WithTimeout(time.Second).Should(Equal(before))

			report(ctx, pod, before[1]+1)
			Eventually(epochs).Should(Equal([2]int32{before[0] + 1, before[1] + 1}))
			Eventually(told(ctx, namespace, "AgentPolicyMissing")).Should(ContainElement(ContainSubstring("no report is read from a Lease")))
			Expect(plane.client.Delete(ctx, lease)).To(Succeed())
			lease.ResourceVersion, lease.UID = "", ""
			guard()
			Eventually(m.Err).Should(gbytes.Say("admission policy of agents is in force again.*jobset-agent-leases"))
		}

		By("having it again")
		before, err := epochs()
		Expect(err).NotTo(HaveOccurred())
		lease.Annotations[jobset.EpochKey] = fmt.Sprint(before[1] + 1)
		Expect(plane.client.Create(ctx, lease)).To(Succeed())
		Eventually(epochs).Should(Equal([2]int32{before[0] + 1, before[1] + 1}))
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

// report plays the agent of a Pod.
func report(ctx context.Context, pod *corev1.Pod, epoch int32) {
	GinkgoHelper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"%d"}}}`, epoch)
	Expect(plane.client.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}
