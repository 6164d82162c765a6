/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/integration/framework"
)

// granted stores a JobSet and gives an account what the controller gives to it. It returns when the
// authorizer has heard of it.
func (n *node) granted(js *jobset.JobSet, account string) *jobset.JobSet {
	GinkgoHelper()
	n.stores(js)
	err := cluster.Client.Create(n.context, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: account}})
	Expect(client.IgnoreAlreadyExists(err)).To(Succeed())
	Expect(cluster.Client.Create(n.context, children.AgentRole(js, children.AgentsWriteLeases))).To(Succeed())
	Expect(cluster.Client.Create(n.context, children.AgentRoleBinding(js, []string{account}))).To(Succeed())
	Eventually(n.may(account, "patch", "", "pods", "")).Should(BeTrue())
	Eventually(n.may(account, "create", "coordination.k8s.io", "leases", "")).Should(BeTrue())
	Eventually(n.may(account, "watch", jobset.GroupVersion.Group, "jobsets", js.Name)).Should(BeTrue())
	return js
}

// may reports whether the authorizer lets an account do something.
func (n *node) may(account, verb, group, resource, name string) func() (bool, error) {
	return func() (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + n.space + ":" + account,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: n.space, Verb: verb, Group: group, Resource: resource, Name: name},
		}}
		err := cluster.Client.Create(n.context, review)
		return review.Status.Allowed, err
	}
}

// manager gives an account the ClusterRole of the manager, changed or as it ships, and returns its client.
func (n *node) manager(account string, change func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) client.Client {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(cluster.Root, "config/components/rbac/role.yaml"))
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{}
	_, first, _ := strings.Cut(string(text), "---\n")
	first, _, _ = strings.Cut(first, "---\n")
	Expect(yaml.UnmarshalStrict([]byte(first), role)).To(Succeed())
	role.Name = account + "-" + n.space
	if change != nil {
		role.Rules = change(role.Rules)
	}
	Expect(cluster.Client.Create(n.context, role)).To(Succeed())
	Expect(cluster.Client.Create(n.context, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: n.space, Name: account}},
	})).To(Succeed())
	err = cluster.Client.Create(n.context, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: account}})
	Expect(client.IgnoreAlreadyExists(err)).To(Succeed())
	Eventually(n.may(account, "create", rbacv1.GroupName, "roles", "")).Should(BeTrue())
	return clientOf(token(n.context, n.space, account, nil))
}

// secretToken is a token of the old kind, which a Secret holds: it is bound to no Pod and does not end.
func (n *node) secretToken(account string) string {
	GinkgoHelper()
	holder := &corev1.ServiceAccount{}
	Expect(cluster.Client.Get(n.context, client.ObjectKey{Namespace: n.space, Name: account}, holder)).To(Succeed())
	const of = "kubernetes.io/serviceaccount/"
	claims, err := json.Marshal(map[string]string{
		"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:" + n.space + ":" + account,
		of + "namespace": n.space, of + "secret.name": "old", of + "service-account.name": account, of + "service-account.uid": string(holder.UID),
	})
	Expect(err).NotTo(HaveOccurred())
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"ES256"}`)) + "." + encode(claims)
	key, err := keyutil.PrivateKeyFromFile(cluster.SigningKey())
	Expect(err).NotTo(HaveOccurred())
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key.(*ecdsa.PrivateKey), sum[:])
	Expect(err).NotTo(HaveOccurred())
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	token := signed + "." + encode(signature)
	Expect(cluster.Client.Create(n.context, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: "old", Annotations: map[string]string{corev1.ServiceAccountNameKey: account}},
		Type:       corev1.SecretTypeServiceAccountToken,
		Data:       map[string][]byte{corev1.ServiceAccountTokenKey: []byte(token)},
	})).To(Succeed())
	return token
}

var _ = Describe("The rights that the controller grants", func() {
	one := func(ctx SpecContext) (*node, *jobset.JobSet, *corev1.Pod) {
		GinkgoHelper()
		n := newNode(ctx)
		js := n.granted(framework.Training(2, 10), "trainer")
		return n, js, n.runsAs("trainer", "own")
	}
	named := func(name string) client.ListOption { return client.MatchingFields{"metadata.name": name} }

	It("P56: let an agent read its JobSet and report for its own Pod", func(ctx SpecContext) {
		n, js, own := one(ctx)
		agent := n.agentOf(own)

		Expect(agent.Get(ctx, client.ObjectKeyFromObject(js), &jobset.JobSet{})).To(Succeed())
		Expect(agent.List(ctx, &jobset.JobSetList{}, client.InNamespace(n.space), named(js.Name))).To(Succeed())
		Expect(agent.Patch(ctx, own.DeepCopy(), epoch("1"))).To(Succeed())
	})

	It("P56: do not reach the JobSets of others: by name, by a list, or by a list of all", func(ctx SpecContext) {
		n, js, own := one(ctx)
		other := framework.Training(1, 10)
		other.Name = "other"
		n.granted(other, "stranger")
		agent, stranger := n.agentOf(own), n.agentOf(n.runsAs("stranger", "strange"))
		is := func(text string) func(error) { return deny(apierrors.IsForbidden, text) }

		is(`cannot get resource "jobsets"`)(agent.Get(ctx, client.ObjectKeyFromObject(other), &jobset.JobSet{}))
		is(`cannot list resource "jobsets"`)(agent.List(ctx, &jobset.JobSetList{}, client.InNamespace(n.space)))
		is(`cannot list resource "jobsets"`)(agent.List(ctx, &jobset.JobSetList{}, client.InNamespace(n.space), named(other.Name)))
		is(`cannot list resource "jobsets"`)(agent.List(ctx, &jobset.JobSetList{}))
		is(`cannot get resource "jobsets"`)(stranger.Get(ctx, client.ObjectKeyFromObject(js), &jobset.JobSet{}))
		is(`cannot patch resource "jobsets"`)(agent.Patch(ctx, js.DeepCopy(), merge(`{"spec":{"suspend":true}}`)))
		is(`cannot patch resource "jobsets/status"`)(agent.Status().Patch(ctx, js.DeepCopy(), merge(`{"status":{"syncedEpoch":9}}`)))
	})

	It("P56: end at Pods of others, of whatever JobSet or none, and of whatever account", func(ctx SpecContext) {
		n, _, own := one(ctx)
		agent := n.agentOf(own)
		for _, other := range []*corev1.Pod{n.runsAs("trainer", "peer"), n.runs("nobodys"), n.runsAs("default", "plain")} {
			deny(apierrors.IsForbidden, "only the Pod its token is bound to, which is own")(agent.Patch(ctx, other, epoch("1")))
		}
	})

	It("P56: are no use to a Pod of the same account that is no worker", func(ctx SpecContext) {
		n, js, worker := one(ctx)
		shell := n.agentOf(n.runsAs("trainer", "shell"))

		deny(apierrors.IsForbidden, "only the Pod its token is bound to, which is shell")(shell.Patch(ctx, worker.DeepCopy(), epoch("1")))
		deny(apierrors.IsForbidden, `cannot delete resource "jobsets"`)(shell.Delete(ctx, js.DeepCopy()))
	})

	It("P56: are no use to tokens that are bound to no Pod, new or old", func(ctx SpecContext) {
		n, js, own := one(ctx)
		for _, text := range []string{token(ctx, n.space, "trainer", nil), n.secretToken("trainer")} {
			unbound := clientOf(text)
			Expect(unbound.Get(ctx, client.ObjectKeyFromObject(js), &jobset.JobSet{})).To(Succeed(), "the token is good")
			deny(apierrors.IsForbidden, "only with a token that is bound to a Pod")(unbound.Patch(ctx, own.DeepCopy(), epoch("1")))
		}
	})

	It("P56: end with the Role, which goes with its JobSet", func(ctx SpecContext) {
		n, js, own := one(ctx)
		agent := n.agentOf(own)
		// What the garbage collector does; the embedded suite has a real one.
		Expect(cluster.Client.Delete(ctx, js.DeepCopy())).To(Succeed())
		Expect(cluster.Client.Delete(ctx, children.AgentRole(js, children.AgentsWriteLeases))).To(Succeed())
		Expect(cluster.Client.Delete(ctx, children.AgentRoleBinding(js, nil))).To(Succeed())
		Eventually(n.may("trainer", "patch", "", "pods", "")).Should(BeFalse())

		deny(apierrors.IsForbidden, `cannot patch resource "pods"`)(agent.Patch(ctx, own.DeepCopy(), epoch("1")))
		deny(apierrors.IsForbidden, `cannot get resource "jobsets"`)(agent.Get(ctx, client.ObjectKeyFromObject(js), &jobset.JobSet{}))
	})

	It("P56: are none to patch while the admission policy is not in force", func(ctx SpecContext) {
		n := newNode(ctx)
		js := n.stores(framework.Training(2, 10))
		Expect(cluster.Client.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: "trainer"}})).To(Succeed())
		Expect(cluster.Client.Create(ctx, children.AgentRole(js, children.AgentsRead))).To(Succeed())
		Expect(cluster.Client.Create(ctx, children.AgentRoleBinding(js, []string{"trainer"}))).To(Succeed())
		Eventually(n.may("trainer", "watch", jobset.GroupVersion.Group, "jobsets", js.Name)).Should(BeTrue())
		own := n.runsAs("trainer", "own")

		deny(apierrors.IsForbidden, `cannot patch resource "pods"`)(n.agentOf(own).Patch(ctx, own.DeepCopy(), epoch("1")))
	})

	It("P56: can be granted by the manager with the rights that it ships with, and nothing beyond them", func(ctx SpecContext) {
		n := newNode(ctx)
		js := n.stores(framework.Training(1, 10))
		manager := n.manager("manager", nil)

		role, binding := children.AgentRole(js, children.AgentsWriteLeases), children.AgentRoleBinding(js, []string{"default"})
		Expect(manager.Create(ctx, role)).To(Succeed())
		Expect(manager.Create(ctx, binding)).To(Succeed())
		role.Rules = children.AgentRole(js, children.AgentsRead).Rules
		Expect(manager.Patch(ctx, role, client.MergeFrom(children.AgentRole(js, children.AgentsWriteLeases)))).To(Succeed())

		greedy := children.AgentRole(js, children.AgentsWriteLeases)
		greedy.Name, greedy.Rules[0].Verbs = "greedy", []string{"*"}
		deny(apierrors.IsForbidden, "attempting to grant RBAC permissions not currently held")(manager.Create(ctx, greedy))
		binding.Name, binding.ResourceVersion = "greedy", ""
		binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}
		deny(apierrors.IsForbidden, "attempting to grant RBAC permissions not currently held")(manager.Create(ctx, binding))
	})

	It("P153d: are none to write Leases for the manager, which has them to grant them, and bind would give it no less", func(ctx SpecContext) {
		n := newNode(ctx)
		js := n.stores(framework.Training(1, 10))
		leaseOf := func(namespace string) *coordinationv1.Lease { return election(namespace, "somebodys") }
		Expect(cluster.Client.Create(ctx, leaseOf(n.space))).To(Succeed())
		taken := merge(`{"spec":{"holderIdentity":"manager"}}`)

		By("the rights that it ships with: the policy takes it for an agent")
		n.manager("manager", nil)
		shipped := clientOf(token(ctx, n.space, "manager", n.runsAs("manager", "manager")))
		deny(apierrors.IsForbidden, "an agent may write only the Lease jobset.manager")(shipped.Patch(ctx, leaseOf(n.space), taken))
		deny(apierrors.IsForbidden, "an agent may write only the Lease jobset.manager")(shipped.Create(ctx, election(n.space, "new")))
		deny(apierrors.IsForbidden, `cannot update resource "leases"`)(shipped.Update(ctx, leaseOf(n.space)))
		deny(apierrors.IsForbidden, `cannot delete resource "leases"`)(shipped.Delete(ctx, leaseOf(n.space)))
		for _, unguarded := range []string{metav1.NamespaceSystem, corev1.NamespaceNodeLease} {
			Expect(shipped.Create(ctx, leaseOf(unguarded), client.DryRunAll)).To(Succeed(), unguarded)
		}

		By("bind of one ClusterRole in its place")
		binds := n.manager("binder", func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
			rules = slices.DeleteFunc(rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "leases") })
			return append(rules, rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"},
				ResourceNames: []string{constants.AgentAccess}, Verbs: []string{"bind"}})
		})
		deny(apierrors.IsForbidden, "attempting to grant RBAC permissions not currently held")(binds.Create(ctx, children.AgentRole(js, children.AgentsWriteLeases)))
		deny(apierrors.IsForbidden, `cannot create resource "leases"`)(binds.Create(ctx, leaseOf(corev1.NamespaceNodeLease), client.DryRunAll))
		itself := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: "binder-" + n.space},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: constants.AgentAccess},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: n.space, Name: "binder"}},
		}
		Expect(binds.Create(ctx, itself)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(cluster.Client.Delete(ctx, itself)).To(Succeed()) })
		Eventually(func() error { return binds.Create(ctx, leaseOf(corev1.NamespaceNodeLease), client.DryRunAll) }).Should(Succeed())
	})
})
