/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

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
	suspended := func() *jobset.JobSet {
		js := AB()
		js.Spec.Suspend = ptr.To(true)
		return js
	}
	all := func(js *jobset.JobSet) {
		for _, set := range mutable {
			set(PodTemplate(js, 1))
		}
	}

	DescribeTable("may change",
		func(ctx SpecContext, before *jobset.JobSet, change func(*jobset.JobSet)) {
			u := newUser(ctx)
			js := u.admits(before)
			Expect(u.changes(js, change)).To(Succeed())
		},
		Entry("W72: labels, annotations and finalizers", AB(), func(js *jobset.JobSet) {
			js.Labels, js.Annotations, js.Finalizers = map[string]string{"a": "b"}, map[string]string{"c": "d"}, []string{"e/f"}
		}),
		Entry("O348 W73: suspend, to true", AB(), func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }),
		Entry("O349 W73: suspend, to false", suspended(), func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(false) }),
		Entry("W74: the time to live", AB(), func(js *jobset.JobSet) { js.Spec.TTLSecondsAfterFinished = ptr.To[int32](0) }),
		Entry("W72: exclusive placement, while it runs", AB(), func(js *jobset.JobSet) {
			js.Annotations = map[string]string{jobset.ExclusiveKey: "rack"}
		}),
		Entry("W75: the coordinator, to a Pod that there is", AB(), func(js *jobset.JobSet) {
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "b", JobIndex: 2}
		}),
		Entry("O341 O354 W84 W85 W89: the five mutable fields while suspended", suspended(), all),
		Entry("W86: the five mutable fields together with the resume", suspended(), func(js *jobset.JobSet) {
			all(js)
			js.Spec.Suspend = nil
		}),
		Entry("W87: the five mutable fields together with the suspension", AB(), func(js *jobset.JobSet) {
			all(js)
			js.Spec.Suspend = ptr.To(true)
		}),
	)

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

	It("W84 Q4: may not change the mutable fields to what no Pod can have", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(suspended())
		const template = "spec.replicatedJobs[1].template.spec.template."

		status := answer(u.changes(js, func(js *jobset.JobSet) {
			PodTemplate(js, 1).Labels = map[string]string{"a": "b c"}
			PodTemplate(js, 1).Annotations = map[string]string{"a/b/c": ""}
			PodTemplate(js, 1).Spec.NodeSelector = map[string]string{"a b": ""}
		}))

		ofWebhook(status, invalid(template+"metadata.labels", "a valid label must be"),
			invalid(template+"metadata.annotations", "a valid label key must consist"),
			invalid(template+"spec.nodeSelector", "name part must consist"))
	})

	DescribeTable("W79 W80 W81: may not change, not even while suspended,",
		func(ctx SpecContext, change func(*jobset.JobSet), path string) {
			u := newUser(ctx)
			js := u.admits(suspended())
			status := answer(u.changes(js, change))
			ofWebhook(status, invalid("spec.replicatedJobs", "field is immutable"))
			Expect(status.Message).To(ContainSubstring("changed: " + path))
		},
		Entry("the number of ReplicatedJobs", func(js *jobset.JobSet) { js.Spec.ReplicatedJobs = js.Spec.ReplicatedJobs[:1] }, "spec.replicatedJobs"),
		Entry("a name", func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].Name = "c" }, "spec.replicatedJobs[1].name"),
		Entry("the order", func(js *jobset.JobSet) {
			jobs := js.Spec.ReplicatedJobs
			jobs[0], jobs[1] = jobs[1], jobs[0]
		}, "spec.replicatedJobs[0].name"),
		Entry("replicas", func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].Replicas = 4 }, "spec.replicatedJobs[1].replicas"),
		Entry("the group", func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].GroupName = "other" }, "spec.replicatedJobs[1].groupName"),
		Entry("labels of the Job", func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[0].Template.Labels = map[string]string{"a": "b"}
		}, "spec.replicatedJobs[0].template.metadata.labels"),
		Entry("parallelism of a Job with other completions", func(js *jobset.JobSet) {
			JobTemplate(js, 0).BackoffLimit = ptr.To[int32](4)
		}, "spec.replicatedJobs[0].template.spec.backoffLimit"),
		Entry("an image", func(js *jobset.JobSet) { PodTemplate(js, 0).Spec.Containers[0].Image = "other" },
			"spec.replicatedJobs[0].template.spec.template.spec.containers[0].image"),
		Entry("resources", func(js *jobset.JobSet) {
			PodTemplate(js, 0).Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}, "spec.replicatedJobs[0].template.spec.template.spec.containers[0].resources.requests"),
		Entry("affinity", func(js *jobset.JobSet) { PodTemplate(js, 0).Spec.Affinity = &corev1.Affinity{} },
			"spec.replicatedJobs[0].template.spec.template.spec.affinity"),
	)

	// full has everything that cannot change.
	full := func() *jobset.JobSet {
		js := withClaims("data")
		js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 1, Rules: []jobset.FailurePolicyRule{{Name: "r", Action: jobset.FailJobSet}}}
		js.Spec.Network = &jobset.Network{Subdomain: "net"}
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: []string{"a"}}
		return js
	}

	DescribeTable("W76 S2 Q16: may not change, add or remove",
		func(ctx SpecContext, before *jobset.JobSet, change func(*jobset.JobSet), path string) {
			for _, suspend := range []bool{false, true} {
				u := newUser(ctx)
				before.Spec.Suspend = &suspend
				js := u.admits(before)
				ofWebhook(answer(u.changes(js, change)), immutableValue(path))
			}
		},
		Entry("the network, changed", full(), func(js *jobset.JobSet) { js.Spec.Network.Subdomain = "other" }, "spec.network"),
		Entry("the network, removed", full(), func(js *jobset.JobSet) { js.Spec.Network = nil }, "spec.network"),
		Entry("O350: the success policy, changed", full(), func(js *jobset.JobSet) { js.Spec.SuccessPolicy.Operator = jobset.OperatorAny }, "spec.successPolicy"),
		Entry("O350: the targets of the success policy, changed", full(), func(js *jobset.JobSet) { js.Spec.SuccessPolicy.TargetReplicatedJobs = nil }, "spec.successPolicy"),
		Entry("Q5: the success policy, removed", full(), func(js *jobset.JobSet) { js.Spec.SuccessPolicy = nil }, "spec.successPolicy"),
		Entry("the startup policy, changed", full(), func(js *jobset.JobSet) { js.Spec.StartupPolicy.StartupPolicyOrder = jobset.InOrder }, "spec.startupPolicy"),
		Entry("the startup policy, removed", full(), func(js *jobset.JobSet) { js.Spec.StartupPolicy = nil }, "spec.startupPolicy"),
		Entry("O351: the failure policy, changed", full(), func(js *jobset.JobSet) { js.Spec.FailurePolicy.MaxRestarts = 0 }, "spec.failurePolicy"),
		Entry("the failure policy, removed", full(), func(js *jobset.JobSet) { js.Spec.FailurePolicy = nil }, "spec.failurePolicy"),
		Entry("the failure policy, added", AB(), func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{} }, "spec.failurePolicy"),
		Entry("O364: volume claim policies, changed", full(), func(js *jobset.JobSet) {
			js.Spec.VolumeClaimPolicies[0].Templates[0].Spec.VolumeName = "other"
		}, "spec.volumeClaimPolicies"),
		Entry("O364: the retention of claims, changed", full(), func(js *jobset.JobSet) {
			js.Spec.VolumeClaimPolicies[0].RetentionPolicy.WhenDeleted = ptr.To(jobset.RetentionPolicyDelete)
		}, "spec.volumeClaimPolicies"),
		Entry("volume claim policies, removed", full(), func(js *jobset.JobSet) { js.Spec.VolumeClaimPolicies = nil }, "spec.volumeClaimPolicies"),
		Entry("volume claim policies, added", AB(), func(js *jobset.JobSet) {
			js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{}}
		}, "spec.volumeClaimPolicies"),
	)

	DescribeTable("O360 W77: may not touch what a ReplicatedJob depends on,",
		func(ctx SpecContext, before, after []jobset.DependsOn, says cause) {
			u := newUser(ctx)
			js := suspended()
			js.Spec.ReplicatedJobs[1].DependsOn = before
			js = u.admits(js)
			ofWebhook(answer(u.changes(js, func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].DependsOn = after })), says)
		},
		Entry("S2: change it", []jobset.DependsOn{{Name: "a", Status: jobset.DependencyReady}}, []jobset.DependsOn{{Name: "a", Status: jobset.DependencyComplete}},
			immutableValue("spec.replicatedJobs[1].dependsOn")),
		Entry("add it", nil, []jobset.DependsOn{{Name: "a", Status: jobset.DependencyReady}}, invalid("spec.replicatedJobs", "field is immutable")),
		Entry("remove it", []jobset.DependsOn{{Name: "a", Status: jobset.DependencyReady}}, nil, invalid("spec.replicatedJobs", "field is immutable")),
	)

	DescribeTable("O353 W78: may not change who manages it",
		func(ctx SpecContext, from, to *string) {
			u := newUser(ctx)
			js := suspended()
			js.Spec.ManagedBy = from
			js = u.admits(js)
			status := answer(u.changes(js, func(js *jobset.JobSet) { js.Spec.ManagedBy = to }))
			ofWebhook(status, invalid("spec.managedBy", "field is immutable"))
		},
		Entry("to another", ptr.To("example.com/a"), ptr.To("example.com/b")),
		Entry("to somebody", nil, ptr.To("example.com/b")),
		Entry("to nobody", ptr.To(jobset.JobSetControllerName), nil),
	)

	It("Q17: may not make a coordinator of a Pod that there is not", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())

		status := answer(u.changes(js, func(js *jobset.JobSet) { js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "x"} }))

		ofWebhook(status, plain("coordinator replicatedJob x does not exist"))
	})

	It("W72 Q27: may not ask for exclusive placement by what no node label can be", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())

		status := answer(u.changes(js, func(js *jobset.JobSet) { js.Annotations = map[string]string{jobset.ExclusiveKey: "the rack"} }))

		ofWebhook(status, invalid("metadata.annotations["+jobset.ExclusiveKey+"]", "must be the key of a node label"))
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
