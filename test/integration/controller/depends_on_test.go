/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// after makes a ReplicatedJob wait for others: after(b, "a", Ready, "c", Complete).
func after(rjob jobset.ReplicatedJob, dependencies ...any) jobset.ReplicatedJob {
	for i := 0; i < len(dependencies); i += 2 {
		rjob.DependsOn = append(rjob.DependsOn, jobset.DependsOn{
			Name: dependencies[i].(string), Status: dependencies[i+1].(jobset.DependsOnStatus),
		})
	}
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
		Expect(w.Told(js)).To(BeEmpty())
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

	DescribeTable("C154 C162: with two entries waits for both,",
		func(ctx SpecContext, ofA jobset.DependsOnStatus, notEnough, enough func(w *World, a, b *batchv1.Job)) {
			w := newWorld(ctx)
			js := w.Create(JobSet("js", Replicated("a", 1, 1), Replicated("b", 1, 1),
				after(Replicated("c", 3, 1), "a", ofA, "b", complete)))
			first := hasOnly(w, js, "js-a-0", "js-b-0")

			notEnough(w, first[0], first[1])
			hasOnly(w, js, "js-a-0", "js-b-0")
			enough(w, first[0], first[1])

			hasOnly(w, js, "js-a-0", "js-b-0", "js-c-0", "js-c-1", "js-c-2")
		},
		Entry("O326: both Complete", complete,
			func(w *World, a, b *batchv1.Job) { w.JobController.Completes(a); w.JobController.Readies(b) },
			func(w *World, _, b *batchv1.Job) { w.JobController.Completes(b) }),
		Entry("O327: one Ready and one Complete", ready,
			func(w *World, a, b *batchv1.Job) { w.JobController.Readies(a, b) },
			func(w *World, _, b *batchv1.Job) { w.JobController.Completes(b) }),
		Entry("O327: one Ready and one Complete, the other way round", ready,
			func(w *World, _, b *batchv1.Job) { w.JobController.Completes(b) },
			func(w *World, a, _ *batchv1.Job) { w.JobController.Readies(a) }),
	)

	It("C154: makes nobody wait but those that say so", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(JobSet("js", Replicated("a", 1, 1), after(Replicated("b", 1, 1), "a", ready), Replicated("c", 1, 1)))

		jobs := hasOnly(w, js, "js-a-0", "js-c-0")

		w.JobController.Readies(jobs[0])
		hasOnly(w, js, "js-a-0", "js-b-0", "js-c-0")
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

	It("C159 C365: holds in a suspended JobSet too: what waits is not created", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(suspended(pair(ready)))

		hasOnly(w, js, "js-a-0")

		sleeps(w, js, "js-a-0")
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{Suspended: 1})
		w.HasConditions(js, isSuspended)
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

	It("C161: starts over after a restart of the whole JobSet", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(with(pair(complete), jobset.FailurePolicy{MaxRestarts: 1}))
		w.JobController.Completes(w.HasJobs(js, 1)...)

		w.JobController.Fails(w.HasJobs(js, 4)[2], "BackoffLimitExceeded", "")
		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.JobController.CollectsAll(js, 4)

		w.JobController.Completes(hasOnly(w, js, "js-a-0")...)
		jobs := hasOnly(w, js, "js-a-0", "js-b-0", "js-b-1", "js-b-2")
		Expect(attempts(w, js)).To(Equal(map[string]int{"1": 4}))
		w.JobController.Completes(jobs[1:]...)
		w.HasConditions(js, isRestarted, isCompleted)
	})

	It("C154: never starts what waits for a Job that fails", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(pair(ready))

		w.JobController.Fails(w.HasJobs(js, 1)[0], "BackoffLimitExceeded", "")

		w.Finishes(js, jobset.JobSetFailed, "FailedJobs")
		hasOnly(w, js, "js-a-0")
	})
})
