/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// The five things of a Pod template that a queueing system sets.
var mutable = map[string]func(*corev1.PodTemplateSpec){
	"annotations":      func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{"k": "v"} },
	"labels":           func(t *corev1.PodTemplateSpec) { t.Labels = map[string]string{"k": "v"} },
	"a node selector":  func(t *corev1.PodTemplateSpec) { t.Spec.NodeSelector = map[string]string{"k": "v"} },
	"tolerations":      func(t *corev1.PodTemplateSpec) { t.Spec.Tolerations = []corev1.Toleration{{Key: "k"}} },
	"scheduling gates": func(t *corev1.PodTemplateSpec) { t.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} },
}

var _ = Describe("An update of a JobSet", func() {
	It("O341 O348 O349 O354 W73 W86 W87: may change the five mutable fields together with the suspension, and with the resume", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())
		for _, suspend := range []bool{true, false} {
			Expect(u.changes(js, func(js *jobset.JobSet) {
				for _, set := range mutable {
					set(PodTemplate(js, 1))
				}
				PodTemplate(js, 1).Labels["suspended"] = fmt.Sprint(suspend)
				js.Spec.Suspend = &suspend
			})).To(Succeed())
		}
	})

	It("O342 O355 W88: may not change any of the five mutable fields while it runs, and is told how it could", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())
		for what, set := range mutable {
			By(what)
			status := answer(u.changes(js, func(js *jobset.JobSet) { set(PodTemplate(js, 1)) }))
			ofWebhook(status, invalid("spec.replicatedJobs", "field is immutable"))
			Expect(status.Message).To(ContainSubstring("set spec.suspend to true in the same update"))
			Expect(status.Message).To(ContainSubstring("spec.replicatedJobs[1].template.spec.template."))
		}
	})

	It("O343 W81: may not change what else a Pod template holds while it runs, and suspending would not help", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())

		status := answer(u.changes(js, func(js *jobset.JobSet) {
			PodTemplate(js, 1).Spec.Hostname, PodTemplate(js, 1).Spec.Subdomain = "host", "domain"
		}))

		ofWebhook(status, invalid("spec.replicatedJobs", "field is immutable"))
		Expect(status.Message).To(And(ContainSubstring("spec.hostname"), ContainSubstring("spec.subdomain"), Not(ContainSubstring("suspended"))))
	})

	It("Q31 S2: lets a typed client, which leaves out zeros, write back what another wrote, and keeps it from changing it", func(ctx SpecContext) {
		u := newUser(ctx)
		js, err := u.sends(bare(map[string]any{
			"failurePolicy": map[string]any{"maxRestarts": int64(0), "rules": []any{}},
			"network":       map[string]any{"subdomain": ""},
			"successPolicy": map[string]any{"operator": "All", "targetReplicatedJobs": []any{}},
		}))
		Expect(err).NotTo(HaveOccurred())

		Expect(u.changes(js, func(js *jobset.JobSet) { js.Labels = map[string]string{"a": "b"} })).To(Succeed())
		for path, change := range map[string]func(*jobset.JobSet){
			"spec.failurePolicy": func(js *jobset.JobSet) { js.Spec.FailurePolicy.MaxRestarts = 1 },
			"spec.network":       func(js *jobset.JobSet) { js.Spec.Network.Subdomain = "net" },
			"spec.successPolicy": func(js *jobset.JobSet) { js.Spec.SuccessPolicy.TargetReplicatedJobs = []string{"a"} },
		} {
			By(path)
			ofWebhook(answer(u.changes(js, change)), immutableValue(path))
		}
		ofWebhook(answer(u.changes(js, func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.Rules = []jobset.FailurePolicyRule{{Name: "r", Action: jobset.FailJobSet}}
		})), immutableValue("spec.failurePolicy"))
	})

	It("Q31 W8: lets a typed client write back volume claim policies, which it writes longer", func(ctx SpecContext) {
		u := newUser(ctx)
		js, err := u.sends(claiming([]any{map[string]any{"templates": []any{
			map[string]any{"metadata": map[string]any{"name": "data"}, "spec": map[string]any{
				"accessModes": []any{"ReadWriteMany"}, "resources": map[string]any{"requests": map[string]any{"storage": "1024Mi"}}}}}}}))
		Expect(err).NotTo(HaveOccurred())

		Expect(u.changes(js, func(js *jobset.JobSet) { js.Labels = map[string]string{"a": "b"} })).To(Succeed())
	})

	It("Q31: lets a client that leaves out zeros write back what it read", func(ctx SpecContext) {
		u := newUser(ctx)
		js := AB()
		js.Spec.FailurePolicy = &jobset.FailurePolicy{}
		js = u.admits(js)

		Expect(u.changes(js, func(js *jobset.JobSet) { js.Labels = map[string]string{"a": "b"} })).To(Succeed())
	})
})
