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
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
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

// agentViolations break the agent; only one at a time makes sense of some of them.
var agentViolations = map[string]violation{
	"a rule that lets 137 pass": {
		func(js *jobset.JobSet) {
			agentOf(js).RestartPolicyRules[0].ExitCodes = &corev1.ContainerRestartRuleOnExitCodes{
				Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{88}}
		},
		invalid(agentPath+"restartPolicyRules", "when the agent is killed (exit code 137"),
	},
	"no variable that names its JobSet": {
		func(js *jobset.JobSet) { agentOf(js).Env = agentOf(js).Env[:2] },
		required(agentPath+"env", "JOBSET_NAME; add:"),
	},
	"a probe that asks another port": {
		func(js *jobset.JobSet) { agentOf(js).StartupProbe.HTTPGet.Port = intstr.FromInt32(9090) },
		invalid(agentPath+"startupProbe.httpGet.port", "port: 8080"),
	},
	"a barrier that gives up after half a minute": {
		func(js *jobset.JobSet) { agentOf(js).StartupProbe.FailureThreshold = 30 },
		invalid(agentPath+"startupProbe.failureThreshold", "must be at least 3600 seconds and is 30"),
	},
	"no token": {
		func(js *jobset.JobSet) { PodTemplate(js, 0).Spec.AutomountServiceAccountToken = ptr.To(false) },
		invalid(podPath+"automountServiceAccountToken", "can never report"),
	},
	"the epoch in its template": {
		func(js *jobset.JobSet) { PodTemplate(js, 0).Annotations = map[string]string{jobset.EpochKey: "1"} },
		forbidden(jobPath+"template.metadata.annotations[jobset.sigs.k8s.io/epoch]", "remove it"),
	},
	"half an agent": {
		func(js *jobset.JobSet) {
			*agentOf(js) = corev1.Container{Name: workerpod.DefaultAgentName, Image: "agent", RestartPolicy: agentOf(js).RestartPolicy}
		},
		invalid(agentPath+"name", "remove or rename this container; or make it an agent of your own"),
	},
	"no agent and a worker of its name": {
		func(js *jobset.JobSet) {
			PodTemplate(js, 0).Spec.InitContainers, workerOf(js).Name = nil, workerpod.DefaultAgentName
		},
		invalid(podPath+"containers[0].name", "rename this container"),
	},
	"no agent and a volume of its name": {
		func(js *jobset.JobSet) {
			PodTemplate(js, 0).Spec.InitContainers = nil
			PodTemplate(js, 0).Spec.Volumes = []corev1.Volume{{Name: workerpod.TokenVolumeName, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		},
		invalid(podPath+"volumes[0].name", "rename this volume"),
	},
	"an agent that is no sidecar": {
		func(js *jobset.JobSet) {
			agentOf(js).RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
		},
		required(agentPath+"restartPolicy", "restartPolicy: Always"),
	},
	"no restart rules": {
		func(js *jobset.JobSet) { agentOf(js).RestartPolicyRules = nil },
		required(agentPath+"restartPolicyRules", "action: RestartAllContainers"),
	},
	"restart rules that miss its exit code": {
		func(js *jobset.JobSet) {
			agentOf(js).RestartPolicyRules[0].ExitCodes.Values = []int32{64, 88}
		},
		invalid(agentPath+"restartPolicyRules", "all containers must restart when the agent exits with 88"),
	},
	"an exit code that is no exit code": {
		func(js *jobset.JobSet) {
			agentOf(js).Env = append(agentOf(js).Env, corev1.EnvVar{Name: workerpod.RestartExitCodeEnv, Value: "64"})
		},
		invalid(agentPath+"env[4].value", "must be a number from 1 to 255 other than 64"),
	},
	"no startup probe": {
		func(js *jobset.JobSet) { agentOf(js).StartupProbe = nil },
		required(agentPath+"startupProbe", "path: /barrier-is-lifted?wait=50"),
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

func entries(violations map[string]violation) []TableEntry {
	var table []TableEntry
	for name, v := range violations {
		table = append(table, Entry(name, v))
	}
	return table
}

func refusesOne(ctx SpecContext, v violation) {
	js := Training(2, 10)
	v.breakIt(js)

	ofWebhook(newUser(ctx).refuses(js), v.says)
}

var _ = Describe("Admission of InPlaceRestart", func() {
	It("P41 P42: lets in what Prepare makes, without a warning", func(ctx SpecContext) {
		u := newUser(ctx)

		u.admits(InPlace(JobSet("js", Replicated("driver", 1, 1), Replicated("workers", 2, 4)), 3))

		Expect(u.Warnings).To(BeEmpty())
	})

	DescribeTable("P41 W48 W49 W50: refuses a Job", refusesOne, entries(jobViolations))
	DescribeTable("P42: refuses a Pod with", refusesOne, entries(agentViolations))
	DescribeTable("P43: refuses the old name of", refusesOne, entries(oldNames))

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
		wanted = append(wanted, agentViolations["no startup probe"].says)
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

	It("P18: refuses actions that restart one Job", func(ctx SpecContext) {
		js := Training(2, 10)
		js.Spec.FailurePolicy.Rules = []jobset.FailurePolicyRule{{Name: "one", Action: jobset.RestartJobAndIgnoreMaxRestarts}}

		ofWebhook(newUser(ctx).refuses(js),
			invalid("spec.failurePolicy.rules[0].action", "use RestartJobSet or RestartJobSetAndIgnoreMaxRestarts"))
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

	It("P19: lets in who waits for Complete", func(ctx SpecContext) {
		js := InPlace(JobSet("js", Replicated("a", 1, 1), Replicated("b", 1, 1)), 10)
		js.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "a", Status: jobset.DependencyComplete}}

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

	DescribeTable("P44: lets the failure policy be neither added, removed nor changed",
		func(ctx SpecContext, before *jobset.JobSet, change func(*jobset.JobSet)) {
			u := newUser(ctx)
			js := u.admits(before)

			status := answer(u.changes(js, change))

			ofWebhook(status, immutableValue("spec.failurePolicy"))
		},
		Entry("added", AB(), func(js *jobset.JobSet) {
			js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart}
		}),
		Entry("removed", Training(1, 3), func(js *jobset.JobSet) { js.Spec.FailurePolicy = nil }),
		Entry("changed in its strategy", Training(1, 3), func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.RestartStrategy, js.Spec.FailurePolicy.InPlaceRestart = jobset.Recreate, nil
		}),
		Entry("changed in its mode", Training(1, 3), func(js *jobset.JobSet) { js.Spec.FailurePolicy.InPlaceRestart.Mode = jobset.ProcessMode }),
		Entry("changed in maxRestarts", Training(1, 3), func(js *jobset.JobSet) { js.Spec.FailurePolicy.MaxRestarts++ }),
	)

	DescribeTable("P42: warns of what is admitted and hardly wanted",
		func(ctx SpecContext, strange func(*jobset.JobSet), text string) {
			u := newUser(ctx)
			js := Training(2, 10)
			strange(js)

			u.admits(js)

			Expect(u.Warnings).To(ConsistOf(ContainSubstring(text)))
		},
		Entry("no account for the agent", func(js *jobset.JobSet) { PodTemplate(js, 0).Spec.ServiceAccountName = "" },
			"serviceAccountName: is not set"),
		Entry("no restart at all", func(js *jobset.JobSet) { js.Spec.FailurePolicy.MaxRestarts = 0 },
			"spec.failurePolicy.maxRestarts: is 0"),
		Entry("an agent that restarts all for wrong settings", func(js *jobset.JobSet) {
			agentOf(js).RestartPolicyRules[0].ExitCodes.Values = []int32{99}
		}, "exit code 64 means that a restart cannot help"),
		Entry("a worker without rules", func(js *jobset.JobSet) { workerOf(js).RestartPolicyRules = nil },
			"has no RestartAllContainers rule"),
	)

	It("P40 W33 W135 W139: is refused while the gate is off, by the webhook and not the schema, with how to switch it on", Serial, func(ctx SpecContext) {
		turnGatesOff()
		u := newUser(ctx)

		status := u.refuses(Training(2, 10))

		ofWebhook(status, invalid("spec.failurePolicy.restartStrategy",
			"InPlaceRestart cannot be set when InPlaceRestart feature gate is disabled"))
		Expect(status.Message).To(ContainSubstring("--feature-gates=InPlaceRestart=true"))
		u.admits(AB())
	})

	It("P40 W139: that was admitted before the gate went off can still be changed otherwise", Serial, func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(Training(2, 10))
		turnGatesOff()

		Expect(u.changes(js, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) })).To(Succeed())
		Expect(u.changes(js, func(js *jobset.JobSet) {
			js.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: ""}
		})).To(Succeed())
	})
})
