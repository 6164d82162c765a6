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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	testcluster "sigs.k8s.io/jobset/test/cluster"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// hasExecutions holds of a status that counts this many executions before this one.
func hasExecutions(n int32) func(*jobset.JobSetStatus) bool {
	return func(s *jobset.JobSetStatus) bool { return ptr.Equal(s.ExecutionAttempts, &n) }
}

// carry waits until all Jobs of a JobSet may run, and carry this number, they and their Pods.
func carry(w *World, js *jobset.JobSet, number string) []*batchv1.Job {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		for _, job := range w.Jobs(js) {
			g.Expect(job.Spec.Suspend).To(HaveValue(BeFalse()))
			g.Expect(job.Annotations).To(HaveKeyWithValue(jobset.ExecutionAttemptKey, number))
			g.Expect(job.Spec.Template.Annotations).To(HaveKeyWithValue(jobset.ExecutionAttemptKey, number))
		}
	}).Should(Succeed())
	return w.Jobs(js)
}

var _ = Describe("The executions of a JobSet", func() {
	tracked := WithGates(gates.Set{ExecutionAttemptsTracking: true})

	It("C396 C397 C398 C399: are counted once each, before a Job of them runs, whenever the manager stops", func(ctx SpecContext) {
		w := newWorld(ctx, tracked)
		js := suspended(AB())
		js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 3}
		js, _ = w.CreateWithJobs(js)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		Expect(Now(w, js).Status.ExecutionAttempts).To(BeNil(), "it never ran")
		sleepsAgain := func() {
			GinkgoHelper()
			w.Suspend(js)
			w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")
			Eventually(func() []string { return asleep(w, js) }).Should(HaveLen(4))
			w.JobController.Suspends(w.Jobs(js)...)
		}

		By("the first start")
		w.Resume(js)
		w.JobController.Readies(carry(w, js, "0")...)

		By("a resumption in the middle of which the manager stops")
		sleepsAgain()
		w.Manager.CrashAfter(AJobSetStatus(hasExecutions(1)))
		w.Resume(js)
		w.Manager.WaitForCrash()
		Expect(asleep(w, js)).To(HaveLen(4), "no effect yet")
		w.StartManager(tracked)
		w.Manager.CrashAfter(AJob("patch"))
		w.Manager.WaitForCrash()
		w.StartManager(tracked)
		w.JobController.Readies(carry(w, js, "1")...)

		By("a restart")
		w.JobController.Fails(w.Job(js, "a", 0), batchv1.JobReasonBackoffLimitExceeded, "")
		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.JobController.CollectsAll(js, 4)
		w.HasJobs(js, 4)
		w.JobController.Readies(carry(w, js, "2")...)
		w.Settles(js)
		Expect(Now(w, js).Status.ExecutionAttempts).To(HaveValue(BeEquivalentTo(2)))

		By("a resumption while the gate is off, and one when it is on again")
		w.StartManager(WithGates(gates.Set{}))
		sleepsAgain()
		w.Resume(js)
		w.JobController.Readies(carry(w, js, "2")...)
		Expect(Now(w, js).Status.ExecutionAttempts).To(HaveValue(BeEquivalentTo(2)))
		w.StartManager(tracked)
		sleepsAgain()
		w.Resume(js)
		carry(w, js, "3")
		Expect(Now(w, js).Status.ExecutionAttempts).To(HaveValue(BeEquivalentTo(3)))
	})

	It("C396 C399: in place count charged breaks, and Pods keep the number that they were created with", func(ctx SpecContext) {
		both := WithGates(gates.Set{InPlaceRestart: true, ExecutionAttemptsTracking: true, JobSetActiveDeadlineSeconds: true})
		w := newWorld(ctx, both)
		train, pods := w.RunningGroup(Training(2, 10))
		since := Now(w, train).Status.StartTime
		Expect(since).NotTo(BeNil())
		w.Manager.CrashAfter(AJobSetStatus(hasExecutions(1)))
		w.Agents.Report(2, pods[0])
		w.Manager.WaitForCrash()
		w.StartManager(both)
		w.Agents.Report(2, pods[1])
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{InPlace: 1})
		Expect(Now(w, train).Status.ExecutionAttempts).To(HaveValue(BeEquivalentTo(1)))
		Expect(w.Job(train, "workers", 0).Spec.Template.Annotations).To(HaveKeyWithValue(jobset.ExecutionAttemptKey, "0"))
		Expect(Now(w, train).Status.StartTime.Before(since)).To(BeFalse())
	})
})

var _ = Describe("A JobSet with activeDeadlineSeconds", func() {
	limited := WithGates(gates.Set{JobSetActiveDeadlineSeconds: true})

	It("C391 C392 C394 C398: fails when it was active for so long, and not while it is suspended", func(ctx SpecContext) {
		w := newWorld(ctx, limited)
		js := suspended(AB())
		js.Spec.ActiveDeadlineSeconds = ptr.To[int64](1)
		js, _ = w.CreateWithJobs(js)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		Expect(Now(w, js).Status.StartTime).To(BeNil())
		w.Manager.CrashAfter(AJobSetStatus(func(s *jobset.JobSetStatus) bool { return s.StartTime != nil }))
		w.Resume(js)
		w.Manager.WaitForCrash()
		Expect(asleep(w, js)).To(HaveLen(4), "no Job runs yet")

		w.StartManager(limited)

		w.Finishes(js, jobset.JobSetFailed, "DeadlineExceeded")
		w.TellsUser(js, corev1.EventTypeWarning, "DeadlineExceeded", "jobset was active for longer than activeDeadlineSeconds: 1")
		w.JobController.CollectsAll(js, 4)
		Expect(Now(w, js).Status.StartTime).NotTo(BeNil(), "it keeps that of its end")
	})

	It("C391: has no start and no end while the gate is off", func(ctx SpecContext) {
		w := newWorld(ctx, limited)
		js := AB()
		js.Spec.ActiveDeadlineSeconds = ptr.To[int64](3600)
		js, _ = w.CreateWithJobs(js)
		w.Status(js, func(g Gomega, status jobset.JobSetStatus) { g.Expect(status.StartTime).NotTo(BeNil()) })
		w.StartManager(WithGates(gates.Set{}))
		w.Status(js, func(g Gomega, status jobset.JobSetStatus) { g.Expect(status.StartTime).To(BeNil()) })
		Change(w, js, func(js *jobset.JobSet) { js.Spec.ActiveDeadlineSeconds = ptr.To[int64](1) })
		w.Settles(js)
		w.StartManager(limited)
		w.Status(js, func(g Gomega, status jobset.JobSetStatus) { g.Expect(status.StartTime).NotTo(BeNil()) })
		w.Finishes(js, jobset.JobSetFailed, "DeadlineExceeded")
	})
})

var _ = Describe("A suspended JobSet whose resources change", func() {
	It("C400 C401: hands them to its Jobs at the resume, or says why not", func(ctx SpecContext) {
		server, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
		Expect(err).NotTo(HaveOccurred())
		minor, err := testcluster.Minor(server)
		Expect(err).NotTo(HaveOccurred())
		w := newWorld(ctx, WithGates(gates.Set{MutablePodResourcesForSuspendedJobSets: true}))
		js, jobs := w.CreateWithJobs(AB())
		w.JobController.Readies(jobs...)
		w.Suspend(js)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		w.JobController.Suspends(w.Jobs(js)...)
		requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}

		Change(w, js, func(js *jobset.JobSet) {
			js.Spec.Suspend = ptr.To(false)
			PodTemplate(js, 0).Spec.Containers[0].Resources.Requests = requests
		})

		if minor < 36 {
			w.TellsUser(js, corev1.EventTypeWarning, "FailedResourcePropagation", "turn on its feature gate MutablePodResourcesForSuspendedJobs")
			w.Has(js, jobset.JobSetJobsBlocked, metav1.ConditionTrue, "FailedResourcePropagation")
			return
		}
		Eventually(func() []string { return asleep(w, js) }).Should(BeEmpty())
		Expect(w.Job(js, "a", 0).Spec.Template.Spec.Containers[0].Resources.Requests).To(Equal(requests))
		Expect(w.Job(js, "b", 0).Spec.Template.Spec.Containers[0].Resources.Requests).To(BeEmpty())
	})
})
