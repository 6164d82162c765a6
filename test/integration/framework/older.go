/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// CreateAsOlderVersion creates a JobSet as a version that knew no mode stored it: with all other
// defaults, past the webhook that sets them now.
func (w *World) CreateAsOlderVersion(js *jobset.JobSet) *jobset.JobSet {
	GinkgoHelper()
	// rehearse returns the JobSet as it would be stored.
	rehearse := func(js *jobset.JobSet) *jobset.JobSet {
		GinkgoHelper()
		js = js.DeepCopy()
		js.Namespace = w.Namespace
		Expect(w.Client.Create(w.Context, js, client.DryRunAll)).To(Succeed())
		return js
	}
	hasMode := func(js *jobset.JobSet) func() bool {
		return func() bool { return rehearse(js).Spec.FailurePolicy.InPlaceRestart != nil }
	}
	older := js.DeepCopy()
	older.Spec = rehearse(js).Spec
	older.Namespace, older.Spec.FailurePolicy.InPlaceRestart = w.Namespace, nil

	w.defaultWebhook(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{w.Namespace}},
	}})
	Eventually(hasMode(older)).Should(BeFalse(), "the API server skips the webhook")
	Expect(w.Client.Create(w.Context, older)).To(Succeed())
	w.defaultWebhook(nil)
	another := older.DeepCopy()
	another.ObjectMeta = metav1.ObjectMeta{GenerateName: "another-"}
	Eventually(hasMode(another)).Should(BeTrue(), "the API server asks the webhook again")
	return older
}

// defaultWebhook sets for which namespaces the webhook sets defaults; nil means all.
func (w *World) defaultWebhook(namespaces *metav1.LabelSelector) {
	GinkgoHelper()
	var list admissionregistrationv1.MutatingWebhookConfigurationList
	Expect(w.Client.List(w.Context, &list)).To(Succeed())
	for i := range list.Items {
		for j := range list.Items[i].Webhooks {
			if hook := &list.Items[i].Webhooks[j]; hook.Name == "mjobset.kb.io" {
				hook.NamespaceSelector = namespaces
				Expect(w.Client.Update(w.Context, &list.Items[i])).To(Succeed())
				return
			}
		}
	}
	Fail("there is no webhook that sets defaults")
}
