/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("The creation of Jobs", func() {
	It("C314 C388: says so while Jobs of an earlier JobSet have its names, and gets its own when they are gone", func(ctx SpecContext) {
		w := newWorld(ctx)
		earlier := w.Create(AB())
		leftovers := w.HasJobs(earlier, 4)
		Expect(w.Client.Delete(ctx, earlier)).To(Succeed())

		js := w.Create(AB())
		w.TellsUser(js, corev1.EventTypeWarning, "JobCreationFailed", "already exists")
		for _, job := range leftovers {
			Expect(w.Client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		}

		w.HasJobs(js, 4)
		w.Has(js, jobset.JobSetJobsBlocked, metav1.ConditionFalse, "JobsNotBlocked")
	})

	It("C314: takes no offence at a Job of its own that the cache does not show yet", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())

		w.StartManager(WhoseJobCacheLacks("js-a-0"))
		w.JobController.Completes(jobs[1])

		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 1}, jobset.ReplicatedJobStatus{})
		w.Records(js, 0, "JobCreationFailed")
	})

	It("C63 C64 C214 C370 C388 O333: tells once, in a series that grows, that its Jobs cannot be created", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		PodTemplate(js, 0).Spec.Containers[0].Image = ""
		js = w.Create(js)

		var told []eventsv1.Event
		Eventually(func(g Gomega) {
			told = w.Events(js, "JobCreationFailed")
			g.Expect(told).To(HaveLen(1))
			g.Expect(told[0].Series).NotTo(BeNil())
			g.Expect(told[0].Series.Count).To(BeNumerically(">", 1))
		}).Should(Succeed())
		Eventually(func() int { return len(w.Manager.Tried(AJob("create"))) }).Should(BeNumerically(">", 8))
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{})
		Expect(w.Events(js, "JobCreationFailed")).To(HaveLen(1), "although counts were written meanwhile")
		Expect(told[0].Type).To(Equal(corev1.EventTypeWarning))
		Expect(told[0].ReportingController).To(Equal("jobset"))
		Expect(told[0].Note).To(ContainSubstring(`job "js-a-0" creation failed with error`))
		Expect(w.Has(js, jobset.JobSetJobsBlocked, metav1.ConditionTrue, "JobCreationFailed").Message).To(ContainSubstring(`job "js-a-0" creation failed with error`))
	})

	It("C21 C46 C315: that fails keeps nobody from seeing how the other Jobs fare", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		PodTemplate(js, 1).Spec.Containers[0].Image = ""
		js = w.Create(js)
		first := hasOnly(w, js, "js-a-0")[0]

		w.JobController.Starts(first)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{Active: 1})
		w.JobController.Readies(first)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})

		w.TellsUser(js, corev1.EventTypeWarning, "JobCreationFailed", `job "js-b-2" creation failed with error`)
		w.JobController.Fails(first, exceeded, "")
		w.Finishes(js, jobset.JobSetFailed, "FailedJobs")
	})

	It("C63 C316: that fails for many is told in as many words as an event may have", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := JobSet("js", Replicated("a", 60, 1))
		PodTemplate(js, 0).Spec.Containers[0].TerminationMessagePolicy = "100%s"
		js = w.Create(js)

		note := w.TellsUser(js, corev1.EventTypeWarning, "JobCreationFailed", "").Note

		Expect(len(note)).To(And(BeNumerically("<=", 1024), BeNumerically(">", 1000)), "%d bytes: %s", len(note), note)
		Expect(note).To(HaveSuffix("..."))
		Expect(note).To(ContainSubstring(`"100%s"`))
		for i, line := range strings.Split(note, "\n")[:2] {
			Expect(line).To(HavePrefix(fmt.Sprintf("job %q creation failed with error: ", fmt.Sprintf("js-a-%d", i))))
		}
	})
})

var _ = Describe("A Job that goes away", func() {
	It("C61 C102 C104: is not replaced, and counts, until its Pods are gone too", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())
		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})

		Expect(w.Client.Delete(ctx, jobs[1], client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())

		hasOnly(w, js, "js-a-0", "js-b-1", "js-b-2")
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		w.JobController.Collects(jobs[1])
		Expect(w.HasJobs(js, 4)[1].UID).NotTo(Equal(jobs[1].UID))
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 2, Ready: 2}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		w.HasCounted(js, Counters{})
		w.Records(js, 0, "")
	})

	It("C326: although it had completed runs again", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())
		w.JobController.Completes(jobs[:3]...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 2}, jobset.ReplicatedJobStatus{Succeeded: 1})

		Expect(w.Client.Delete(ctx, jobs[0], client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())

		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 2}, jobset.ReplicatedJobStatus{})
		jobs = w.HasJobs(js, 4)
		w.JobController.Completes(jobs[3])
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 3}, jobset.ReplicatedJobStatus{})
		w.HasNo(js, jobset.JobSetCompleted)
		w.JobController.Completes(jobs[0])
		w.HasConditions(js, isCompleted)
	})

	It("C97 C327: repairs a JobSet whose label on it was edited, which stops until then", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{})
		Change(w, jobs[0], func(job *batchv1.Job) { job.Labels[attemptKey] = "zero" })

		w.JobController.Completes(jobs[1:]...)
		w.Settles(js)
		Expect(Now(w, js).Status.ReplicatedJobsStatus).To(Equal([]jobset.ReplicatedJobStatus{{Name: "b"}, {Name: "a"}}))
		Expect(w.Client.Delete(ctx, jobs[0], client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())

		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 3}, jobset.ReplicatedJobStatus{})
		w.JobController.Completes(w.HasJobs(js, 4)[0])
		w.HasConditions(js, isCompleted)
	})
})
