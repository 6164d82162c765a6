/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// tolerantGroup is a group of two with faultTolerance. Of its times to wait only the pause of a reset is short.
func tolerantGroup() *jobset.JobSet {
	js := patient(Training(2, 2))
	js.Spec.FaultTolerance.RetryPauseSeconds = ptr.To[int32](1)
	return js
}

// hasTime gives a group this long to assemble, and as long again after its late workers were replaced.
func hasTime(w *World, js *jobset.JobSet, seconds int32) {
	GinkgoHelper()
	Change(w, js, func(js *jobset.JobSet) { js.Spec.FaultTolerance.WarmupGracePeriodSeconds = &seconds })
}

var _ = Describe("A group with faultTolerance that restarts in place", func() {
	// restartsWhile waits for a number of restarts. Meanwhile workers that the manager deletes are replaced by others, which
	// do not start either.
	restartsWhile := func(w *World, js *jobset.JobSet, restarts int32) {
		GinkgoHelper()
		Eventually(func() int32 {
			for _, job := range w.Jobs(js) {
				for _, pod := range w.Pods(job) {
					if pod.DeletionTimestamp != nil {
						w.Kubelet.Removes(pod)
						w.Kubelet.IsPending(w.JobController.Replaces(pod))
					}
				}
			}
			return Now(w, js).Status.Restarts
		}).WithTimeout(time.Minute).Should(Equal(restarts), "restarts")
	}
	comesBack := func(w *World, js *jobset.JobSet) []*batchv1.Job {
		GinkgoHelper()
		w.JobController.CollectsAll(js, 1)
		jobs := w.HasJobs(js, 1)
		w.Status(js, func(g Gomega, status jobset.JobSetStatus) { g.Expect(status.FaultTolerance.Reset).To(BeNil()) })
		return jobs
	}

	DescribeTable("P80 P82: is reset and charged when it does not assemble within twice its period",
		func(ctx SpecContext, trouble func(w *World, job *batchv1.Job)) {
			w := newWorld(ctx, tolerates())
			js := w.Create(tolerantGroup())
			job := w.HasJobs(js, 1)[0]
			w.JobController.Begins(job)
			trouble(w, job)
			w.Settles(js)

			hasTime(w, js, 1)
			restartsWhile(w, js, 1)
			w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
			w.TellsUser(js, corev1.EventTypeWarning, "RestartJobSetFailurePolicyAction", "workers have not reported epoch 1 within 2s")
			w.HasNo(js, jobset.JobSetUnhealthy)

			By("assembling at the next attempt")
			hasTime(w, js, 3600)
			w.Agents.Report(1, w.JobController.MakesPods(comesBack(w, js)...)...)
			w.TellsUser(js, corev1.EventTypeNormal, "RetryPause", "after a pause of 1s (1 of 2 restarts used)")
			w.Reaches(js, 0, 1)
			w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
		},
		Entry("as its Pods cannot be created", func(*World, *batchv1.Job) {}),
		Entry("as a Pod runs and its agent does not report", func(w *World, job *batchv1.Job) {
			w.Agents.Report(1, w.JobController.MakesPods(job)[0])
		}),
	)

	// 21 s: two periods for each of two attempts, which are whole seconds.
	It("P80 P84: is not charged again for a break that was, but for the next attempt, and fails when its restarts are used up", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js, pods := w.RunningGroup(tolerantGroup())

		By("breaking, and not assembling again")
		hasTime(w, js, 1)
		w.Agents.Report(2, pods[0])
		w.Counts(js, Counters{InPlace: 1})
		restartsWhile(w, js, 1)
		w.HasCounted(js, Counters{Restarts: 1, InPlace: 1})

		By("not assembling after the reset")
		w.JobController.Begins(comesBack(w, js)...)
		restartsWhile(w, js, 2)
		w.HasCounted(js, Counters{Restarts: 2, CountTowardsMax: 1, InPlace: 1})

		By("not assembling after the second reset")
		w.JobController.Begins(comesBack(w, js)...)
		w.Finishes(js, jobset.JobSetFailed, "ReachedMaxRestarts")
		w.HasCounted(js, Counters{Restarts: 2, CountTowardsMax: 1, InPlace: 1})
	})

	DescribeTable("P82: that loses a worker while it runs restarts in place, without a reset",
		func(ctx SpecContext, lose func(w *World, pod *corev1.Pod)) {
			w := newWorld(ctx, tolerates())
			js := tolerantGroup()
			js.Spec.FaultTolerance.ForcefulDeletionGracePeriodSeconds = ptr.To[int32](1)
			js, pods := w.RunningGroup(js)

			lose(w, pods[1])
			w.Reaches(js, 1, 1)
			w.Agents.Report(2, pods[0], w.JobController.Replaces(pods[1]))

			w.Reaches(js, 1, 2)
			w.HasCounted(js, Counters{InPlace: 1})
			w.HasNo(js, jobset.JobSetUnhealthy)
			w.Has(js, jobset.JobSetRestarting, metav1.ConditionFalse, "WorkersSynced")
		},
		Entry("which failed", func(w *World, pod *corev1.Pod) {
			w.Kubelet.SeesFail(pod, 1)
			w.JobController.Accounts(pod)
		}),
		Entry("which is told to stop on a lost node, and is deleted by force (P85)", func(w *World, pod *corev1.Pod) {
			w.Kubelet.StartsStopping(pod, 1)
			Eventually(func() *int64 { return Now(w, pod).DeletionGracePeriodSeconds }).Should(HaveValue(BeZero()))
			Expect(Now(w, pod).Status.Phase).To(Equal(corev1.PodFailed))
			w.JobController.Accounts(pod)
		}),
	)
})
