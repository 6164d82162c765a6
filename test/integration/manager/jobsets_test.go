/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
)

// answersWebhooks creates JobSets through the API server: one is defaulted, one is refused.
func answersWebhooks(ctx context.Context) {
	GinkgoHelper()
	namespace := newNamespace(ctx)
	js := newJobSet(namespace, "good")
	create(ctx, js)
	Expect(js.Spec.SuccessPolicy).NotTo(BeNil(), "defaulted by the mutating webhook")

	bad := newJobSet(namespace, "bad")
	bad.Spec.ReplicatedJobs[0].DependsOn = []jobset.DependsOn{{Name: "nobody", Status: jobset.DependencyReady}}
	Eventually(func() error { return plane.client.Create(ctx, bad) }).Should(
		MatchError(ContainSubstring(`admission webhook "vjobset.kb.io" denied the request`)))
}

// create creates a JobSet. That the authority is in the webhook configurations reaches the API
// server's own watch a moment after us; until then it cannot call the webhooks.
func create(ctx context.Context, js *jobset.JobSet) {
	GinkgoHelper()
	Eventually(func() error {
		err := plane.client.Create(ctx, js)
		if err != nil && !apierrors.IsInternalError(err) {
			return StopTrying("refused").Wrap(err)
		}
		return err
	}).Should(Succeed())
}

func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(plane.client.Create(ctx, namespace)).To(Succeed())
	return namespace.Name
}

func newJobSet(namespace, name string) *jobset.JobSet {
	js := framework.JobSet(name, framework.Replicated("workers", 1, 1))
	js.Namespace = namespace
	return js
}

func jobsOf(ctx context.Context, js *jobset.JobSet) func() int {
	return func() int {
		var jobs batchv1.JobList
		Expect(plane.client.List(ctx, &jobs, client.InNamespace(js.Namespace), client.MatchingLabels{jobset.JobSetNameKey: js.Name})).To(Succeed())
		return len(jobs.Items)
	}
}
