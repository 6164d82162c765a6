/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// scalesJobs is a manager with gate ElasticJobSet.
func scalesJobs() ManagerOption { return WithGates(gates.Set{ElasticJobSet: true}) }

// resize gives the Jobs of a ReplicatedJob another number of workers.
func resize(w *World, js *jobset.JobSet, i int, workers int32) {
	GinkgoHelper()
	Change(w, js, func(js *jobset.JobSet) {
		JobTemplate(js, i).Parallelism, JobTemplate(js, i).Completions = ptr.To(workers), ptr.To(workers)
	})
}

// size is how many Pods a Job runs at a time, and how many have to succeed.
type size struct{ Parallelism, Completions int32 }

func sizes(w *World, js *jobset.JobSet) map[string]size {
	GinkgoHelper()
	all := map[string]size{}
	for _, job := range w.Jobs(js) {
		all[job.Name] = size{ptr.Deref(job.Spec.Parallelism, -1), ptr.Deref(job.Spec.Completions, -1)}
	}
	return all
}

var _ = Describe("An elastic JobSet", func() {
	elastic := func() *jobset.JobSet { return JobSet("js", Replicated("a", 1, 2), Replicated("b", 2, 2)) }

	It("C45 C106 C183 C184 C217 C371 O334: grows and shrinks its Jobs, and patches no other", func(ctx SpecContext) {
		w := newWorld(ctx, scalesJobs())
		js, jobs := w.CreateWithJobs(elastic())
		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 2, Ready: 2}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})

		resize(w, js, 1, 4)
		Eventually(func() map[string]size { return sizes(w, js) }).
			Should(Equal(map[string]size{"js-a-0": {2, 2}, "js-b-0": {4, 4}, "js-b-1": {4, 4}}))
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 2}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		resize(w, js, 1, 1)
		Eventually(func() map[string]size { return sizes(w, js) }).
			Should(Equal(map[string]size{"js-a-0": {2, 2}, "js-b-0": {1, 1}, "js-b-1": {1, 1}}))
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 2, Ready: 2}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})

		Expect(uids(w.Jobs(js))).To(Equal(uids(jobs)))
		Expect(patched(w)).To(Equal([]string{"js-b-0", "js-b-1"}))
		w.Records(js, 0, "")
		w.StartManager(scalesJobs())
		w.JobController.Starts(jobs[0])
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 2, Ready: 2}, jobset.ReplicatedJobStatus{Active: 1})
		Expect(w.Manager.Tried(AJob("patch"))).To(BeEmpty(), "all have their size")
		Expect(w.Conditions(js)).To(BeEmpty())
		w.Records(js, 0, "")
	})

	It("C183: scales Jobs while it is suspended", func(ctx SpecContext) {
		w := newWorld(ctx, scalesJobs())
		js := w.Create(suspended(elastic()))
		w.HasConditions(js, isSuspended)

		resize(w, js, 0, 3)

		Eventually(func() map[string]size { return sizes(w, js) }).
			Should(Equal(map[string]size{"js-a-0": {3, 3}, "js-b-0": {2, 2}, "js-b-1": {2, 2}}))
		sleeps(w, js, "js-a-0", "js-b-0", "js-b-1")
	})

	It("C186: makes new Jobs in the size that its template has by then", func(ctx SpecContext) {
		w := newWorld(ctx, scalesJobs())
		js := w.Create(with(elastic(), jobset.FailurePolicy{MaxRestarts: 1}))
		w.HasJobs(js, 3)
		resize(w, js, 1, 4)
		Eventually(func() map[string]size { return sizes(w, js) }).Should(HaveKeyWithValue("js-b-1", size{4, 4}))

		w.JobController.Fails(w.Job(js, "a", 0), exceeded, "")
		w.JobController.CollectsAll(js, 3)
		w.HasJobs(js, 3)

		Expect(sizes(w, js)).To(Equal(map[string]size{"js-a-0": {2, 2}, "js-b-0": {4, 4}, "js-b-1": {4, 4}}))
		Expect(patched(w)).To(Equal([]string{"js-b-0", "js-b-1"}))
		for _, job := range w.Jobs(js) {
			Expect(job.Generation).To(BeEquivalentTo(1), "%s was made as it is", job.Name)
		}
	})

	It("C185: scales nothing in the pass that ends it, nor after", func(ctx SpecContext) {
		w := newWorld(ctx, scalesJobs())
		js, jobs := w.CreateWithJobs(elastic())
		w.Manager.Stop()
		w.JobController.Fails(jobs[0], exceeded, "")
		resize(w, js, 1, 4)

		w.StartManager(scalesJobs())

		w.Finishes(js, jobset.JobSetFailed, "FailedJobs")
		w.JobController.CollectsAll(js, 2)
		Expect(w.Manager.Made(AJob("patch"))).To(BeEmpty())
	})

	It("C339: sends Jobs without numbers no patches", func(ctx SpecContext) {
		w := newWorld(ctx, scalesJobs())
		js := AB()
		for i := range js.Spec.ReplicatedJobs {
			JobTemplate(js, i).Parallelism, JobTemplate(js, i).Completions = nil, nil
			JobTemplate(js, i).CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
		}
		js, jobs := w.CreateWithJobs(js)

		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})

		Expect(w.Manager.Tried(AJob("patch"))).To(BeEmpty())
	})

	It("C30 C186 O335: with its gate off keeps the size of the Jobs that it has", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(elastic())
		w.HasJobs(js, 3)
		w.Manager.Stop()
		resize(w, js, 1, 4)
		Expect(w.Client.Delete(ctx, w.Job(js, "b", 1), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())

		w.StartManager()

		Eventually(func() map[string]size { return sizes(w, js) }).
			Should(Equal(map[string]size{"js-a-0": {2, 2}, "js-b-0": {2, 2}, "js-b-1": {4, 4}}))
		w.Settles(js)
		Expect(sizes(w, js)).To(HaveKeyWithValue("js-b-0", size{2, 2}))
		Expect(w.Manager.Tried(AJob("patch"))).To(BeEmpty())
	})
})
