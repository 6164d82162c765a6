/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/workerpod"
)

// withoutRestartRules makes the API server drop what Pods say about restarts of their one regular container, as one
// does whose gate ContainerRestartRules is off: so do 1.34 by default, and every one whose kubelets do not know the
// rules. It returns the labels of namespaces where that holds, and removes it with the spec.
func withoutRestartRules(ctx SpecContext) map[string]string {
	GinkgoHelper()
	labels := map[string]string{"stories/restart-rules": "dropped"}
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "story-"},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			FailurePolicy:      ptr.To(admissionregistrationv1.Fail),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: labels},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			MatchConditions: []admissionregistrationv1.MatchCondition{{
				Name: "has-rules", Expression: "has(object.spec.containers[0].restartPolicyRules)",
			}},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{Expression: `[
					JSONPatch{op: "remove", path: "/spec/containers/0/restartPolicyRules"},
					JSONPatch{op: "remove", path: "/spec/containers/0/restartPolicy"}]`},
			}},
		},
	}
	Expect(api.Create(ctx, policy)).To(Succeed())
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy.Name},
	}
	Expect(api.Create(ctx, binding)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(api.Delete(ctx, binding))).To(Succeed())
		Expect(client.IgnoreNotFound(api.Delete(ctx, policy))).To(Succeed())
	})
	dropped(newFixture(ctx, labels))
	return labels
}

// dropped waits until the policy is in force.
func dropped(s *fixture) {
	GinkgoHelper()
	s.eventually(func(expect Gomega) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "rehearsal"},
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
				Name: workerName, Image: WorkerImage,
				RestartPolicy: ptr.To(corev1.ContainerRestartPolicyNever), RestartPolicyRules: workerpod.RestartAllUnless(0),
			}}},
		}
		expect.Expect(api.Create(s.ctx, pod, client.DryRunAll)).To(Succeed())
		expect.Expect(pod.Spec.Containers[0].RestartPolicyRules).To(BeEmpty())
	}).Should(Succeed())
}
