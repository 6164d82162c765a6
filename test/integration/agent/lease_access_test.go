/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/test/integration/framework"
)

// leases is a right to write Leases.
func leases(verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: verbs}
}

// reportOf is the Lease that the agent of a Pod writes at epoch 1, as the API server stores it.
func reportOf(pod *corev1.Pod, changes ...func(*coordinationv1.Lease)) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: facts.LeaseName(pod.Name),
		Labels:          map[string]string{jobset.JobSetUIDKey: "some-uid"},
		Annotations:     map[string]string{jobset.EpochKey: "1"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
	}}
	for _, change := range changes {
		change(lease)
	}
	return lease
}

// election is the Lease of a leader election.
func election(namespace, name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("leader")},
	}
}

// admitsNoLease makes a quota of Leases that is used up, as its controller would.
func (n *node) admitsNoLease() {
	GinkgoHelper()
	none := corev1.ResourceList{"count/leases.coordination.k8s.io": resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: "no-leases"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	Expect(cluster.Client.Create(n.context, quota)).To(Succeed())
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	Expect(cluster.Client.Status().Update(n.context, quota)).To(Succeed())
	Eventually(func() error { return cluster.Client.Create(n.context, election(n.space, "operator"), client.DryRunAll) }).Should(MatchError(ContainSubstring("exceeded quota")))
}

// mergeOf is the merge patch that an agent writes: all that it says of its Lease.
func mergeOf(lease *coordinationv1.Lease) client.Patch {
	GinkgoHelper()
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"labels": lease.Labels, "annotations": lease.Annotations, "ownerReferences": lease.OwnerReferences, "finalizers": lease.Finalizers,
	}, "spec": lease.Spec})
	Expect(err).NotTo(HaveOccurred())
	return merge(string(text))
}

func annotated(key, value string) func(*coordinationv1.Lease) {
	return func(lease *coordinationv1.Lease) { lease.Annotations[key] = value }
}

var _ = Describe("The rights of an agent on Leases", func() {
	const otherLease = "an agent may write only the Lease jobset.own, that of the Pod its token is bound to"
	forbidden := func(text string) func(error) { return deny(apierrors.IsForbidden, text) }
	invalid := func(text string) func(error) { return deny(apierrors.IsInvalid, text) }
	elections := func(ctx SpecContext, n *node) client.Client {
		n.grant("elector", leases("create", "patch", "update", "get"))
		return clientOf(token(ctx, n.space, "elector", n.runsAs("elector", "elector")))
	}

	It("P153: let it create the Lease of its own Pod and patch it, again and again", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		agent := n.agentOf(own)
		told, err := protocol.ProgressReport{Epoch: 1}.Encode()
		Expect(err).NotTo(HaveOccurred())

		Expect(agent.Create(ctx, reportOf(own))).To(Succeed())
		for _, change := range []func(*coordinationv1.Lease){
			annotated(jobset.EpochKey, "2"), annotated(protocol.WorkerExitKey, `{"container":"w","epoch":1,"leave":"`+strings.Repeat("a", 474)+`"}`),
			annotated(protocol.ProgressKey, told), annotated(jobset.AddressKey, "10.0.0.1"),
		} {
			Expect(agent.Patch(ctx, reportOf(own), mergeOf(reportOf(own, change)))).To(Succeed())
		}

		stored := &coordinationv1.Lease{}
		Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(reportOf(own)), stored)).To(Succeed())
		Expect(facts.OfLease(stored).Of).To(Equal(own.UID))
		Expect(stored.Annotations).To(HaveLen(4))
	})

	It("P153: let an account that the controller granted them to do so, and nothing beyond create and patch", func(ctx SpecContext) {
		n := newNode(ctx)
		n.granted(framework.Training(2, 10), "default")
		own := n.runsAs("default", "own")
		agent := n.agentOf(own)

		Expect(agent.Create(ctx, reportOf(own))).To(Succeed())
		Expect(agent.Patch(ctx, reportOf(own), mergeOf(reportOf(own, annotated(jobset.EpochKey, "2"))))).To(Succeed())
		forbidden(`cannot get resource "leases"`)(agent.Get(ctx, client.ObjectKeyFromObject(reportOf(own)), &coordinationv1.Lease{}))
		forbidden(`cannot list resource "leases"`)(agent.List(ctx, &coordinationv1.LeaseList{}, client.InNamespace(n.space)))
		forbidden(`cannot update resource "leases"`)(agent.Update(ctx, reportOf(own)))
		forbidden(`cannot delete resource "leases"`)(agent.Delete(ctx, reportOf(own)))
	})

	// forgeries are what is wrong with a Lease that no agent may write.
	forgeries := []struct {
		name    string
		refused func(error)
		change  func(*coordinationv1.Lease)
	}{
		{"a Lease that is owned by an object of another kind", forbidden("must have one owner, the Pod that the token is bound to"), func(l *coordinationv1.Lease) {
			l.OwnerReferences[0].APIVersion, l.OwnerReferences[0].Kind = "batch/v1", "Job"
		}},
		{"one that is owned by another Pod", forbidden("must have one owner"), func(l *coordinationv1.Lease) {
			l.OwnerReferences[0].Name, l.OwnerReferences[0].UID = "other", "uid-of-other"
		}},
		{"one that is owned by an earlier Pod of its name", forbidden("must have one owner"), func(l *coordinationv1.Lease) { l.OwnerReferences[0].UID = "earlier" }},
		{"a second owner", forbidden("must have one owner"), func(l *coordinationv1.Lease) {
			l.OwnerReferences = append(l.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "other", UID: "uid-of-other"})
		}},
		{"no owner", forbidden("must have one owner"), func(l *coordinationv1.Lease) { l.OwnerReferences = []metav1.OwnerReference{} }},
		{"an owner that is its controller", forbidden("without controller and blockOwnerDeletion"), func(l *coordinationv1.Lease) { l.OwnerReferences[0].Controller = ptr.To(true) }},
		{"an owner whose deletion waits for it", forbidden("without controller and blockOwnerDeletion"), func(l *coordinationv1.Lease) {
			l.OwnerReferences[0].BlockOwnerDeletion = ptr.To(true)
		}},
		{"finalizers", forbidden("must have no finalizers"), func(l *coordinationv1.Lease) { l.Finalizers = []string{"example.com/held"} }},
		{"a holder", forbidden("must have an empty spec"), func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = ptr.To("me") }},
		{"a time of renewal", forbidden("must have an empty spec"), func(l *coordinationv1.Lease) { l.Spec.RenewTime = ptr.To(metav1.NowMicro()) }},
		{"another label", forbidden("and no other"), func(l *coordinationv1.Lease) { l.Labels["role"] = "leader" }},
		{"another annotation", forbidden("may have no annotation but"), annotated("example.com/note", "mine")},
		{"an epoch that is none", invalid("must be a decimal number from 1 to 2147483647"), annotated(jobset.EpochKey, "01")},
		{"an epoch beyond 32 bits", invalid("must be a decimal number from 1 to 2147483647"), annotated(jobset.EpochKey, "2147483648")},
		{"an exit of more than 512 bytes", invalid("must have at most 512 bytes"), annotated(protocol.WorkerExitKey, strings.Repeat("ä", 257))},
		{"an exit that blames another Pod", invalid("that begins with a container"), annotated(protocol.WorkerExitKey, forgedExits[0])},
		{"an exit that reads as planned", invalid("that begins with a container"), annotated(protocol.WorkerExitKey, forgedExits[4])},
		{"progress that is no flat object", invalid("must have at most 256 bytes"), annotated(protocol.ProgressKey, "[]")},
		{"an address that is none", invalid("must be an IPv4 address"), annotated(jobset.AddressKey, "example.com")},
	}

	// Each is tried as a create, and as a patch of the Lease as it should be.
	It("P153: do not let it write a Lease that is not as it should be", func(ctx SpecContext) {
		n := newNode(ctx)
		var attempts []attempt
		for i, forgery := range forgeries {
			attempts = append(attempts, attempt{forgery.name, func() {
				own := n.runs(fmt.Sprintf("own-%d", i)) // so that one Lease that is let in spoils no other attempt
				agent := n.agentOf(own)

				forgery.refused(agent.Create(ctx, reportOf(own, forgery.change)))
				Expect(agent.Create(ctx, reportOf(own))).To(Succeed())
				forgery.refused(agent.Patch(ctx, reportOf(own), mergeOf(reportOf(own, forgery.change))))
			}})
		}
		allRefused(attempts)
	})

	It("P153: do not let it write the Lease of another Pod, or of a leader election in its namespace", func(ctx SpecContext) {
		n := newNode(ctx)
		own, other := n.runs("own"), n.runs("other")
		agent := n.agentOf(own)
		Expect(n.agentOf(other).Create(ctx, reportOf(other))).To(Succeed())
		Expect(cluster.Client.Create(ctx, election(n.space, "operator"))).To(Succeed())

		forbidden(otherLease)(agent.Patch(ctx, reportOf(other), mergeOf(reportOf(other, annotated(jobset.EpochKey, "2")))))
		forbidden(otherLease)(agent.Patch(ctx, reportOf(other), mergeOf(reportOf(own))))
		forbidden(otherLease)(agent.Patch(ctx, election(n.space, "operator"), merge(`{"spec":{"holderIdentity":"me"}}`)))
		forbidden(otherLease)(agent.Patch(ctx, election(n.space, "operator"), mergeOf(reportOf(own))))
		forbidden(otherLease)(agent.Create(ctx, election(n.space, "mine")))
		forbidden(otherLease)(agent.Create(ctx, reportOf(own, func(l *coordinationv1.Lease) { l.Name, l.GenerateName = "", "jobset.own" })))
	})

	It("P153: do not let it take the Lease of its name that is somebody else's, or drop its label", func(ctx SpecContext) {
		n := newNode(ctx)
		own, owned, mine := n.runs("own"), n.runs("owned"), n.runs("mine")
		Expect(cluster.Client.Create(ctx, election(n.space, facts.LeaseName("own")))).To(Succeed())
		Expect(cluster.Client.Create(ctx, reportOf(owned, func(l *coordinationv1.Lease) { l.OwnerReferences[0].UID = "of-an-earlier-pod" }))).To(Succeed())

		forbidden("was not created by the agent of this Pod")(n.agentOf(own).Patch(ctx, reportOf(own), mergeOf(reportOf(own))))
		forbidden("was not created by the agent of this Pod")(n.agentOf(owned).Patch(ctx, reportOf(owned), mergeOf(reportOf(owned))))
		agent := n.agentOf(mine)
		Expect(agent.Create(ctx, reportOf(mine))).To(Succeed())
		forbidden("must have the label")(agent.Patch(ctx, reportOf(mine), merge(`{"metadata":{"labels":null}}`)))
	})

	It("P153: end where a token is not bound to a Pod", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")

		forbidden("an agent may write Leases only with a token that is bound to a Pod")(clientOf(token(ctx, n.space, framework.AgentAccount, nil)).Create(ctx, reportOf(own)))
	})

	It("P153: let nobody report for a Pod who may write Leases for a leader election", func(ctx SpecContext) {
		n := newNode(ctx)
		own, other := n.runs("own"), n.runs("other")
		Expect(n.agentOf(own).Create(ctx, reportOf(own))).To(Succeed())
		elector := elections(ctx, n)
		const notYours = "an agent may write only the Lease jobset.elector"

		forbidden(notYours)(elector.Create(ctx, reportOf(other)))
		forbidden(notYours)(elector.Patch(ctx, reportOf(own), merge(`{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"2"}}}`)))
		forbidden(notYours)(elector.Patch(ctx, reportOf(own), merge(`{"metadata":{"labels":null}}`)))
		stored := &coordinationv1.Lease{}
		Expect(elector.Get(ctx, client.ObjectKeyFromObject(reportOf(own)), stored)).To(Succeed())
		stored.Annotations[jobset.EpochKey] = "2"
		forbidden(notYours)(elector.Update(ctx, stored))
		Expect(elector.Create(ctx, election(n.space, "operator"))).To(Succeed())
		forbidden(notYours)(elector.Patch(ctx, election(n.space, "operator"), mergeOf(reportOf(other))))
	})

	It("P153: leave leader elections alone, those of an agent's own account too", func(ctx SpecContext) {
		n := newNode(ctx)
		renew := merge(`{"spec":{"leaseTransitions":1}}`)
		elector := elections(ctx, n)
		Expect(elector.Create(ctx, election(n.space, "operator"))).To(Succeed())
		Expect(elector.Patch(ctx, election(n.space, "operator"), renew)).To(Succeed())

		n.grant(framework.AgentAccount, leases("update"))
		own := n.runs("own")
		agent := n.agentOf(own)
		Expect(agent.Create(ctx, election(n.space, "trainer"))).To(Succeed())
		Expect(agent.Patch(ctx, election(n.space, "trainer"), renew)).To(Succeed())
		Expect(agent.Create(ctx, reportOf(own))).To(Succeed())
		forbidden(otherLease)(agent.Create(ctx, reportOf(n.runs("other"))))
	})

	It("P153: do not grow by the right to update Pods: it gives no leader election to an agent", func(ctx SpecContext) {
		n := newNode(ctx)
		n.grant(framework.AgentAccount, core("update", "pods"))
		own := n.runs("own")
		agent := n.agentOf(own)
		Expect(cluster.Client.Create(ctx, election(n.space, "operator"))).To(Succeed())

		forbidden(otherLease)(agent.Patch(ctx, election(n.space, "operator"), merge(`{"spec":{"holderIdentity":"me"}}`)))
		forbidden(otherLease)(agent.Patch(ctx, election(n.space, "operator"), merge(`{"metadata":{"labels":{"jobset.sigs.k8s.io/jobset-uid":"some-uid"}},"spec":{"holderIdentity":"me"}}`)))
		Expect(agent.Create(ctx, reportOf(own))).To(Succeed())
	})

	It("P153: leave alone who may update Pods and Leases, and the controllers and heartbeats of Kubernetes", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		n.grant("operator", core("update", "pods"), leases("update", "create", "patch"))
		operator := clientOf(token(ctx, n.space, "operator", nil))
		Expect(operator.Create(ctx, reportOf(own))).To(Succeed())
		Expect(operator.Patch(ctx, reportOf(own), merge(`{"metadata":{"annotations":{"example.com/note":"kept"}}}`))).To(Succeed())

		collector := asUser("system:serviceaccount:kube-system:generic-garbage-collector", "system:serviceaccounts", "system:serviceaccounts:kube-system",
			"system:masters", "system:authenticated")
		Expect(collector.Patch(ctx, reportOf(own), merge(`{"metadata":{"ownerReferences":null}}`))).To(Succeed())
		Expect(cluster.Client.Patch(ctx, reportOf(own), merge(`{"metadata":{"labels":null}}`))).To(Succeed())
		for _, namespace := range []string{"kube-node-lease", metav1.NamespaceSystem} {
			cluster.Kubectl("create", "clusterrolebinding", "heart-"+namespace+"-"+n.space, "--clusterrole=jobset-agent", "--serviceaccount="+n.space+":"+framework.AgentAccount)
			heart := election(namespace, "node-"+n.space)
			Eventually(func() error { return client.IgnoreAlreadyExists(n.agentOf(own).Create(ctx, heart.DeepCopy())) }).Should(Succeed(), "no policy looks at it")
		}
	})

	It("P153: are none while a quota leaves no room for Leases", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		n.admitsNoLease()

		forbidden("exceeded quota: no-leases")(n.agentOf(own).Create(ctx, reportOf(own)))
	})
})

var _ = Describe("The leader election of a namespace", func() {
	// elects runs a leader election as client-go does until it leads and has renewed.
	elects := func(ctx SpecContext, candidate *corev1.Pod, lease string) {
		GinkgoHelper()
		life, end := context.WithTimeout(ctx, 20*time.Second)
		defer end()
		config := configOf(token(ctx, candidate.Namespace, candidate.Spec.ServiceAccountName, candidate))
		lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, candidate.Namespace, lease, resourcelock.ResourceLockConfig{Identity: "me"}, config, 2*time.Second)
		Expect(err).NotTo(HaveOccurred())
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStoppedLeading: func() {}, OnStartedLeading: func(context.Context) {
				defer end()
				first := &coordinationv1.Lease{}
				Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: candidate.Namespace, Name: lease}, first)).To(Succeed())
				Eventually(func(g Gomega) {
					renewed := &coordinationv1.Lease{}
					g.Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(first), renewed)).To(Succeed())
					g.Expect(renewed.Spec.RenewTime.Time).To(BeTemporally(">", first.Spec.RenewTime.Time))
				}).WithContext(life).Should(Succeed())
			}}})
		Expect(err).NotTo(HaveOccurred())
		elector.Run(life)
		released := &coordinationv1.Lease{}
		Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: candidate.Namespace, Name: lease}, released)).To(Succeed())
		Expect(released.Spec.HolderIdentity).To(HaveValue(BeEmpty()), "led, and gave up at the end")
	}

	DescribeTable("P153c: goes on when a JobSet uses its account:", func(ctx SpecContext, rules ...rbacv1.PolicyRule) {
		n := newNode(ctx)
		n.grant("default", rules...)
		candidate := n.runsAs("default", "candidate")
		elects(ctx, candidate, "operator")
		n.granted(framework.Training(2, 10), "default")
		elects(ctx, candidate, "operator")
		Expect(cluster.Client.Delete(ctx, election(n.space, "operator"))).To(Succeed())
		elects(ctx, candidate, "operator")
	},
		Entry("with a role for all Leases", leases("create", "get", "update")),
		Entry("with a role for its own Lease", leases("create"), named("operator", leases("get", "update", "patch"))),
	)

	It("P153c: gains nothing on the Leases of others by a role for its own", func(ctx SpecContext) {
		n := newNode(ctx)
		n.grant("default", leases("create"), named("operator", leases("get", "update", "patch")))
		n.granted(framework.Training(2, 10), "default")
		own, other := n.runsAs("default", "own"), n.runs("other")
		agent := n.agentOf(own)
		Expect(cluster.Client.Create(ctx, election(n.space, "another"))).To(Succeed())

		deny(apierrors.IsForbidden, "an agent may write only the Lease jobset.own")(agent.Patch(ctx, election(n.space, "another"), merge(`{"spec":{"holderIdentity":"me"}}`)))
		Expect(agent.Create(ctx, election(n.space, "operator"))).To(Succeed())
		deny(apierrors.IsForbidden, "an agent may write only the Lease jobset.own")(agent.Patch(ctx, election(n.space, "operator"), mergeOf(reportOf(other))))
		Expect(agent.Create(ctx, reportOf(own))).To(Succeed())
	})
})

// named is a right to one object.
func named(name string, rule rbacv1.PolicyRule) rbacv1.PolicyRule {
	rule.ResourceNames = []string{name}
	return rule
}
