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

const jobPath = "spec.replicatedJobs[0].template.spec."

var _ = Describe("Admission of InPlaceRestart", func() {
	It("P41 P42: lets in what Prepare makes, without a warning", func(ctx SpecContext) {
		u := newUser(ctx)

		u.admits(InPlace(JobSet("js", Replicated("driver", 1, 1), Replicated("workers", 2, 4)), 3))

		Expect(u.Warnings).To(BeEmpty())
	})

	It("P44: reports everything at once, each at its own path, for every ReplicatedJob", func(ctx SpecContext) {
		js := InPlace(JobSet("js", Replicated("workers", 1, 2), Replicated("drivers", 1, 2)), 10)
		PodTemplate(js, 0).Spec.Containers[0].RestartPolicyRules[0].Action = "RestartPod"
		JobTemplate(js, 0).TTLSecondsAfterFinished = ptr.To[int32](60)
		PodTemplate(js, 1).Spec.InitContainers[0].StartupProbe = nil

		ofWebhook(newUser(ctx).refuses(js),
			invalid(jobPath+"template.spec.containers[0].restartPolicyRules[0].action", "write action: RestartAllContainers"),
			forbidden(jobPath+"ttlSecondsAfterFinished", "set spec.ttlSecondsAfterFinished of the JobSet"),
			required("spec.replicatedJobs[1].template.spec.template.spec.initContainers[0].startupProbe", "the port of the agent"))
	})

	It("P41: refuses the epoch in a template that changes, and nothing else for it", func(ctx SpecContext) {
		u := newUser(ctx)
		before := Training(2, 10)
		before.Spec.Suspend = ptr.To(true)
		js := u.admits(before)

		ofWebhook(answer(u.changes(js, func(js *jobset.JobSet) {
			PodTemplate(js, 0).Annotations = map[string]string{jobset.EpochKey: "1"}
		})), forbidden(jobPath+"template.metadata.annotations[jobset.sigs.k8s.io/epoch]", "remove it"))
		Expect(u.changes(js, func(js *jobset.JobSet) { PodTemplate(js, 0).Annotations = map[string]string{"note": "x"} })).To(Succeed())
	})

	It("P19 P126: lets in who waits for Ready in process mode, and refuses it in container mode, with the reason", func(ctx SpecContext) {
		js := InPlace(JobSet("js", Replicated("a", 1, 1), Replicated("b", 1, 1)), 10)
		js.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "a", Status: jobset.DependencyReady}}

		ofWebhook(newUser(ctx).refuses(js), invalid("spec.replicatedJobs[1].dependsOn[0].status", "use mode Process"))

		js = JobSet("js", Replicated("a", 1, 1), Replicated("b", 1, 1))
		js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart, MaxRestarts: 10}
		for i := range js.Spec.ReplicatedJobs {
			PodTemplate(js, i).Spec.Containers[0].Command = []string{"train"}
		}
		js.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "a", Status: jobset.DependencyReady}}
		newUser(ctx).admits(js)
	})

	It("W50 W91 Q24: lets a group change its size, and never to unequal numbers", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(Training(2, 10))

		Expect(u.changes(js, resize(0, 4))).To(Succeed())
		ofWebhook(answer(u.changes(js, func(js *jobset.JobSet) { JobTemplate(js, 0).Parallelism = ptr.To[int32](3) })),
			invalid(jobPath+"completions", "completions must be equal to parallelism for Elastic Indexed Jobs"),
			invalid(jobPath+"completions", "completions and parallelism must be set and equal when failurePolicy.restartStrategy is InPlaceRestart"))
		Expect(u.changes(js, func(js *jobset.JobSet) { JobTemplate(js, 0).Parallelism = nil })).To(Succeed(), "P51: it follows completions")
	})
})
