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
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// violation is one way to break a JobSet that restarts in place, and what admission says to it.
type violation struct {
	breakIt func(js *jobset.JobSet)
	says    cause
}

const (
	jobPath   = "spec.replicatedJobs[0].template.spec."
	podPath   = jobPath + "template.spec."
	agentPath = podPath + "initContainers[0]."
)

func agentOf(js *jobset.JobSet) *corev1.Container { return &PodTemplate(js, 0).Spec.InitContainers[0] }

func workerOf(js *jobset.JobSet) *corev1.Container { return &PodTemplate(js, 0).Spec.Containers[0] }

// jobViolations break the Job, and do not stand in each other's way.
var jobViolations = map[string]violation{
	"backoffLimit": {
		func(js *jobset.JobSet) { JobTemplate(js, 0).BackoffLimit = ptr.To[int32](6) },
		invalid(jobPath+"backoffLimit", "replicatedJob workers: must be set to 2147483647 (MaxInt32)"),
	},
	"podReplacementPolicy": {
		func(js *jobset.JobSet) {
			JobTemplate(js, 0).PodReplacementPolicy = ptr.To(batchv1.TerminatingOrFailed)
		},
		invalid(jobPath+"podReplacementPolicy", "replicatedJob workers: must be set to Failed"),
	},
	"completions": {
		func(js *jobset.JobSet) { JobTemplate(js, 0).Completions = ptr.To[int32](3) },
		invalid(jobPath+"completions", "replicatedJob workers: completions and parallelism must be set and equal"),
	},
	"completionMode": {
		func(js *jobset.JobSet) { JobTemplate(js, 0).CompletionMode = ptr.To(batchv1.NonIndexedCompletion) },
		invalid(jobPath+"completionMode", "must be set to Indexed"),
	},
	"ttlSecondsAfterFinished": {
		func(js *jobset.JobSet) { JobTemplate(js, 0).TTLSecondsAfterFinished = ptr.To[int32](60) },
		forbidden(jobPath+"ttlSecondsAfterFinished", "set spec.ttlSecondsAfterFinished of the JobSet"),
	},
	"backoffLimitPerIndex": {
		func(js *jobset.JobSet) { JobTemplate(js, 0).BackoffLimitPerIndex = ptr.To[int32](1) },
		forbidden(jobPath+"backoffLimitPerIndex", "must not be set when failurePolicy.restartStrategy is InPlaceRestart"),
	},
}

// oldNames are those of early documents.
var oldNames = map[string]violation{
	"the action RestartPod": {
		func(js *jobset.JobSet) { workerOf(js).RestartPolicyRules[0].Action = "RestartPod" },
		invalid(podPath+"containers[0].restartPolicyRules[0].action", "write action: RestartAllContainers"),
	},
	"the action Terminate": {
		func(js *jobset.JobSet) {
			rules := &workerOf(js).RestartPolicyRules
			*rules = append(*rules, corev1.ContainerRestartRule{Action: "Terminate"})
		},
		invalid(podPath+"containers[0].restartPolicyRules[1].action", "there is no such action"),
	},
	"the operator NoIn": {
		func(js *jobset.JobSet) {
			rules := &agentOf(js).RestartPolicyRules
			*rules = append(*rules, corev1.ContainerRestartRule{Action: corev1.ContainerRestartRuleActionRestart,
				ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: "NoIn"}})
		},
		invalid(agentPath+"restartPolicyRules[1].exitCodes.operator", "write operator: NotIn"),
	},
}

var _ = Describe("Admission of InPlaceRestart", func() {
	It("P41 P42: lets in what Prepare makes, without a warning", func(ctx SpecContext) {
		u := newUser(ctx)

		u.admits(InPlace(JobSet("js", Replicated("driver", 1, 1), Replicated("workers", 2, 4)), 3))

		Expect(u.Warnings).To(BeEmpty())
	})

	It("P44: reports everything at once, each at its own path, for every ReplicatedJob", func(ctx SpecContext) {
		js := InPlace(JobSet("js", Replicated("workers", 1, 2), Replicated("drivers", 1, 2)), 10)
		var wanted []cause
		for _, violations := range []map[string]violation{jobViolations, oldNames} {
			for _, v := range violations {
				v.breakIt(js)
				wanted = append(wanted, v.says)
			}
		}
		agentOf(js).StartupProbe = nil
		wanted = append(wanted, required(agentPath+"startupProbe", "path: /barrier-is-lifted?wait=50"))
		PodTemplate(js, 1).Spec.InitContainers[0].StartupProbe = nil
		wanted = append(wanted, required("spec.replicatedJobs[1].template.spec.template.spec.initContainers[0].startupProbe", "port: 8080"))
		js.Spec.StartupPolicy = &jobset.StartupPolicy{StartupPolicyOrder: jobset.InOrder}
		wanted = append(wanted,
			invalid("spec.startupPolicy.startupPolicyOrder", "must not be InOrder when failurePolicy.inPlaceRestart.mode is Container"))
		js.Spec.FailurePolicy.Rules = []jobset.FailurePolicyRule{{Name: "one", Action: jobset.RestartJob}}
		wanted = append(wanted,
			invalid("spec.failurePolicy.rules[0].action", "must not restart a single Job"))

		ofWebhook(newUser(ctx).refuses(js), wanted...)
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
