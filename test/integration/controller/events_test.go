/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("The events of a JobSet", func() {
	It("C54 C58 C59 O81 C138 C139 C201-C204 C209-C211 C219 C220 C223 C318: tell its whole life, each change once", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(suspended(with(AB(), jobset.FailurePolicy{MaxRestarts: 1})))
		w.HasJobs(js, 4)
		w.HasConditions(js, isSuspended)
		w.Resume(js)
		w.HasConditions(js, isResumed)
		first := applying(jobset.RestartJobSet, "js-b-0")

		w.JobController.Fails(w.Job(js, "b", 0), exceeded, "")
		w.HasConditions(js, isResumed, True(jobset.JobSetRestarting, "DefaultFailurePolicy", first))
		w.JobController.CollectsAll(js, 4)
		w.JobController.Readies(w.HasJobs(js, 4)...)
		w.HasConditions(js, isResumed, isRestarted)
		w.Suspend(js)
		w.HasConditions(js, isSuspended, isRestarted)
		w.Resume(js)
		w.HasConditions(js, isResumed, isRestarted)
		w.JobController.Fails(w.Job(js, "a", 0), exceeded, "")

		const last = "jobset failed due to reaching max number of restarts (first failed job: js-a-0)"
		w.HasConditions(js, isResumed, isRestarted, True(jobset.JobSetFailed, "ReachedMaxRestarts", last))
		w.HasEvents(js, eventSuspend, eventResume,
			Warning("DefaultFailurePolicy", first), Warning("RestartJobSetFailurePolicyAction", first), eventReady,
			eventSuspend, eventResume,
			Warning("ReachedMaxRestarts", last))
		for _, condition := range Now(w, js).Status.Conditions {
			Expect(condition.ObservedGeneration).To(BeZero(), condition.Type)
			Expect(condition.LastTransitionTime.IsZero()).To(BeFalse(), condition.Type)
		}
	})

	It("C163 C209 C223: end a restart that is suspended", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(with(AB(), jobset.FailurePolicy{MaxRestarts: 1}))
		message := applying(jobset.RestartJobSet, "js-a-0")
		w.JobController.Fails(w.HasJobs(js, 4)[0], exceeded, "")
		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})

		w.Suspend(js)

		w.HasConditions(js, isRestartedAnd("JobSetSuspended", "jobset is suspended"), isSuspended)
		w.HasEvents(js, Warning("DefaultFailurePolicy", message), Warning("RestartJobSetFailurePolicyAction", message),
			eventSuspend, Normal("JobSetSuspended", "jobset is suspended"))
	})

	It("C140 C209 C223: end a restart that fails", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(with(AB(), jobset.FailurePolicy{MaxRestarts: 1}))
		message := applying(jobset.RestartJobSet, "js-a-0")
		w.JobController.Fails(w.HasJobs(js, 4)[0], exceeded, "")
		w.JobController.CollectsAll(js, 4)

		w.JobController.Fails(w.HasJobs(js, 4)[1], exceeded, "")

		const last = "jobset failed due to reaching max number of restarts (first failed job: js-b-0)"
		w.HasConditions(js, isRestartedAnd("JobSetFailed", "jobset failed"), True(jobset.JobSetFailed, "ReachedMaxRestarts", last))
		w.HasEvents(js, Warning("DefaultFailurePolicy", message), Warning("RestartJobSetFailurePolicyAction", message),
			Warning("ReachedMaxRestarts", last), Normal("JobSetFailed", "jobset failed"))
	})

	It("C55 C56: announce a new reason of a condition that stays True, which keeps its time", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(with(AB(), jobset.FailurePolicy{MaxRestarts: 1, Rules: []jobset.FailurePolicyRule{
			{Name: "maintenance", Action: jobset.RestartJobSetAndIgnoreMaxRestarts, TargetReplicatedJobs: []string{"a"}},
		}}))
		w.JobController.Fails(w.HasJobs(js, 4)[0], exceeded, "")
		w.HasConditions(js, True(jobset.JobSetRestarting, "FailurePolicy_maintenance", applying(jobset.RestartJobSetAndIgnoreMaxRestarts, "js-a-0")))
		began := since(w, js, jobset.JobSetRestarting)
		w.JobController.CollectsAll(js, 4)

		w.JobController.Fails(w.HasJobs(js, 4)[1], exceeded, "")

		second := applying(jobset.RestartJobSet, "js-b-0")
		w.HasConditions(js, True(jobset.JobSetRestarting, "DefaultFailurePolicy", second))
		Expect(since(w, js, jobset.JobSetRestarting)).To(Equal(began))
		w.TellsUser(js, "Warning", "DefaultFailurePolicy", second)
	})

	It("C20 C23 C25 O20: come from the controller, after the write of what they tell", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())
		ends := AJobSetStatus(func(s *jobset.JobSetStatus) bool { return s.TerminalState != "" })
		held := w.Manager.Hold(ends)
		w.Manager.RefuseOnce(ends)

		w.JobController.Completes(jobs...)
		held.Arrives()
		released := time.Now()
		held.Release()

		w.HasEvents(js, eventComplete)
		w.HasConditions(js, isCompleted)
		var list eventsv1.EventList
		Expect(w.Client.List(ctx, &list, client.InNamespace(w.Namespace))).To(Succeed())
		Expect(list.Items).To(HaveLen(1))
		event := list.Items[0]
		Expect(event.EventTime.Time).To(BeTemporally(">", released))
		Expect(event.ReportingController).To(Equal("jobset"))
		Expect(event.Action).To(Equal("Reconciling"))
		Expect(event.Related).To(BeNil())
		Expect(event.Regarding.Kind).To(Equal("JobSet"))
		Expect(event.Regarding.APIVersion).To(Equal("jobset.x-k8s.io/v1alpha2"))
		Expect(event.Regarding.Name).To(Equal("js"))
	})
})
