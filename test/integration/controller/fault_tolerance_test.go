/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// tolerates is a manager with gate FaultTolerance.
func tolerates() ManagerOption { return WithGates(AllGatesOn) }

// tolerant gives a JobSet a pause of so many seconds between its resets, and a limit of two.
func tolerant(js *jobset.JobSet, pauseSeconds int32) *jobset.JobSet {
	js.Spec.FaultTolerance = &jobset.FaultTolerance{RetryPauseSeconds: &pauseSeconds}
	if js.Spec.FailurePolicy == nil {
		js.Spec.FaultTolerance.RetryLimit = ptr.To[int32](2)
	}
	return js
}

// gone is when the last Job of a reset was gone, as the status says.
func gone(w *World, js *jobset.JobSet) (at metav1.Time) {
	GinkgoHelper()
	w.Status(js, func(g Gomega, status jobset.JobSetStatus) {
		g.Expect(status.FaultTolerance).NotTo(BeNil())
		g.Expect(status.FaultTolerance.Reset).NotTo(BeNil())
		g.Expect(status.FaultTolerance.Reset.JobsGoneTime).NotTo(BeNil())
		at = *status.FaultTolerance.Reset.JobsGoneTime
	})
	return at
}

// firstCreated is when the first Job of a JobSet was created.
func firstCreated(w *World, js *jobset.JobSet, count int) metav1.Time {
	GinkgoHelper()
	jobs := w.HasJobs(js, count)
	first := jobs[0].CreationTimestamp
	for _, job := range jobs {
		if job.CreationTimestamp.Before(&first) {
			first = job.CreationTimestamp
		}
	}
	return first
}

var _ = Describe("A JobSet with faultTolerance", func() {
	const pause = 2

	DescribeTable("P82 P83: is reset: all Jobs go, a pause, all come back",
		func(ctx SpecContext, js *jobset.JobSet) {
			w := newWorld(ctx, tolerates())
			js = w.Create(js)
			w.JobController.Fails(w.HasJobs(js, 4)[1], exceeded, "")

			w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
			deleting := w.Deleting(js, 4)
			w.JobController.Collects(deleting[:3]...)
			w.Settles(js)
			Expect(attempts(w, js)).To(Equal(map[string]int{"0": 1}), "no name that is free is used before all are gone")
			created := w.Manager.Hold(AJob("create")) // what holds during the pause may be looked at after it
			w.JobController.Collects(deleting[3])

			since := gone(w, js)
			Expect(w.AllJobs(js)).To(BeEmpty())
			Expect(w.Has(js, jobset.JobSetRestarting, metav1.ConditionTrue, "DefaultFailurePolicy").Message).To(
				MatchRegexp(`^Job ` + deleting[1].Name + ` failed.*; all Jobs are gone, they are created again at `))
			created.Release()
			Expect(firstCreated(w, js, 4).Sub(since.Time)).To(BeNumerically(">=", pause*time.Second))
			Expect(attempts(w, js)).To(Equal(map[string]int{"1": 4}))
			w.Status(js, func(g Gomega, status jobset.JobSetStatus) { g.Expect(status.FaultTolerance.Reset).To(BeNil()) })
			w.TellsUser(js, corev1.EventTypeNormal, "RetryPause", "all Jobs are gone")
			w.Records(js, 1, "RetryPause")
		},
		Entry("without a failure policy", tolerant(AB(), pause)),
		Entry("with strategy Recreate", tolerant(with(AB(), jobset.FailurePolicy{MaxRestarts: 2, RestartStrategy: jobset.Recreate}), pause)),
		Entry("with strategy BlockingRecreate", tolerant(with(AB(), jobset.FailurePolicy{MaxRestarts: 2, RestartStrategy: jobset.BlockingRecreate}), pause)),
		Entry("with strategy InPlaceRestart", tolerant(InPlace(AB(), 2), pause)),
	)

	It("P83: keeps its pause over a restart of the manager", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js, jobs := w.CreateWithJobs(tolerant(AB(), 3))
		w.Manager.CrashBefore(AJob("create")) // so that the pause is still on, however long this takes
		w.JobController.Fails(jobs[0], exceeded, "")
		w.JobController.CollectsAll(js, 4)
		since := gone(w, js)
		w.TellsUser(js, corev1.EventTypeNormal, "RetryPause", "all Jobs are gone") // its events are gone with a manager
		w.Manager.Stop()

		w.StartManager(tolerates())

		Expect(firstCreated(w, js, 4).Sub(since.Time)).To(BeNumerically(">=", 3*time.Second))
		w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.Records(js, 0, "RetryPause") // the second manager goes on where the first stopped
	})

	It("P84: is suspended in the middle of a pause, and when it is resumed starts at once", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := w.Create(tolerant(AB(), 3600))
		w.JobController.Fails(w.HasJobs(js, 4)[0], exceeded, "")
		w.JobController.CollectsAll(js, 4)
		gone(w, js)

		w.Suspend(js)

		w.HasJobs(js, 4)
		sleeps(w, js, "js-a-0", "js-b-0", "js-b-1", "js-b-2")
		w.Status(js, func(g Gomega, status jobset.JobSetStatus) { g.Expect(status.FaultTolerance.Reset).To(BeNil()) })
		w.Resume(js)
		sleeps(w, js)
		w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
	})

	// heals gives a JobSet of two Jobs short periods, all of so many seconds.
	heals := func(seconds int32) *jobset.JobSet {
		js := tolerant(JobSet("js", Replicated("w", 2, 1)), 0)
		f := js.Spec.FaultTolerance
		f.AdmissionGracePeriodSeconds, f.WarmupGracePeriodSeconds, f.FailureGracePeriodSeconds = &seconds, ptr.To(max(1, seconds)), &seconds
		f.ForcefulDeletionGracePeriodSeconds = ptr.To(max(1, seconds))
		return js
	}
	runs := func(w *World, js *jobset.JobSet) []*corev1.Pod {
		GinkgoHelper()
		jobs := w.HasJobs(js, 2)
		pods := w.JobController.MakesPods(jobs...)
		w.JobController.Starts(jobs...)
		for _, pod := range pods {
			w.Kubelet.Runs(pod)
		}
		return pods
	}

	It("P80 P86: whose Pods do not come in time is unhealthy, and then reset", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js, jobs := w.CreateWithJobs(heals(1))
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionTrue, "ResourcesInUse")
		w.JobController.MakesPods(jobs[0])
		w.Settles(js) // and knows of the Pod before its period begins
		reset := w.Manager.Hold(AJobSetStatus(Restarts(1)))
		w.JobController.Starts(jobs...)

		Eventually(func() string { return w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsMissing").Message }).Should(
			Equal("1 of 2 Pods exist 1s after the start of their Jobs; waiting 1s for them"))
		reset.Release()
		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.Has(js, jobset.JobSetRestarting, metav1.ConditionTrue, "PodsMissing")
		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionFalse, "NotWatched")
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionTrue, "ResourcesInUse")
	})

	It("P80: that heals in time is left alone", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := heals(0)
		js.Spec.FaultTolerance.FailureGracePeriodSeconds = ptr.To[int32](3600)
		js = w.Create(js)
		pods := runs(w, js)
		w.Kubelet.SeesFail(pods[0], 1)
		Expect(w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsFailed").Message).To(
			Equal("1 of 2 Pods are Failed and not replaced; waiting 1h0m0s for them"))

		w.Kubelet.Runs(w.JobController.Replaces(pods[0]))

		w.Has(js, jobset.JobSetUnhealthy, metav1.ConditionFalse, "PodsHealthy")
		w.HasCounted(js, Counters{})
	})

	It("P81: loses a Job to somebody else, and fails", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := w.Create(tolerant(AB(), 0))
		job := w.HasJobs(js, 4)[1]
		w.Status(js, func(g Gomega, status jobset.JobSetStatus) {
			g.Expect(status.FaultTolerance.CompleteAttempt).To(HaveValue(BeZero()))
		})

		Expect(w.Client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())

		w.Finishes(js, jobset.JobSetFailed, "ChildJobDeleted")
		w.HasCounted(js, Counters{})
	})

	It("P85: deletes by force a Pod that does not go", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := heals(1)
		js.Spec.FaultTolerance.FailureGracePeriodSeconds = ptr.To[int32](3600)
		js = w.Create(js)
		pods := runs(w, js)

		w.Kubelet.StartsStopping(pods[0], 1)

		w.TellsUser(js, corev1.EventTypeWarning, "ForcefulDeletion", "1 Pods should have stopped more than 1s ago; they are deleted by force: "+pods[0].Name)
		Eventually(func() *int64 { return Now(w, pods[0]).DeletionGracePeriodSeconds }).Should(HaveValue(BeZero()))
		Expect(Now(w, pods[0]).Status.Phase).To(Equal(corev1.PodFailed), "else its Job would keep it")
	})

	It("P85: lets Jobs go that nobody collects", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := heals(1)
		js.Spec.FaultTolerance.FailureGracePeriodSeconds = ptr.To[int32](3600)
		js, jobs := w.CreateWithJobs(js)
		w.JobController.Fails(jobs[0], exceeded, "")

		Eventually(func() map[string]int { return attempts(w, js) }).Should(Equal(map[string]int{"1": 2}), "Jobs that are recreated although no garbage collector runs")
		for _, job := range w.HasJobs(js, 2) {
			Expect(uids(jobs)).NotTo(HaveKeyWithValue(job.Name, job.UID))
		}
		w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
	})

	It("P86: gives its quota away when it is suspended and its last Pod is gone", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := w.Create(heals(3600))
		last := runs(w, js)[1]
		hold := func(finalizers ...string) {
			Change(w, last, func(pod *corev1.Pod) { pod.Finalizers = append(pod.Finalizers[:0], finalizers...) })
		}
		hold("example.com/held")
		w.Suspend(js)
		w.HasConditions(js, True(jobset.JobSetResourcesDeployed, "ResourcesInUse", "Jobs of the JobSet may run Pods"), isSuspended)
		w.JobController.Suspends(w.Jobs(js)...)
		w.Settles(js)
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionTrue, "ResourcesInUse")

		hold()

		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionFalse, "ResourcesReleased")
		w.Resume(js)
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionTrue, "ResourcesInUse")
		sleeps(w, js)
	})

	It("P86: learns from the Job controller alone that its last Pod has stopped", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := w.Create(heals(3600))
		runs(w, js)
		w.JobController.CountsStopping(w.Jobs(js)[1], 1)
		w.Suspend(js)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
		w.JobController.Suspends(w.Jobs(js)...)
		w.Settles(js)
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionTrue, "ResourcesInUse")

		w.JobController.CountsStopping(w.Jobs(js)[1], 0)

		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionFalse, "ResourcesReleased")
	})

	It("P87: that failed keeps what runs for a while", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := tolerant(AB(), 0)
		js.Spec.FaultTolerance.RetryLimit, js.Spec.FaultTolerance.DeletionOnFailureGracePeriodSeconds = ptr.To[int32](0), ptr.To[int32](3)
		js, jobs := w.CreateWithJobs(js)
		deleted := w.Manager.Hold(AJob("delete")) // the status says until when only as long as they are kept
		w.JobController.Fails(jobs[0], exceeded, "")
		failed := w.Has(js, jobset.JobSetFailed, metav1.ConditionTrue, "ReachedMaxRestarts").LastTransitionTime
		w.Status(js, func(g Gomega, status jobset.JobSetStatus) {
			g.Expect(status.FaultTolerance.PodsKeptUntil).NotTo(BeNil())
			g.Expect(status.FaultTolerance.PodsKeptUntil.Sub(failed.Time)).To(Equal(3 * time.Second))
		})
		deleted.Release()

		for _, job := range w.Deleting(js, 3) {
			Expect(job.DeletionTimestamp.Sub(failed.Time)).To(BeNumerically(">=", 3*time.Second))
		}
	})

	It("P88: that completed has its Jobs for a while, and stays itself", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := tolerant(AB(), 0)
		js.Spec.FaultTolerance.SuccessTTLSeconds = ptr.To[int32](2)
		js = w.Create(js)
		w.JobController.Completes(w.HasJobs(js, 4)...)
		done := w.Has(js, jobset.JobSetCompleted, metav1.ConditionTrue, "").LastTransitionTime

		for _, job := range w.Deleting(js, 4) {
			Expect(job.DeletionTimestamp.Sub(done.Time)).To(BeNumerically(">=", 2*time.Second))
		}
		w.TellsUser(js, corev1.EventTypeNormal, "SuccessTTLExpired", "the JobSet completed 2s ago: its 4 Jobs are deleted, and it stays")
		w.JobController.CollectsAll(js, 4)
		w.Settles(js)
		Expect(Now(w, js).DeletionTimestamp).To(BeNil())
		w.Has(js, jobset.JobSetResourcesDeployed, metav1.ConditionFalse, "ResourcesReleased")
	})
})
