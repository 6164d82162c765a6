/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// What admission refuses is shown rule by rule in pkg/validation; here is what the API server makes of its answers.
var _ = Describe("Admission of a new JobSet", func() {
	It("O361 O347 W32 W6: lets in one without ReplicatedJobs, with a warning", func(ctx SpecContext) {
		u := newUser(ctx)
		u.admits(JobSet("empty"))
		Expect(u.Warnings).To(ConsistOf(ContainSubstring("spec.replicatedJobs: is empty")))
		_, err := u.sends(bare(map[string]any{"replicatedJobs": []any{}}))
		Expect(err).NotTo(HaveOccurred())
	})

	It("O347 W25: lets in zero replicas and keeps the zero", func(ctx SpecContext) {
		spec := bare(nil)
		spec["replicatedJobs"].([]any)[0].(map[string]any)["replicas"] = int64(0)

		js, err := newUser(ctx).sends(spec)

		Expect(err).NotTo(HaveOccurred())
		Expect(js.Spec.ReplicatedJobs[0].Replicas).To(BeZero())
	})

	It("O345 W2 W3 W4 W5 W42 Q19: reports all violations in one answer of the API server", func(ctx SpecContext) {
		js := AB()
		js.Spec.ManagedBy = ptr.To("nobody")
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: []string{"x", "y"}}
		js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "z"}
		js.Spec.ReplicatedJobs[1].GroupName = "Not-A-Label"

		status := newUser(ctx).refuses(js)

		ofWebhook(status,
			invalid("spec.managedBy", "must be a domain-prefixed path"),
			plain("invalid replicatedJob name 'x' does not appear in .spec.ReplicatedJobs"),
			plain("invalid replicatedJob name 'y' does not appear in .spec.ReplicatedJobs"),
			plain("coordinator replicatedJob z does not exist"),
			invalid("spec.replicatedJobs[1].groupName", "a DNS-1035 label must consist of"))
		Expect(status.Details.Name).To(Equal("js"))
		Expect(status.Message).To(ContainSubstring(`"js" is invalid: [`))
		Expect(status.Message).To(ContainSubstring("<nil>: Internal error: coordinator replicatedJob z does not exist"))
	})

	It("W99: never asks about a deletion", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())
		Expect(u.Client.Delete(ctx, js)).To(Succeed())
	})

	It("W6: lets an ordinary JobSet in without warnings", func(ctx SpecContext) {
		u := newUser(ctx)
		u.admits(AB())
		Expect(u.Warnings).To(BeEmpty())
	})
})
