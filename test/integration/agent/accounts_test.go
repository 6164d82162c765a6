/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// agentRule marks an account as an agent's, core is a right to something of the core group.
var agentRule = rbacv1.PolicyRule{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets/agent"}, Verbs: []string{"report"}}

func core(verb string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: resources, Verbs: []string{verb}}
}

// grant lets an account of the namespace do something there. It makes the account if it is
// missing, and returns when the authorizer has heard of it all.
func (n *node) grant(account string, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: n.space, GenerateName: account + "-"}, Rules: rules}
	Expect(cluster.Client.Create(n.context, role)).To(Succeed())
	n.bind(account, "Role", role.Name, rules...)
}

func (n *node) bind(account, kind, role string, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	err := cluster.Client.Create(n.context, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: account}})
	Expect(client.IgnoreAlreadyExists(err)).To(Succeed())
	Expect(cluster.Client.Create(n.context, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: n.space, GenerateName: account + "-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: n.space, Name: account}}})).To(Succeed())
	for _, rule := range rules {
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + n.space + ":" + account,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: n.space, Verb: rule.Verbs[0],
				Group: rule.APIGroups[0], Resource: resource, Subresource: subresource, Name: strings.Join(rule.ResourceNames, "")},
		}}
		Eventually(func(g Gomega) {
			asked := review.DeepCopy()
			g.Expect(cluster.Client.Create(n.context, asked)).To(Succeed())
			g.Expect(asked.Status.Allowed).To(BeTrue())
		}).Should(Succeed())
	}
}

// asUser is a client with the rights of a user who has no token here.
func asUser(name string, groups ...string) client.Client {
	GinkgoHelper()
	config := rest.CopyConfig(cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: groups}
	c, err := client.New(config, client.Options{Scheme: cluster.Scheme, Mapper: cluster.Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	return c
}

var _ = Describe("Accounts that may patch Pods", func() {
	relabel := merge(`{"metadata":{"labels":{"role":"leader"}}}`)
	const narrowed = "an agent may not change labels"

	DescribeTable("P56 O101: are narrowed as agents, whatever they are called:",
		func(ctx SpecContext, rules ...rbacv1.PolicyRule) {
			n := newNode(ctx)
			n.grant("trainer", rules...)
			own, other := n.runsAs("trainer", "own"), n.runs("other")
			trainer := n.agentOf(own)

			deny(apierrors.IsForbidden, narrowed)(trainer.Patch(ctx, own.DeepCopy(), relabel))
			deny(apierrors.IsForbidden, "only the Pod its token is bound to, which is own")(trainer.Patch(ctx, other.DeepCopy(), epoch("1")))
			Expect(trainer.Patch(ctx, own.DeepCopy(), epoch("1"))).To(Succeed())
		},
		Entry("the marker in a role of their own", core("patch", "pods"), agentRule),
		Entry("beside rights to other things, as to cloud credentials", core("patch", "pods"), core("get", "secrets"), agentRule),
		Entry("with an update of one Pod by its name", core("patch", "pods"), agentRule,
			rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{"elsewhere"}, Verbs: []string{"update"}}),
		Entry("with the marker by a wildcard", core("patch", "pods"),
			rbacv1.PolicyRule{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"*"}}),
	)

	DescribeTable("P56: are narrowed as agents when somebody binds them to the role of one, which the controller may have filled in:",
		func(ctx SpecContext, subject rbacv1.Subject, user string, groups ...string) {
			n := newNode(ctx)
			pod := n.runs("own")
			role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: "of-an-agent"}, Rules: []rbacv1.PolicyRule{core("patch", "pods"), agentRule}}
			Expect(cluster.Client.Create(ctx, role)).To(Succeed())
			Expect(cluster.Client.Create(ctx, &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: "of-an-agent"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
				Subjects:   []rbacv1.Subject{subject}})).To(Succeed())
			somebody := asUser(user, groups...)
			Eventually(func() error { return somebody.Patch(ctx, pod.DeepCopy(), relabel) }).
				Should(MatchError(ContainSubstring("an agent may change Pods only with a token that is bound to a Pod")))
		},
		Entry("a person", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "mallory"}, "mallory", "system:authenticated"),
		Entry("a group", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "strangers"}, "mallory", "strangers", "system:authenticated"),
		Entry("an account of another namespace", rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "elsewhere", Name: "mallory"},
			"system:serviceaccount:elsewhere:mallory", "system:serviceaccounts", "system:serviceaccounts:elsewhere", "system:authenticated"),
	)

	DescribeTable("P56: are left alone if they are no agents:",
		func(ctx SpecContext, write func(ctx SpecContext, n *node, pod *corev1.Pod) error) {
			n := newNode(ctx)
			pod := n.runs("own")

			Expect(write(ctx, n, pod)).To(Succeed())
		},
		Entry("an executor of a workflow engine, with patch alone", func(ctx SpecContext, n *node, pod *corev1.Pod) error {
			n.grant("executor", core("patch", "pods"))
			return clientOf(token(ctx, n.space, "executor", nil)).Patch(ctx, pod, relabel)
		}),
		Entry("an executor that may watch JobSets too", func(ctx SpecContext, n *node, pod *corev1.Pod) error {
			n.grant("executor", core("patch", "pods"),
				rbacv1.PolicyRule{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets"}, Verbs: []string{"list", "watch"}})
			return clientOf(token(ctx, n.space, "executor", nil)).Patch(ctx, pod, relabel)
		}),
		Entry("an operator that may update Pods, the marker or not", func(ctx SpecContext, n *node, pod *corev1.Pod) error {
			n.grant("operator", core("patch", "pods"), core("update", "pods"), agentRule)
			operator := clientOf(token(ctx, n.space, "operator", nil))
			if err := operator.Patch(ctx, pod, relabel); err != nil {
				return err
			}
			pod.Labels["role"] = "worker"
			return operator.Update(ctx, pod)
		}),
		Entry("the account of an operator that administers the namespace", func(ctx SpecContext, n *node, pod *corev1.Pod) error {
			n.bind("admin", "ClusterRole", "cluster-admin", core("patch", "pods"))
			return clientOf(token(ctx, n.space, "admin", nil)).Patch(ctx, pod, relabel)
		}),
		Entry("a controller of another namespace", func(ctx SpecContext, n *node, pod *corev1.Pod) error {
			return asUser("system:serviceaccount:kube-system:job-controller", "system:serviceaccounts", "system:serviceaccounts:kube-system",
				"system:authenticated").Patch(ctx, pod, merge(`{"metadata":{"finalizers":null}}`))
		}),
		Entry("a kubelet that writes the status", func(ctx SpecContext, n *node, pod *corev1.Pod) error {
			return asUser("system:node:node-0", "system:nodes", "system:masters", "system:authenticated").
				Status().Patch(ctx, pod, merge(`{"status":{"phase":"Running"}}`))
		}),
		Entry("an administrator", func(ctx SpecContext, n *node, pod *corev1.Pod) error {
			return cluster.Client.Patch(ctx, pod, relabel)
		}),
	)
})
