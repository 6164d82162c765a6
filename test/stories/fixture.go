/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	testcluster "sigs.k8s.io/jobset/test/cluster"
)

// The cluster that the stories happen on.
var (
	cluster    Cluster
	api        client.WithWatch
	discoverer discovery.DiscoveryInterface
)

// API is an administrator's client of the cluster.
func API() client.WithWatch { return api }

// Use tells the stories which cluster to happen on. Call it before the first begins.
func Use(c Cluster) error {
	made, err := client.NewWithWatch(c.Config(), client.Options{Scheme: testcluster.NewScheme()})
	if err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	if discoverer, err = discovery.NewDiscoveryClientForConfig(c.Config()); err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	cluster, api = c, made
	return nil
}

// fixture is a namespace of a story's own, and the record of what happens there.
type fixture struct {
	ctx       context.Context
	namespace string
	record    *record
}

// newFixture makes a fixture that is removed at the end of the spec. What
// happened is kept if the spec failed.
func newFixture(ctx SpecContext, labels map[string]string) *fixture {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "story-", Labels: labels}}
	Expect(api.Create(ctx, namespace)).To(Succeed())
	s := &fixture{ctx: ctx, namespace: namespace.Name}
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			s.ctx = ctx
			s.keepEvidence()
		}
		Expect(client.IgnoreNotFound(api.Delete(ctx, namespace))).To(Succeed())
	})
	following, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	var err error
	s.record, err = follow(following, api, s.namespace)
	Expect(err).NotTo(HaveOccurred())
	return s
}

// hasAccount makes a service account.
func (s *fixture) hasAccount(name string) {
	GinkgoHelper()
	Expect(api.Create(s.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}})).To(Succeed())
}

// isPrepared makes the account of agents that manifests bring, with what such agents may do.
func (s *fixture) isPrepared() {
	GinkgoHelper()
	s.hasAccount(account)
	Expect(api.Create(s.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.namespace, Name: account}},
	})).To(Succeed())
}

// eventually is Eventually for things that take seconds at most where nothing is wrong.
func (s *fixture) eventually(what any) AsyncAssertion {
	return Eventually(what).WithContext(s.ctx).WithTimeout(patience).WithPolling(tick)
}
