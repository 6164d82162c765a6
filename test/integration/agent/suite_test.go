/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package agent tests what an agent may do, and what it does, against a real API server.
package agent

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
)

func TestAgent(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "JobSet agent")
}

const (
	access = "config/components/agent-access"
	// anyNamespace is what rendered has in the place of a namespace.
	anyNamespace = "any-namespace"
)

var (
	cluster *framework.Cluster
	// rendered is the part of agent-access that a namespace needs.
	rendered string
)

var _ = BeforeSuite(func(ctx SpecContext) {
	cluster = framework.Start(framework.GateOn)
	cluster.Kubectl("apply", "--server-side", "-k", filepath.Join(cluster.Root, access))
	rendered = cluster.Kubectl("kustomize", cluster.Kustomization(anyNamespace, access+"/namespace"))
	// A policy works a moment after it was created, on each API server.
	n := newNode(ctx)
	pod := n.runs("first")
	Eventually(func() error {
		return n.agentOf(pod).Patch(ctx, pod.DeepCopy(), merge(`{"metadata":{"labels":{"a":"b"}}}`), client.DryRunAll)
	}).Should(MatchError(ContainSubstring("may not change labels")))
	Eventually(func() error { return n.agentOf(pod).Create(ctx, election(n.space, "mine"), client.DryRunAll) }).
		Should(MatchError(ContainSubstring("only the Lease jobset.first")))
})

// node is where worker Pods run: a namespace with the account of the agents.
type node struct {
	context context.Context
	space   string
}

func newNode(ctx context.Context) *node {
	GinkgoHelper()
	n := &node{context: ctx, space: cluster.NewNamespace(ctx)}
	giveAccount(ctx, n.space)
	return n
}

// giveAccount creates the part of agent-access that a namespace needs. When it
// returns, the authorizer has heard of it.
func giveAccount(ctx context.Context, namespace string) {
	GinkgoHelper()
	for document := range strings.SplitSeq(strings.ReplaceAll(rendered, anyNamespace, namespace), "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.UnmarshalStrict([]byte(document), object)).To(Succeed())
		Expect(cluster.Client.Create(ctx, object)).To(Succeed())
	}
	account := clientOf(token(ctx, namespace, framework.AgentAccount, nil))
	Eventually(func() error { return account.List(ctx, &jobset.JobSetList{}, client.InNamespace(namespace)) }).Should(Succeed())
}

// runs a worker Pod.
func (n *node) runs(name string) *corev1.Pod {
	GinkgoHelper()
	return n.runsAs(framework.AgentAccount, name)
}

// ranks runs a worker Pod at an index of a Job at an index of a ReplicatedJob, each left out if empty.
func (n *node) ranks(name, job, index string) *corev1.Pod {
	GinkgoHelper()
	pod := n.pod(framework.AgentAccount, name)
	if job != "" {
		pod.Labels[jobset.JobIndexKey] = job
	}
	if index != "" {
		pod.Annotations[batchv1.JobCompletionIndexAnnotation] = index
	}
	Expect(cluster.Client.Create(n.context, pod)).To(Succeed())
	return pod
}

// runsAs runs a worker Pod with an account of its own.
func (n *node) runsAs(account, name string) *corev1.Pod {
	GinkgoHelper()
	pod := n.pod(account, name)
	Expect(cluster.Client.Create(n.context, pod)).To(Succeed())
	return pod
}

// pod returns a worker Pod.
func (n *node) pod(account, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: n.space, Name: name,
			Labels:      map[string]string{"role": "worker"},
			Annotations: map[string]string{"example.com/note": "kept"},
			Finalizers:  []string{"example.com/held"}},
		Spec: corev1.PodSpec{
			NodeName:           "node-0",
			ServiceAccountName: account,
			Containers:         []corev1.Container{{Name: "worker", Image: "worker"}},
		},
	}
}

// token is what the kubelet mounts into a Pod; without a Pod, what anybody may be given.
func token(ctx context.Context, namespace, account string, pod *corev1.Pod) string {
	GinkgoHelper()
	request := &authenticationv1.TokenRequest{}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID,
		}
	}
	holder := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	Expect(cluster.Client.SubResource("token").Create(ctx, holder, request)).To(Succeed())
	return request.Status.Token
}

// configOf talks to the API server with a token and nothing else.
func configOf(token string) *rest.Config {
	config := rest.AnonymousClientConfig(cluster.Config)
	config.QPS = -1
	config.BearerToken = token
	return config
}

func clientOf(token string) client.Client {
	GinkgoHelper()
	c, err := client.New(configOf(token), client.Options{Scheme: cluster.Scheme, Mapper: cluster.Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// agentOf is a client with the token of a Pod.
func (n *node) agentOf(pod *corev1.Pod) client.Client {
	GinkgoHelper()
	return clientOf(token(n.context, n.space, pod.Spec.ServiceAccountName, pod))
}

func merge(patch string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(patch)) }
