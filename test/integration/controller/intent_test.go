/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("Intent before effect", func() {
	It("P16: suspend and resume charge nothing, and the group comes back at the next epoch", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, _ := w.RunningGroup(Training(2, 10))

		w.Suspend(train)
		w.Reaches(train, 1, 1)
		w.Has(train, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
		w.JobController.Suspends(w.Jobs(train)...)
		w.StaysAt(train, 1, 1)
		w.Resume(train)
		w.Has(train, jobset.JobSetSuspended, metav1.ConditionFalse, "ResumeJobs")
		pods := w.JobController.MakesPods(w.Jobs(train)...)
		w.Agents.Report(2, pods...)

		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{})
		w.Records(train, 0, "InPlaceRestartStarted")
		Expect(w.Manager.EpochWrites(train.Name)).To(HaveLen(3), "first lift, intent, lift")
	})

	It("P16: writes the intent to suspend before it suspends", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, _ := w.RunningGroup(Training(2, 10))

		w.Suspend(train)
		w.Has(train, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")

		order := w.Manager.Made(func(write Write) bool {
			return AJobSetStatus(Epochs(1, 1))(write) || AJob("patch")(write)
		})
		Expect(len(order)).To(BeNumerically(">=", 2))
		Expect(AJobSetStatus(Epochs(1, 1))(order[0])).To(BeTrue(), "the first write is the intent")
		Expect(AJob("patch")(order[1])).To(BeTrue(), "the second is the effect")
	})

	It("P16: a manager that stops between the intent and the suspension leaves nothing to be charged", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, _ := w.RunningGroup(Training(2, 10))
		w.Manager.CrashAfter(AJobSetStatus(Epochs(1, 1)))
		w.Suspend(train)
		w.Manager.WaitForCrash()
		Expect(w.Job(train, "workers", 0).Spec.Suspend).To(HaveValue(BeFalse()))

		w.StartManager()

		w.Has(train, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		w.JobController.Suspends(w.Jobs(train)...)
		w.Resume(train)
		w.Has(train, jobset.JobSetSuspended, metav1.ConditionFalse, "")
		w.Agents.Report(2, w.JobController.MakesPods(w.Jobs(train)...)...)
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{})
	})

	It("P16: a manager that stops right after suspending a Job, before it says so, charges nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, _ := w.RunningGroup(Training(2, 10))
		w.Manager.CrashAfter(AJob("patch"))
		w.Suspend(train)
		w.Manager.WaitForCrash()
		w.JobController.Suspends(w.Jobs(train)...)

		w.StartManager()

		w.Has(train, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		w.Reaches(train, 1, 1)
		w.HasCounted(train, Counters{})
	})

	It("P16: a suspension taken back after a crash is an ordinary group restart that nobody pays for", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		w.Manager.CrashAfter(AJobSetStatus(Epochs(1, 1)))
		w.Suspend(train)
		w.Manager.WaitForCrash()
		w.Resume(train)

		w.StartManager()
		w.StaysAt(train, 1, 1)
		w.Agents.Report(2, pods...)

		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{})
	})

	It("P16 P18: a full restart is charged once, whenever the manager stops", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, _ := w.RunningGroup(Training(2, 10))
		w.Manager.CrashAfter(AJobSetStatus(Restarts(1)))
		w.JobController.Fails(w.Job(train, "workers", 0), batchv1.JobReasonPodFailurePolicy, "")
		w.Manager.WaitForCrash()
		w.Reaches(train, 1, 1)
		Expect(w.Job(train, "workers", 0).DeletionTimestamp).To(BeNil(), "no effect yet")

		w.StartManager()
		w.Manager.CrashAfter(AJob("create"))
		w.JobController.CollectsAll(train, 1)
		w.Manager.WaitForCrash()
		w.StartManager()

		pods := w.JobController.MakesPods(w.HasJobs(train, 1)...)
		w.Agents.Report(2, pods...)
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{Restarts: 1, CountTowardsMax: 1})
	})

	It("P16: a Job that somebody deletes is recreated after the intent, and nobody pays for it", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, pods := w.RunningGroup(InPlace(JobSet("wide", Replicated("workers", 2, 1)), 10))

		w.Manager.Stop() // it would see the Pod go before the Job, and charge for it
		w.Kubelet.Removes(pods[1])
		Expect(w.Client.Delete(ctx, w.Job(js, "workers", 1), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		w.StartManager()

		jobs := w.HasJobs(js, 2)
		w.Reaches(js, 1, 1)
		w.Agents.Report(2, pods[0], w.JobController.MakesPod(jobs[1], 0))
		w.Reaches(js, 1, 2)
		w.HasCounted(js, Counters{})
	})

	It("P16 C163: suspending during a group restart ends the condition", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		w.Agents.Report(2, pods[0])
		w.Has(train, jobset.JobSetRestarting, metav1.ConditionTrue, "InPlaceRestart")

		w.Suspend(train)

		w.Has(train, jobset.JobSetRestarting, metav1.ConditionFalse, "JobSetSuspended")
		w.HasCounted(train, Counters{InPlace: 1})
	})
})

var _ = Describe("A group that is not watched", func() {
	It("P20: is neither lifted nor broken while suspended", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		w.Suspend(train)
		w.Has(train, jobset.JobSetSuspended, metav1.ConditionTrue, "")

		w.Agents.Report(2, pods...)
		w.StaysAt(train, 1, 1)
		w.Kubelet.Removes(pods...)
		w.StaysAt(train, 1, 1)
		w.HasCounted(train, Counters{})
	})

	It("P20: is neither lifted nor broken while disabled by the annotation", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		Change(w, train, func(js *jobset.JobSet) {
			js.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: "yes"}
		})
		Eventually(func() string { return Now(w, train).Annotations[jobset.DisableInPlaceRestartKey] }).Should(Equal("yes"))
		w.StartManager()

		w.Agents.Report(2, pods[0])
		w.Kubelet.Removes(pods[1])
		w.Has(train, jobset.JobSetInPlaceRestartDisabled, metav1.ConditionTrue, "DisabledByAnnotation")
		w.StaysAt(train, 0, 1)

		Change(w, train, func(js *jobset.JobSet) { delete(js.Annotations, jobset.DisableInPlaceRestartKey) })
		w.Reaches(train, 2, 2) // P34b
		w.HasCounted(train, Counters{})
	})
})

var _ = Describe("What a group restart cannot do", func() {
	It("P17: bring back a worker that succeeded in this round: all Jobs restart instead, charged once", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(3, 10))
		w.Kubelet.SeesSucceed(pods[0])

		w.Agents.Report(2, pods[1])

		w.Counts(train, Counters{Restarts: 1, CountTowardsMax: 1})
		w.Reaches(train, 1, 1)
		w.Has(train, jobset.JobSetRestarting, metav1.ConditionTrue, "DefaultFailurePolicy")
		w.TellsUser(train, corev1.EventTypeWarning, "RestartJobSetFailurePolicyAction", pods[0].Name)
		w.JobController.CollectsAll(train, 1)
		again := w.JobController.MakesPods(w.HasJobs(train, 1)...)
		w.Agents.Report(2, again...)
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{Restarts: 1, CountTowardsMax: 1})
	})

	It("P17 P16: nor a suspended group of which a worker succeeded: all Jobs restart at the resume, and nobody pays", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(3, 10))
		w.Kubelet.SeesSucceed(pods[0])
		w.JobController.Accounts(pods[0])
		w.Suspend(train)
		w.Has(train, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		w.JobController.Suspends(w.Jobs(train)...)
		w.HasCounted(train, Counters{})

		w.Resume(train)

		w.Counts(train, Counters{Restarts: 1})
		w.JobController.CollectsAll(train, 1)
		w.Agents.Report(2, w.JobController.MakesPods(w.HasJobs(train, 1)...)...)
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{Restarts: 1})
	})

	It("P18: answer for a Job that failed: the failure policy does", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := Training(2, 10)
		js.Spec.FailurePolicy.Rules = []jobset.FailurePolicyRule{{
			Name: "hopeless", Action: jobset.FailJobSet, OnJobFailureReasons: []string{batchv1.JobReasonPodFailurePolicy},
		}}
		train, pods := w.RunningGroup(js)

		w.JobController.WillFail(w.Job(train, "workers", 0), batchv1.JobReasonPodFailurePolicy)
		w.Kubelet.SeesFail(pods[0], 3)
		w.JobController.Accounts(pods[0])
		w.StaysAt(train, 0, 1)
		w.JobController.Fails(w.Job(train, "workers", 0), batchv1.JobReasonPodFailurePolicy, "exit code 3")

		w.Finishes(train, jobset.JobSetFailed, "FailJobSetFailurePolicyAction")
		w.HasCounted(train, Counters{})
	})

	It("C40 P71a: leave a full restart without an end: its condition goes with the lift", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, _ := w.RunningGroup(Training(2, 10))
		w.JobController.Fails(w.Job(train, "workers", 0), batchv1.JobReasonPodFailurePolicy, "")
		w.JobController.CollectsAll(train, 1)

		jobs := w.HasJobs(train, 1)
		w.JobController.Starts(jobs...)
		pods := w.JobController.MakesPods(jobs...)
		w.JobController.Readies(jobs...)
		w.Agents.Report(2, pods...)

		w.Has(train, jobset.JobSetRestarting, metav1.ConditionFalse, "JobsReady")
	})
})
