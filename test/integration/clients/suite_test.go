/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package clients tests the generated clients of client-go, and the program of
// examples/client-go, against a real API server. No controller runs: the specs
// write the status.
package clients

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/client-go/clientset/versioned"
	typed "sigs.k8s.io/jobset/client-go/clientset/versioned/typed/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
)

func TestClients(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Generated clients")
}

var (
	cluster   *framework.Cluster
	clientset *versioned.Clientset
)

var _ = BeforeSuite(func() {
	cluster = framework.Start(framework.GateOn)
	var err error
	clientset, err = versioned.NewForConfig(cluster.Config)
	Expect(err).NotTo(HaveOccurred())
})

// newClient is a client for the JobSets of a namespace of its own.
func newClient(ctx context.Context) (client typed.JobSetInterface, namespace string) {
	GinkgoHelper()
	namespace = cluster.NewNamespace(ctx)
	return clientset.JobsetV1alpha2().JobSets(namespace), namespace
}

// create stores a JobSet by the typed client.
func create(ctx context.Context, client typed.JobSetInterface, js *jobset.JobSet) *jobset.JobSet {
	GinkgoHelper()
	created, err := client.Create(ctx, js, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return created
}

// get reads a JobSet by the typed client.
func get(ctx context.Context, client typed.JobSetInterface, name string) *jobset.JobSet {
	GinkgoHelper()
	js, err := client.Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return js
}

// condition is a condition of this type that is True.
func condition(kind jobset.JobSetConditionType, message string) metav1.Condition {
	return metav1.Condition{
		Type: string(kind), Status: metav1.ConditionTrue, Reason: "Spec", Message: message,
		LastTransitionTime: metav1.Now().Rfc3339Copy(),
	}
}

// report adds a condition to the status of a JobSet, as its controller does.
func report(ctx context.Context, client typed.JobSetInterface, name string, kind jobset.JobSetConditionType, message string) *jobset.JobSet {
	GinkgoHelper()
	js := get(ctx, client, name)
	js.Status.Conditions = append(js.Status.Conditions, condition(kind, message))
	updated, err := client.UpdateStatus(ctx, js, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return updated
}
