/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"log/slog"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/agent"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// refused starts the agent of a Pod with some token, and returns what it logs.
func refused(ctx context.Context, pod *corev1.Pod, token string, changes ...func(*agent.Config)) *gbytes.Buffer {
	GinkgoHelper()
	cfg := agent.Config{Namespace: pod.Namespace, PodName: pod.Name, JobSetName: "train"}
	for _, change := range changes {
		change(&cfg)
	}
	log := gbytes.NewBuffer()
	life, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = agent.Run(life, cfg, agent.Deps{API: configOf(token), Barrier: &barrier{}, Log: slog.New(slog.NewTextHandler(log, nil))})
	}()
	DeferCleanup(func() {
		stop()
		<-done
	})
	return log
}

var _ = Describe("An agent that is refused", func() {
	It("P36 C301: says that its account has no role", func(ctx SpecContext) {
		n := newNode(ctx)
		n.stores(Training(1, 10))
		Expect(cluster.Client.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: "plain"}})).To(Succeed())
		pod := n.runs("own")

		log := refused(ctx, pod, token(ctx, n.space, "plain", nil))

		Eventually(log).Should(gbytes.Say(`watching the JobSet failed, retrying" error=.*403 Forbidden.* fix=".*serviceAccountName: jobset-agent.*RoleBinding`))
	})

	It("P36 C301: says that its account may watch and not report", func(ctx SpecContext) {
		n := newNode(ctx)
		n.stores(Training(1, 10))
		n.grant("reader", rbacv1.PolicyRule{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets"}, Verbs: []string{"list", "watch"}})
		pod := n.runs("own")

		log := refused(ctx, pod, token(ctx, n.space, "reader", nil))

		Eventually(log).Should(gbytes.Say(`reporting the epoch failed, retrying" .*403 Forbidden.* fix=".*right to patch pods.*ClusterRole jobset-agent`))
	})

	It("P36 C301: says that its token is not bound to a Pod", func(ctx SpecContext) {
		n := newNode(ctx)
		n.stores(Training(1, 10))

		log := refused(ctx, n.runs("own"), token(ctx, n.space, AgentAccount, nil))

		Eventually(log).Should(gbytes.Say(`reporting the epoch failed, retrying" .*403 Forbidden.* fix="the token is not bound to a Pod`))
	})

	It("P36 C301: says that its token is that of another Pod", func(ctx SpecContext) {
		n := newNode(ctx)
		n.stores(Training(1, 10))
		other := n.runs("other")

		log := refused(ctx, n.runs("own"), token(ctx, n.space, AgentAccount, other))

		Eventually(log).Should(gbytes.Say(`reporting the epoch failed, retrying" .*403 Forbidden.* fix="the token is that of another Pod`))
	})

	inLease := func(n *node, pod *corev1.Pod) func(*agent.Config) {
		uid := n.stores(Training(1, 10)).UID
		return func(cfg *agent.Config) {
			cfg.ReportsInLease, cfg.PodUID, cfg.JobSetUID = true, string(pod.UID), string(uid)
		}
	}
	onPod := func(ctx context.Context, pod *corev1.Pod) func() (string, error) {
		return func() (string, error) {
			err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
			return pod.Annotations[jobset.EpochKey], err
		}
	}

	It("P153: reports in its Lease where nothing refuses that, and not on its Pod", func(ctx SpecContext) {
		n := newNode(ctx)
		pod := n.runs("own")
		refused(ctx, pod, token(ctx, n.space, AgentAccount, pod), inLease(n, pod))

		lease := &coordinationv1.Lease{}
		Eventually(func() error { return cluster.Client.Get(ctx, client.ObjectKeyFromObject(reportOf(pod)), lease) }).Should(Succeed())
		Expect(facts.OfLease(lease).Of).To(Equal(pod.UID))
		Expect(lease.Annotations).To(HaveKeyWithValue(jobset.EpochKey, "1"))
		Expect(onPod(ctx, pod)()).To(BeEmpty())
	})

	DescribeTable("P153: reports on its Pod, and says why, if its Lease is refused by", func(ctx SpecContext, account, fix string, prepare func(*node)) {
		n := newNode(ctx)
		prepare(n)
		pod := n.runsAs(account, "own")

		log := refused(ctx, pod, token(ctx, n.space, account, pod), inLease(n, pod))

		Eventually(onPod(ctx, pod)).Should(Equal("1"))
		Eventually(log).Should(gbytes.Say("the report in the Lease was refused, so it goes to the Pod.* fix=.*" + fix))
	},
		Entry("its rights", "reader", "needs the rights to create and patch leases", func(n *node) {
			n.grant("reader", core("patch", "pods"), agentRule,
				rbacv1.PolicyRule{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets"}, Verbs: []string{"watch", "list"}})
		}),
		Entry("a quota", AgentAccount, "ResourceQuota no-leases leaves no room", (*node).admitsNoLease),
		Entry("the Lease of its name that is somebody else's", AgentAccount, "another object has the name of this agent's Lease", func(n *node) {
			Expect(cluster.Client.Create(n.context, election(n.space, facts.LeaseName("own")))).To(Succeed())
		}),
	)

	It("P36: says that its token is invalid", func(ctx SpecContext) {
		n := newNode(ctx)

		Eventually(refused(ctx, n.runs("own"), "no token")).Should(gbytes.Say(`watching the JobSet failed, retrying" .*401 Unauthorized.* fix="the token is invalid or has expired`))
	})
})
