/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// patient waits an hour wherever it can wait.
func patient(js *jobset.JobSet) *jobset.JobSet {
	long := ptr.To[int32](3600)
	js.Spec.FaultTolerance = &jobset.FaultTolerance{
		AdmissionGracePeriodSeconds: long, WarmupGracePeriodSeconds: long, FailureGracePeriodSeconds: long, RetryPauseSeconds: long,
		DeletionOnFailureGracePeriodSeconds: long, ForcefulDeletionGracePeriodSeconds: long, SuccessTTLSeconds: long,
	}
	return js
}

var _ = Describe("What a live JobSet with faultTolerance asks for", func() {
	It("P80-P87: may be edited at any time, each field at the moment when it is waited for", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := w.Create(patient(AB()))
		edit := func(change func(*jobset.FaultTolerance)) {
			GinkgoHelper()
			Change(w, js, func(js *jobset.JobSet) { change(js.Spec.FaultTolerance) })
		}
		now, soon := ptr.To[int32](0), ptr.To[int32](1)
		jobs := w.HasJobs(js, 4)
		w.JobController.MakesPods(jobs[1:]...)
		w.JobController.Starts(jobs...)
		w.HasNo(js, jobset.JobSetUnhealthy)

		edit(func(f *jobset.FaultTolerance) { f.AdmissionGracePeriodSeconds = now })
		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsMissing")
		missing := w.JobController.MakesPod(jobs[0], 0)
		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionFalse, "PodsHealthy")
		w.Kubelet.IsPending(missing)
		w.HasNo(js, jobset.JobSetUnhealthy)

		edit(func(f *jobset.FaultTolerance) { f.WarmupGracePeriodSeconds = soon })
		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsNotRunning")
		w.HasCounted(js, Counters{})

		edit(func(f *jobset.FaultTolerance) { f.FailureGracePeriodSeconds = now })
		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.JobController.CollectsAll(js, 4)
		gone(w, js)
		edit(func(f *jobset.FaultTolerance) { // so that the next Pods have time
			long := ptr.To[int32](3600)
			f.AdmissionGracePeriodSeconds, f.WarmupGracePeriodSeconds, f.FailureGracePeriodSeconds = long, long, long
		})
		w.Settles(js)
		Expect(w.AllJobs(js)).To(BeEmpty(), "the pause is over when it is edited, and not before")

		edit(func(f *jobset.FaultTolerance) { f.RetryPauseSeconds = now })
		jobs = w.HasJobs(js, 4)
		pods := w.JobController.MakesPods(jobs...)
		w.Kubelet.StartsStopping(pods[3], 1)
		w.Settles(js)
		Expect(Now(w, pods[3]).DeletionGracePeriodSeconds).To(HaveValue(BeEquivalentTo(1)))

		edit(func(f *jobset.FaultTolerance) { f.ForcefulDeletionGracePeriodSeconds = soon })
		Eventually(func() *int64 { return Now(w, pods[3]).DeletionGracePeriodSeconds }).Should(HaveValue(BeZero()))

		edit(func(f *jobset.FaultTolerance) { f.RetryLimit = soon })
		w.JobController.Fails(jobs[0], exceeded, "")
		w.Finishes(js, jobset.JobSetFailed, "ReachedMaxRestarts")
		w.Settles(js)
		Expect(w.Jobs(js)).To(HaveLen(4), "Jobs that are kept")

		edit(func(f *jobset.FaultTolerance) { f.DeletionOnFailureGracePeriodSeconds = now })
		w.Deleting(js, 3)
	})

	It("P88: may be edited once it has completed", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := w.Create(patient(AB()))
		w.JobController.Completes(w.HasJobs(js, 4)...)
		w.Finishes(js, jobset.JobSetCompleted, "")
		w.Settles(js)
		Expect(w.Jobs(js)).To(HaveLen(4))

		Change(w, js, func(js *jobset.JobSet) { js.Spec.FaultTolerance.SuccessTTLSeconds = ptr.To[int32](0) })
		w.Deleting(js, 4)
	})

	It("P89: may come to a JobSet that runs, and go from one that is unhealthy", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js, jobs := w.CreateWithJobs(AB())
		w.JobController.Starts(jobs...)
		w.HasNo(js, jobset.JobSetResourcesDeployed)

		Change(w, js, func(js *jobset.JobSet) {
			patient(js).Spec.FaultTolerance.AdmissionGracePeriodSeconds = ptr.To[int32](0)
		})
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionTrue, "ResourcesInUse")
		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsMissing")

		Change(w, js, func(js *jobset.JobSet) { js.Spec.FaultTolerance = nil })
		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionUnknown, "FaultToleranceOff")
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionUnknown, "FaultToleranceOff")
		w.HasCounted(js, Counters{})
	})

	It("P80: is told once, however many Pods are in trouble", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js, jobs := w.CreateWithJobs(patient(JobSet("js", Replicated("w", 20, 1))))
		pods := w.JobController.MakesPods(jobs...)
		w.JobController.Starts(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 20})
		w.Kubelet.SeesFail(pods[0], 1)
		told := w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsFailed")
		w.Settles(js)
		before := len(w.Manager.Made(AJobSetStatus()))

		for _, pod := range pods[1:] {
			w.Kubelet.SeesFail(pod, 1)
			w.Settles(js)
		}

		Expect(w.Manager.Made(AJobSetStatus())).To(HaveLen(before), "writes of the status while 19 more Pods failed")
		Expect(w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsFailed")).To(Equal(told))
	})
})

var _ = Describe("The feature gate FaultTolerance", func() {
	offAgain := func(w *World) { GinkgoHelper(); w.StartManager(WithGates(GateOn)) }

	It("P81 P89: off and on again over a JobSet that is unhealthy, forgets what it saw and starts to look again", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := patient(AB())
		js.Spec.FaultTolerance.AdmissionGracePeriodSeconds = ptr.To[int32](0)
		js, jobs := w.CreateWithJobs(js)
		w.JobController.Starts(jobs...)
		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsMissing")
		w.Status(js, func(g Gomega, status jobset.JobSetStatus) {
			g.Expect(status.FaultTolerance.CompleteAttempt).NotTo(BeNil())
		})

		offAgain(w)
		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionUnknown, "FaultToleranceOff")
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionUnknown, "FaultToleranceOff")
		w.Status(js, func(g Gomega, status jobset.JobSetStatus) { g.Expect(status.FaultTolerance).To(BeNil()) })
		Expect(w.Client.Delete(ctx, jobs[0], client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		Eventually(func() string { return fmt.Sprint(w.HasJobs(js, 4)[0].UID) }).ShouldNot(Equal(string(jobs[0].UID)), "a Job that was deleted is created again")
		w.Settles(js)
		Expect(Now(w, js).Spec.FaultTolerance).NotTo(BeNil())

		w.StartManager(tolerates())
		w.JobController.Starts(w.Jobs(js)...)
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionTrue, "ResourcesInUse")
		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsMissing")
		w.HasCounted(js, Counters{})
		Expect(Now(w, js).Status.TerminalState).To(BeEmpty(), "what was deleted meanwhile is nobody's fault")
	})

	It("P82 P84: off, without a failure policy, a failed Job is the end; with one it restarts without a pause", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		without, restarts := patient(AB()), with(patient(AB()), jobset.FailurePolicy{MaxRestarts: 1})
		without.Name, restarts.Name = "without", "restarts"
		without, restarts = w.Create(without), w.Create(restarts)
		w.HasJobs(without, 4)
		w.HasJobs(restarts, 4)

		offAgain(w)
		w.JobController.Fails(w.Job(without, "a", 0), exceeded, "")
		w.Finishes(without, jobset.JobSetFailed, "FailedJobs")
		w.Deleting(without, 3)
		w.JobController.Fails(w.Job(restarts, "a", 0), exceeded, "")
		w.JobController.CollectsAll(restarts, 4)
		w.HasJobs(restarts, 4)

		w.StartManager(tolerates())
		w.HasCounted(restarts, Counters{Restarts: 1, CountTowardsMax: 1})
		w.JobController.Fails(w.Job(restarts, "a", 0), exceeded, "")
		w.Finishes(restarts, jobset.JobSetFailed, "ReachedMaxRestarts")
		w.TellsUser(restarts, corev1.EventTypeNormal, "PodsKept", "3 Jobs that run are kept for 1h0m0s")
	})
})
