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
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("A JobSet with a success policy", func() {
	DescribeTable("C116 C117 C118 O276 O277 O278 O279: completes by its success policy",
		func(ctx SpecContext, operator jobset.Operator, targets []string, before, last []string) {
			w := newWorld(ctx)
			js := AB()
			js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: operator, TargetReplicatedJobs: targets}
			js = w.Create(js)
			jobs := map[string]*batchv1.Job{}
			for _, job := range w.HasJobs(js, 4) {
				jobs[job.Name] = job
			}
			for _, name := range before {
				w.JobController.Completes(jobs[name])
			}
			if len(before) > 0 {
				w.HasNo(js, jobset.JobSetCompleted)
			}
			for _, name := range last {
				w.JobController.Completes(jobs[name])
			}
			w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
		},
		Entry("all of all", jobset.OperatorAll, nil, []string{"js-a-0", "js-b-0", "js-b-1"}, []string{"js-b-2"}),
		Entry("all of b", jobset.OperatorAll, []string{"b"}, []string{"js-a-0", "js-b-0", "js-b-2"}, []string{"js-b-1"}),
		Entry("any of b", jobset.OperatorAny, []string{"b"}, []string{"js-a-0"}, []string{"js-b-1"}),
		Entry("any of all", jobset.OperatorAny, nil, nil, []string{"js-a-0"}),
	)

	It("C105 C120 C363 O314: that completed by Any stops the other Jobs in the foreground and keeps the completed one", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAny}
		js, jobs := w.CreateWithJobs(js)

		w.JobController.Completes(jobs[1])

		w.Finishes(js, jobset.JobSetCompleted, "")
		for _, job := range w.Deleting(js, 3) {
			Expect(job.Finalizers).To(ContainElement(metav1.FinalizerDeleteDependents))
		}
		Expect(Now(w, jobs[1]).DeletionTimestamp).To(BeNil())
		w.JobController.CollectsAll(js, 3)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 1}, jobset.ReplicatedJobStatus{})
	})

	It("C119 C200 C218 C224: is Completed, says so once, and stays so", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())

		w.JobController.Completes(jobs...)

		w.HasConditions(js, isCompleted)
		Expect(Now(w, js).Status.TerminalState).To(Equal("Completed"))
		w.HasEvents(js, eventComplete) // events that are not sent yet are gone with a manager
		w.Manager.Stop()
		Expect(w.Client.Delete(ctx, jobs[0], client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		w.StartManager()
		w.StaysUntouched(js)
		w.HasConditions(js, isCompleted)
		w.HasEvents(js, eventComplete)
		Expect(w.Manager.Tried(AJob("create"))).To(BeEmpty())
	})

	It("C119 C209 C223: ends a restart under way when it completes", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := with(AB(), jobset.FailurePolicy{MaxRestarts: 1})
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAny}
		js = w.Create(js)
		w.JobController.Fails(w.HasJobs(js, 4)[0], exceeded, "")
		w.JobController.CollectsAll(js, 4)

		w.JobController.Completes(w.HasJobs(js, 4)[1])

		w.HasConditions(js, isRestartedAnd("JobSetCompleted", "jobset completed successfully"), isCompleted)
		message := applying(jobset.RestartJobSet, "js-a-0")
		w.HasEvents(js, Warning("DefaultFailurePolicy", message), Warning("RestartJobSetFailurePolicyAction", message),
			eventComplete, Normal("JobSetCompleted", "jobset completed successfully"))
	})

	It("C112 C116: does not count Jobs of an earlier attempt", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := with(AB(), jobset.FailurePolicy{MaxRestarts: 1})
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: []string{"b"}}
		js, jobs := w.CreateWithJobs(js)
		w.JobController.Completes(jobs[1:3]...)
		w.JobController.Fails(jobs[0], exceeded, "")
		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.JobController.CollectsAll(js, 4)

		jobs = w.HasJobs(js, 4)
		w.JobController.Completes(jobs[3])
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 1}, jobset.ReplicatedJobStatus{})
		w.HasNo(js, jobset.JobSetCompleted)
		w.JobController.Completes(jobs[1:3]...)

		w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
	})

	It("C325: over a ReplicatedJob without Jobs completes with the first success of another", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := JobSet("js", Replicated("none", 0, 1), Replicated("b", 2, 1))
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: []string{"none"}}
		js, jobs := w.CreateWithJobs(js)
		w.HasNo(js, jobset.JobSetCompleted)

		w.JobController.Completes(jobs[1])

		w.HasConditions(js, isCompleted)
	})

	It("C325: never completes without any Job", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(JobSet("js", Replicated("none", 0, 1)))

		w.CountsJobs(js, jobset.ReplicatedJobStatus{})
		w.HasNo(js, jobset.JobSetCompleted)
		Expect(w.Conditions(js)).To(BeEmpty())
	})
})
