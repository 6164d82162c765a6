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
		Entry("W73: suspend, to true", AB(), func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }),
		Entry("W73: suspend, to false", suspended(), func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(false) }),
		Entry("W74: the time to live", AB(), func(js *jobset.JobSet) { js.Spec.TTLSecondsAfterFinished = ptr.To[int32](0) }),
		Entry("W75: the coordinator, to a Pod that there is", AB(), func(js *jobset.JobSet) {
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "b", JobIndex: 2}
		}),
		Entry("W84 W85: the five mutable fields while suspended", suspended(), all),
		Entry("W86: the five mutable fields together with the resume", suspended(), func(js *jobset.JobSet) {
			all(js)
			js.Spec.Suspend = nil
		}),
		Entry("W87: the five mutable fields together with the suspension", AB(), func(js *jobset.JobSet) {
			all(js)
			js.Spec.Suspend = ptr.To(true)
		}),
	)

	It("W88: may not change any of the five mutable fields while it runs, and is told how it could", func(ctx SpecContext) {
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
		Entry("replicas", func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].Replicas = ptr.To[int32](4) }, "spec.replicatedJobs[1].replicas"),
		Entry("the group", func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].GroupName = "other" }, "spec.replicatedJobs[1].groupName"),
		Entry("labels of the Job", func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[0].Template.Labels = map[string]string{"a": "b"}
		}, "spec.replicatedJobs[0].template.metadata.labels"),
		Entry("O372: parallelism and completions", func(js *jobset.JobSet) {
			JobTemplate(js, 0).Parallelism, JobTemplate(js, 0).Completions = ptr.To[int32](4), ptr.To[int32](4)
		}, "spec.replicatedJobs[0].template.spec.parallelism"),
		Entry("an image", func(js *jobset.JobSet) { PodTemplate(js, 0).Spec.Containers[0].Image = "other" },
			"spec.replicatedJobs[0].template.spec.template.spec.containers[0].image"),
		Entry("resources", func(js *jobset.JobSet) {
			PodTemplate(js, 0).Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}, "spec.replicatedJobs[0].template.spec.template.spec.containers[0].resources.requests"),
		Entry("affinity", func(js *jobset.JobSet) { PodTemplate(js, 0).Spec.Affinity = &corev1.Affinity{} },
			"spec.replicatedJobs[0].template.spec.template.spec.affinity"),
	)

	DescribeTable("W76: may not change, add or remove",
		func(ctx SpecContext, before *jobset.JobSet, change func(*jobset.JobSet), path string) {
			u := newUser(ctx)
			js := u.admits(before)
			status := answer(u.changes(js, change))
			Expect(status.Message).To(ContainSubstring("Value is immutable"))
			Expect(status.Details.Causes).To(ContainElement(HaveField("Field", HavePrefix(path))))
		},
		Entry("S2: the network, changed", AB(), func(js *jobset.JobSet) { js.Spec.Network.Subdomain = "other" }, "spec.network"),
		Entry("the network, removed", AB(), func(js *jobset.JobSet) { js.Spec.Network = nil }, "spec.network"),
		Entry("S2: the success policy, changed", AB(), func(js *jobset.JobSet) { js.Spec.SuccessPolicy.Operator = jobset.OperatorAny }, "spec.successPolicy"),
		Entry("the startup policy, removed", AB(), func(js *jobset.JobSet) { js.Spec.StartupPolicy = nil }, "spec.startupPolicy"),
		Entry("volume claim policies, added", AB(), func(js *jobset.JobSet) {
			js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{}}
		}, "spec.volumeClaimPolicies"),
	)

	DescribeTable("W78: may not change who manages it",
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

	It("W72: may not ask for what this version does not do yet", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())

		status := answer(u.changes(js, func(js *jobset.JobSet) { js.Annotations = map[string]string{jobset.ExclusiveKey: "rack"} }))

		ofWebhook(status, forbidden("metadata.annotations["+jobset.ExclusiveKey+"]", "not supported by this version yet"))
	})

	It("Q31: lets a client that leaves out zeros write back what it read", func(ctx SpecContext) {
		u := newUser(ctx)
		js := AB()
		js.Spec.FailurePolicy = &jobset.FailurePolicy{}
		js = u.admits(js)

		Expect(u.changes(js, func(js *jobset.JobSet) { js.Labels = map[string]string{"a": "b"} })).To(Succeed())
	})
})
