/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// after makes a ReplicatedJob wait for another.
func after(rjob jobset.ReplicatedJob, name string, status jobset.DependsOnStatus) jobset.ReplicatedJob {
	rjob.DependsOn = []jobset.DependsOn{{Name: name, Status: status}}
	return rjob
}

var _ = Describe("dependsOn", func() {
	const (
		ready    = jobset.DependencyReady
		complete = jobset.DependencyComplete
	)
	// pair is one Job a, and three Jobs b that wait for it.
	pair := func(status jobset.DependsOnStatus) *jobset.JobSet {
		return JobSet("js", Replicated("a", 1, 1), after(Replicated("b", 3, 1), "a", status))
	}

	It("C154 C156 C162 C217 C365 O324: Ready creates Jobs when those they wait for are ready, without a word", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(JobSet("js", Replicated("a", 2, 1), after(Replicated("b", 2, 1), "a", ready)))
		first := hasOnly(w, js, "js-a-0", "js-a-1")

		w.JobController.Starts(first...)
		w.JobController.Readies(first[0])
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{Active: 2, Ready: 1})
		hasOnly(w, js, "js-a-0", "js-a-1")
		w.JobController.Readies(first[1])

		all := hasOnly(w, js, "js-a-0", "js-a-1", "js-b-0", "js-b-1")
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{Active: 2, Ready: 2})
		w.JobController.Readies(all[2:]...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 2, Ready: 2}, jobset.ReplicatedJobStatus{Active: 2, Ready: 2})
		Expect(w.Conditions(js)).To(BeEmpty())
		w.Records(js, 0, "")
	})

	It("C155 C154 O325: makes a chain, Complete and then Ready", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(JobSet("js", Replicated("a", 1, 1),
			after(Replicated("b", 1, 1), "a", complete), after(Replicated("c", 3, 1), "b", ready)))
		first := w.HasJobs(js, 1)

		w.JobController.Readies(first...)
		hasOnly(w, js, "js-a-0")
		w.JobController.Completes(first...)
		second := hasOnly(w, js, "js-a-0", "js-b-0")[1]
		w.JobController.Readies(second)
		all := hasOnly(w, js, "js-a-0", "js-b-0", "js-c-0", "js-c-1", "js-c-2")

		w.JobController.Completes(all[1:]...)
		w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 3}, jobset.ReplicatedJobStatus{Succeeded: 1}, jobset.ReplicatedJobStatus{Succeeded: 1})
	})

	It("C155: is not undone when what was waited for is not ready any more", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(pair(ready))
		w.JobController.Readies(w.HasJobs(js, 1)...)
		before := uids(w.HasJobs(js, 4))

		w.JobController.Starts(w.Job(js, "a", 0))

		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{Active: 1})
		Expect(uids(hasOnly(w, js, "js-a-0", "js-b-0", "js-b-1", "js-b-2"))).To(Equal(before))
		sleeps(w, js)
	})

	It("C160 O328: creates Jobs that never existed after the resume, ready to run", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(suspended(pair(ready)))
		w.HasConditions(js, isSuspended)

		w.Resume(js)

		w.HasConditions(js, isResumed)
		first := hasOnly(w, js, "js-a-0")
		sleeps(w, js)
		w.JobController.Readies(first...)
		hasOnly(w, js, "js-a-0", "js-b-0", "js-b-1", "js-b-2")
		sleeps(w, js)
	})

	It("C160 C166: keeps Jobs that exist suspended until those they wait for are ready again", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(pair(ready))
		w.JobController.Readies(w.HasJobs(js, 1)...)
		w.JobController.Readies(w.HasJobs(js, 4)[1:]...)
		w.Suspend(js)
		w.HasConditions(js, isSuspended)
		w.JobController.Suspends(w.Jobs(js)...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Suspended: 3}, jobset.ReplicatedJobStatus{Suspended: 1})

		w.Resume(js)

		sleeps(w, js, "js-b-0", "js-b-1", "js-b-2")
		w.HasConditions(js, isResumed)
		w.JobController.Readies(w.Job(js, "a", 0))
		sleeps(w, js)
	})
})
