/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// bare is a manifest that says the least one can say.
func bare(more map[string]any) map[string]any {
	spec := map[string]any{
		"replicatedJobs": []any{map[string]any{
			"name": "a",
			"template": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
				"containers": []any{map[string]any{"name": "worker", "image": "worker"}},
			}}}},
		}},
	}
	for key, value := range more {
		spec[key] = value
	}
	return spec
}

var _ = Describe("Defaulting", func() {
	It("O336 O338 O339 O340 O344 W10 W11 W12 W13 W14 W15 W16 W19: fills in what a new JobSet leaves open", func(ctx SpecContext) {
		js, err := newUser(ctx).sends(bare(nil))
		Expect(err).NotTo(HaveOccurred())

		Expect(js.Spec.SuccessPolicy).To(Equal(&jobset.SuccessPolicy{Operator: jobset.OperatorAll}))
		Expect(js.Spec.StartupPolicy).To(Equal(&jobset.StartupPolicy{StartupPolicyOrder: jobset.AnyOrder}))
		Expect(js.Spec.Network).To(Equal(&jobset.Network{EnableDNSHostnames: ptr.To(true), PublishNotReadyAddresses: ptr.To(true)}))
		Expect(js.Spec.ReplicatedJobs[0].GroupName).To(Equal("default"))
		Expect(js.Spec.ReplicatedJobs[0].Replicas).To(BeEquivalentTo(1))
		Expect(JobTemplate(js, 0).CompletionMode).To(HaveValue(Equal(batchv1.IndexedCompletion)))
		Expect(PodTemplate(js, 0).Spec.RestartPolicy).To(Equal(corev1.RestartPolicyOnFailure))
		Expect(js.Spec.FailurePolicy).To(BeNil())
		Expect(js.Spec.ManagedBy).To(BeNil())
		Expect(js.Spec.Suspend).To(BeNil())
		Expect(JobTemplate(js, 0).Parallelism).To(BeNil())
	})

	It("O352 W17 W19: names the rules of a failure policy and takes Recreate", func(ctx SpecContext) {
		js, err := newUser(ctx).sends(bare(map[string]any{"failurePolicy": map[string]any{"rules": []any{
			map[string]any{"action": "FailJobSet"},
			map[string]any{"action": "FailJobSet", "name": "mine"},
			map[string]any{"action": "FailJobSet"},
		}}}))
		Expect(err).NotTo(HaveOccurred())

		Expect(js.Spec.FailurePolicy.RestartStrategy).To(Equal(jobset.Recreate))
		Expect(js.Spec.FailurePolicy.Rules).To(HaveExactElements(
			HaveField("Name", "failurePolicyRule0"), HaveField("Name", "mine"), HaveField("Name", "failurePolicyRule2")))
	})

	It("O363 W18: deletes claims with the JobSet unless told otherwise", func(ctx SpecContext) {
		js := withClaims("data", "logs", "rest")
		templates := js.Spec.VolumeClaimPolicies[0].Templates
		js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{
			{Templates: templates[:1]},
			{Templates: templates[1:2], RetentionPolicy: &jobset.VolumeRetentionPolicy{}},
			{Templates: templates[2:], RetentionPolicy: retain()},
		}

		policies := newUser(ctx).admits(js).Spec.VolumeClaimPolicies

		Expect(policies[0].RetentionPolicy.WhenDeleted).To(HaveValue(Equal(jobset.RetentionPolicyDelete)))
		Expect(policies[1].RetentionPolicy.WhenDeleted).To(HaveValue(Equal(jobset.RetentionPolicyDelete)))
		Expect(policies[2].RetentionPolicy.WhenDeleted).To(HaveValue(Equal(jobset.RetentionPolicyRetain)))
	})

	It("O337 W10 W12 W13 W15: leaves set fields alone", func(ctx SpecContext) {
		js := AB()
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAny}
		js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(false)}
		JobTemplate(js, 0).CompletionMode = ptr.To(batchv1.NonIndexedCompletion)

		js = newUser(ctx).admits(js)

		Expect(js.Spec.SuccessPolicy.Operator).To(Equal(jobset.OperatorAny))
		Expect(js.Spec.Network.EnableDNSHostnames).To(HaveValue(BeFalse()))
		Expect(js.Spec.Network.PublishNotReadyAddresses).To(HaveValue(BeTrue()))
		Expect(JobTemplate(js, 0).CompletionMode).To(HaveValue(Equal(batchv1.NonIndexedCompletion)))
		Expect(PodTemplate(js, 0).Spec.RestartPolicy).To(Equal(corev1.RestartPolicyNever))
	})

	It("W8: keeps explicit zeros, and with them a later server-side apply changes nothing", func(ctx SpecContext) {
		u := newUser(ctx)
		js, err := u.sends(bare(map[string]any{"failurePolicy": map[string]any{"maxRestarts": int64(0)}}))
		Expect(err).NotTo(HaveOccurred())

		manifest := []byte(`{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"js"},
			"spec":{"failurePolicy":{"maxRestarts":0},"replicatedJobs":[{"name":"a","template":{"spec":{"template":{"spec":{
			"containers":[{"name":"worker","image":"worker"}]}}}}}]}}`)
		for range 2 {
			Expect(u.Client.Patch(ctx, js, client.RawPatch(types.ApplyPatchType, manifest), client.FieldOwner("me"), client.ForceOwnership)).To(Succeed())
			Expect(js.Generation).To(BeEquivalentTo(1))
		}
	})

	It("W9: applies whoever manages the JobSet", func(ctx SpecContext) {
		js := AB()
		js.Spec.ManagedBy = ptr.To("example.com/other")

		Expect(newUser(ctx).admits(js).Spec.SuccessPolicy).NotTo(BeNil())
	})

	It("W20a: comes again on update: a replace by the first manifest changes nothing, and one that takes away more is refused", func(ctx SpecContext) {
		u := newUser(ctx)
		js, err := u.sends(bare(map[string]any{"network": map[string]any{"subdomain": "ring"}}))
		Expect(err).NotTo(HaveOccurred())

		Expect(u.replaces(bare(map[string]any{"network": map[string]any{"subdomain": "ring"}}))).To(Succeed())
		Expect(u.Client.Get(ctx, client.ObjectKeyFromObject(js), js)).To(Succeed())
		Expect(js.Generation).To(BeEquivalentTo(1))
		ofWebhook(answer(u.replaces(bare(nil))), immutableValue("spec.network"))
	})

	It("W7: a generated name is known to admission, and short enough", func(ctx SpecContext) {
		u := newUser(ctx)
		js := AB()
		js.Name, js.GenerateName = "", "generated-"
		Expect(u.admits(js).Name).To(MatchRegexp(`^generated-.{5}$`))

		js.GenerateName = "generated-of-fifty-two-characters-which-is-too-long-"
		status := u.refuses(js)

		Expect(status.Details.Causes).To(ContainElement(HaveField("Message",
			ContainSubstring("pod names generated for this JobSet will exceed 63 characters"))))
		Expect(status.Details.Name).To(HavePrefix("generated-of-fifty-two"))
		Expect(status.Details.Causes[0].Type).To(Equal(metav1.CauseTypeFieldValueInvalid))
	})
})
