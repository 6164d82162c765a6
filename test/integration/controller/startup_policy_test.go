/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// The conditions and events of a start in order.
var (
	startIsUnderWay     = True(jobset.JobSetStartupPolicyInProgress, "InOrderStartupPolicyInProgress", "in order startup policy is in progress")
	startWasUnderWay    = False(jobset.JobSetStartupPolicyInProgress, "InOrderStartupPolicyInProgress", "in order startup policy is in progress")
	startIsThrough      = True(jobset.JobSetStartupPolicyCompleted, "InOrderStartupPolicyCompleted", "in order startup policy has completed")
	startWasThrough     = False(jobset.JobSetStartupPolicyCompleted, "InOrderStartupPolicyCompleted", "in order startup policy has completed")
	eventStartUnderWay  = Normal("InOrderStartupPolicyInProgress", "in order startup policy is in progress")
	eventStartIsThrough = Normal("InOrderStartupPolicyCompleted", "in order startup policy has completed")
)

func startingIn(order jobset.StartupPolicyOptions, js *jobset.JobSet) *jobset.JobSet {
	js.Spec.StartupPolicy = &jobset.StartupPolicy{StartupPolicyOrder: order}
	return js
}

func suspended(js *jobset.JobSet) *jobset.JobSet {
	js.Spec.Suspend = ptr.To(true)
	return js
}

// started is a JobSet whose Jobs have been brought up in order.
func started(w *World) *jobset.JobSet {
	GinkgoHelper()
	js := w.Create(startingIn(jobset.InOrder, AB()))
	w.JobController.Readies(w.HasJobs(js, 1)...)
	w.JobController.Readies(w.HasJobs(js, 4)[1:]...)
	w.HasConditions(js, startWasUnderWay, startIsThrough)
	return js
}

var _ = Describe("A start in order", func() {
	It("C57 C58 C149 C212 C213 C221 C222 C321 O321: brings up one ReplicatedJob after the other and says when it is through", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(startingIn(jobset.InOrder, AB()))

		first := hasOnly(w, js, "js-a-0")
		w.HasConditions(js, startIsUnderWay)
		w.JobController.Starts(first...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{Active: 1})
		hasOnly(w, js, "js-a-0")

		w.JobController.Readies(first...)
		rest := hasOnly(w, js, "js-a-0", "js-b-0", "js-b-1", "js-b-2")[1:]
		w.JobController.Starts(rest...)
		w.JobController.Readies(rest[:2]...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 2}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		w.HasConditions(js, startIsUnderWay)

		w.JobController.Readies(rest[2])
		w.HasConditions(js, startWasUnderWay, startIsThrough)
		w.HasEvents(js, eventStartUnderWay, eventStartIsThrough)
		Expect(since(w, js, jobset.JobSetStartupPolicyInProgress)).
			To(Equal(since(w, js, jobset.JobSetStartupPolicyCompleted)), "one ended when the other began")
	})

	It("C152 O322: runs again after a restart of the whole JobSet", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(with(startingIn(jobset.InOrder, AB()), jobset.FailurePolicy{MaxRestarts: 1}))
		w.JobController.Readies(w.HasJobs(js, 1)...)
		w.JobController.Readies(w.HasJobs(js, 4)[1:]...)
		w.HasConditions(js, startWasUnderWay, startIsThrough)
		const message = "applying RestartJobSet failure policy action (first failed job: js-b-1)"

		w.JobController.Fails(w.Job(js, "b", 1), "BackoffLimitExceeded", "")
		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.JobController.CollectsAll(js, 4)

		first := hasOnly(w, js, "js-a-0")
		w.HasConditions(js, startIsUnderWay, startWasThrough, True(jobset.JobSetRestarting, "DefaultFailurePolicy", message))
		w.JobController.Readies(first...)
		jobs := w.HasJobs(js, 4)
		w.JobController.Readies(jobs[1:]...)
		w.HasConditions(js, startWasUnderWay, startIsThrough, isRestarted)
		Expect(attempts(w, js)).To(Equal(map[string]int{"1": 4}))
		w.HasEvents(js, eventStartUnderWay, eventStartIsThrough,
			Warning("DefaultFailurePolicy", message), Warning("RestartJobSetFailurePolicyAction", message),
			eventStartUnderWay, eventReady, eventStartIsThrough)
	})

	It("C51 C323: ends with a Job that fails, for the failure policy comes first", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(startingIn(jobset.InOrder, AB()))

		w.JobController.Fails(hasOnly(w, js, "js-a-0")[0], "BackoffLimitExceeded", "")

		w.Finishes(js, jobset.JobSetFailed, "FailedJobs")
		hasOnly(w, js, "js-a-0")
	})
})

var _ = Describe("A suspended JobSet with a startup policy", func() {
	DescribeTable("C150 C364 O317 O318: gets all its Jobs, suspended, and no word about its start,",
		func(ctx SpecContext, order jobset.StartupPolicyOptions) {
			w := newWorld(ctx)
			js := w.Create(suspended(startingIn(order, AB())))

			w.HasJobs(js, 4)
			w.CountsJobs(js, jobset.ReplicatedJobStatus{Suspended: 3}, jobset.ReplicatedJobStatus{Suspended: 1})
			sleeps(w, js, "js-a-0", "js-b-0", "js-b-1", "js-b-2")
			w.HasConditions(js, isSuspended)
			w.HasEvents(js, eventSuspend)
		},
		Entry("InOrder", jobset.InOrder),
		Entry("AnyOrder", jobset.AnyOrder),
	)

	It("C147 O319: resumes in AnyOrder all at once", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(suspended(startingIn(jobset.AnyOrder, AB())))
		w.HasConditions(js, isSuspended)

		w.Resume(js)

		sleeps(w, js)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{})
		w.HasConditions(js, isResumed)
		w.HasEvents(js, eventSuspend, eventResume)
	})

	It("C151 C166 C322 C364 O320: resumes in order, and is resumed at once", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(suspended(startingIn(jobset.InOrder, AB())))
		w.HasConditions(js, isSuspended)

		w.Resume(js)

		sleeps(w, js, "js-b-0", "js-b-1", "js-b-2")
		w.HasConditions(js, isResumed, startIsUnderWay)
		w.JobController.Readies(w.Job(js, "a", 0))
		sleeps(w, js)
		w.HasConditions(js, isResumed, startIsUnderWay)
		w.JobController.Readies(w.Jobs(js)[1:]...)
		w.HasConditions(js, isResumed, startWasUnderWay, startIsThrough)
		w.HasEvents(js, eventSuspend, eventStartUnderWay, eventResume, eventStartIsThrough)
	})

	It("C151 C171: that had started before starts in order again", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := started(w)

		w.Suspend(js)
		w.HasConditions(js, startWasUnderWay, startIsThrough, isSuspended)
		w.JobController.Suspends(w.Jobs(js)...)
		w.Resume(js)

		sleeps(w, js, "js-b-0", "js-b-1", "js-b-2")
		w.HasConditions(js, startIsUnderWay, startWasThrough, isResumed)
		w.JobController.Readies(w.Job(js, "a", 0))
		sleeps(w, js)
		w.JobController.Readies(w.Jobs(js)[1:]...)
		w.HasConditions(js, startWasUnderWay, startIsThrough, isResumed)
		w.HasCounted(js, Counters{})
	})
})
