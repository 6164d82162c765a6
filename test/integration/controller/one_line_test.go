/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// oneLine is a JobSet that restarts in place and says nothing more about it: its processes restart.
func oneLine(workers, maxRestarts int32) *jobset.JobSet {
	rjob := Replicated("workers", 1, workers)
	rjob.Template.Spec.Completions = nil
	rjob.Template.Spec.Template.Spec.RestartPolicy = ""
	rjob.Template.Spec.Template.Spec.Containers[0].Command = []string{"train"}
	js := JobSet("train", rjob)
	js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: maxRestarts, RestartStrategy: jobset.InPlaceRestart}
	return js
}

// inContainers is the same in container mode.
func inContainers(workers, maxRestarts int32) *jobset.JobSet {
	js := oneLine(workers, maxRestarts)
	js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode}
	return js
}

// restartsContainers matches a Pod all of whose containers restart with its agent.
func restartsContainers() types.GomegaMatcher {
	return WithTransform(func(pod corev1.PodSpec) bool {
		agent := &pod.InitContainers[len(pod.InitContainers)-1]
		return workerpod.RestartsPodOn(pod.Containers[0].RestartPolicyRules, 1) && workerpod.RestartsPodOn(agent.RestartPolicyRules, 1) &&
			agent.StartupProbe != nil
	}, BeTrue())
}

var _ = Describe("A JobSet that says InPlaceRestart and nothing more", func() {
	It("P60: restarts processes, and stays so when its original manifest is applied again", func(ctx SpecContext) {
		w := newWorld(ctx)
		train := w.Create(oneLine(2, 10))
		Expect(workerpod.ModeOf(train.Spec.FailurePolicy)).To(Equal(jobset.ProcessMode))

		Change(w, train, func(js *jobset.JobSet) { js.Spec.FailurePolicy.InPlaceRestart = nil })

		Expect(Now(w, train).Generation).To(Equal(train.Generation))
		Expect(w.HasJobs(train, 1)[0].Spec.Template.Spec).NotTo(restartsContainers())
	})

	It("P59: restarts containers if it was stored without a mode, whatever updates it and however often its Jobs are made", func(ctx SpecContext) {
		w := newWorld(ctx)
		train := w.CreateAsOlderVersion(oneLine(2, 10))
		first := w.HasJobs(train, 1)[0]
		Expect(first.Spec.Template.Spec).To(restartsContainers())

		By("applying the manifest that it was made from")
		Change(w, train, func(js *jobset.JobSet) { js.Spec = oneLine(2, 10).Spec })
		By("changing what may change")
		Change(w, train, func(js *jobset.JobSet) { js.Labels = map[string]string{"team": "a"} })
		Expect(Now(w, train).Spec.FailurePolicy.InPlaceRestart).To(BeNil())
		By("asking for the other mode")
		Expect(RefusalOf(w, train, func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}
		})).To(MatchError(ContainSubstring("spec.failurePolicy: Invalid value: Value is immutable")))

		w.JobController.Fails(first, "BackoffLimitExceeded", "")
		w.JobController.Collects(first)
		again := w.HasJobs(train, 1)[0]
		Expect(again.UID).NotTo(Equal(first.UID))
		Expect(again.Spec.Template.Spec).To(restartsContainers())
	})

	It("P50 P55: becomes Jobs with an agent that has its own token, and stays as it was written", func(ctx SpecContext) {
		w := newWorld(ctx)
		train := w.Create(inContainers(2, 10))

		job := w.HasJobs(train, 1)[0]

		pod := job.Spec.Template.Spec
		Expect(pod.InitContainers).To(HaveExactElements(HaveField("Name", workerpod.DefaultAgentName)))
		agent := pod.InitContainers[0]
		Expect(agent.Image).To(Equal(Injection.Image))
		Expect(agent.VolumeMounts).To(HaveExactElements(HaveField("MountPath", workerpod.TokenPath)))
		Expect(pod.Containers[0].VolumeMounts).To(BeEmpty())
		Expect(pod).To(restartsContainers())
		Expect(PodTemplate(Now(w, train), 0).Spec.InitContainers).To(BeEmpty())
	})

	It("P50: restarts in place", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(oneLine(2, 10))

		w.Agents.Report(2, pods[1])
		w.Reaches(train, 1, 1)
		w.Agents.Report(2, pods[0])

		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{InPlace: 1})
	})

	It("P50: has agents again when its Jobs are recreated", func(ctx SpecContext) {
		w := newWorld(ctx)
		train := w.Create(oneLine(2, 10))
		first := w.HasJobs(train, 1)[0]

		w.JobController.Fails(first, "BackoffLimitExceeded", "")
		w.JobController.Collects(first)

		again := w.HasJobs(train, 1)[0]
		Expect(again.UID).NotTo(Equal(first.UID))
		Expect(workerpod.HoldsAgent(&again.Spec.Template.Spec)).To(BeTrue())
	})

	It("P50 P54: the API server takes what is made of an unusual Pod", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := inContainers(2, 10)
		js.Spec.FailurePolicy.InPlaceRestart.RecreatePodOnExitCodes = []int32{42}
		pod := &PodTemplate(js, 0).Spec
		pod.HostNetwork, pod.AutomountServiceAccountToken = true, new(bool)
		limits := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourceEphemeralStorage: resource.MustParse("1Gi"),
		}
		pod.Containers[0].Resources = corev1.ResourceRequirements{Limits: limits}
		pod.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080}}

		train := w.Create(js)

		agent := w.HasJobs(train, 1)[0].Spec.Template.Spec.InitContainers[0]
		Expect(agent.Resources.Requests.Cpu().Cmp(*agent.Resources.Limits.Cpu())).To(BeZero())
		Expect(agent.Ports).To(HaveLen(1))
	})
})
