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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// with gives a JobSet a failure policy.
func with(js *jobset.JobSet, policy jobset.FailurePolicy) *jobset.JobSet {
	js.Spec.FailurePolicy = &policy
	return js
}

// attempts counts the Jobs of a JobSet by restart attempt, those that are being deleted included.
func attempts(w *World, js *jobset.JobSet) map[string]int {
	GinkgoHelper()
	count := map[string]int{}
	for _, job := range w.AllJobs(js) {
		count[job.Labels["jobset.sigs.k8s.io/restart-attempt"]]++
	}
	return count
}

var _ = Describe("A restart of the whole JobSet", func() {
	DescribeTable("C39 C62 C98 C104 C359 O284 O296 O297: replaces the Jobs",
		func(ctx SpecContext, strategy jobset.JobSetRestartStrategy, whileOneIsLeft map[string]int) {
			w := newWorld(ctx)
			js, jobs := w.CreateWithJobs(with(AB(), jobset.FailurePolicy{MaxRestarts: 1, RestartStrategy: strategy}))

			w.JobController.Fails(jobs[1], "BackoffLimitExceeded", "")

			w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
			deleting := w.Deleting(js, 4)
			w.JobController.Collects(deleting[:3]...)
			Eventually(func() map[string]int { return attempts(w, js) }).Should(Equal(whileOneIsLeft))
			w.Settles(js)
			Expect(attempts(w, js)).To(Equal(whileOneIsLeft))
			w.JobController.Collects(deleting[3])
			Eventually(func() map[string]int { return attempts(w, js) }).Should(Equal(map[string]int{"1": 4}))

			w.JobController.Fails(w.Jobs(js)[0], "BackoffLimitExceeded", "")
			w.Finishes(js, jobset.JobSetFailed, "ReachedMaxRestarts")
			w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
		},
		Entry("one by one as their names become free, by Recreate", jobset.Recreate, map[string]int{"0": 1, "1": 3}),
		Entry("when the last one is gone, by BlockingRecreate", jobset.BlockingRecreate, map[string]int{"0": 1}),
	)

	It("C40 C137 C362 O292: lasts until all Jobs are ready again, and names the rule", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(with(AB(), jobset.FailurePolicy{MaxRestarts: 1,
			Rules: []jobset.FailurePolicyRule{{Name: "Rule1", Action: jobset.RestartJobSet}}}))
		w.JobController.Fails(w.HasJobs(js, 4)[0], "BackoffLimitExceeded", "")

		w.Has(js, jobset.JobSetRestarting, metav1.ConditionTrue, "FailurePolicy_Rule1")
		w.JobController.CollectsAll(js, 4)
		jobs := w.HasJobs(js, 4)
		w.JobController.Readies(jobs[:3]...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 2, Ready: 2}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		w.Has(js, jobset.JobSetRestarting, metav1.ConditionTrue, "FailurePolicy_Rule1")
		w.JobController.Readies(jobs[3])

		w.Has(js, jobset.JobSetRestarting, metav1.ConditionFalse, "JobsReady")
		w.TellsUser(js, corev1.EventTypeNormal, "JobsReady", "all jobs are ready")
	})

	It("C144 O305: recreates Jobs that succeeded too, and the JobSet completes in the second attempt", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(with(AB(), jobset.FailurePolicy{MaxRestarts: 1}))
		w.JobController.Completes(jobs[0])
		w.JobController.Fails(jobs[1], "BackoffLimitExceeded", "")
		w.JobController.CollectsAll(js, 4)

		w.JobController.Completes(w.HasJobs(js, 4)...)

		w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
		w.Has(js, jobset.JobSetRestarting, metav1.ConditionFalse, "")
		w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
	})

	It("C146: is charged once although two Jobs failed and the first write was refused", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(with(AB(), jobset.FailurePolicy{MaxRestarts: 5}))
		w.Manager.RefuseOnce(AJobSetStatus(Restarts(1)))

		w.JobController.Fails(jobs[0], "BackoffLimitExceeded", "")
		w.JobController.Fails(jobs[1], "BackoffLimitExceeded", "")
		w.JobController.CollectsAll(js, 4)
		w.HasJobs(js, 4)

		w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
		Expect(w.Manager.RefusalsLeft()).To(BeFalse())
		w.TellsUser(js, corev1.EventTypeWarning, "RestartJobSetFailurePolicyAction", "")
		w.Records(js, 1, "RestartJobSetFailurePolicyAction")
	})

	It("C146: is charged once although the manager stopped before its effect", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(with(AB(), jobset.FailurePolicy{MaxRestarts: 5}))
		w.Manager.CrashAfter(AJobSetStatus(Restarts(1)))
		w.JobController.Fails(jobs[0], "BackoffLimitExceeded", "")
		w.Manager.WaitForCrash()

		second := &Writes{}
		second.CrashAfter(AJob("delete"))
		w.StartManager(WithWrites(second))
		w.Manager.WaitForCrash()
		w.StartManager()
		w.JobController.CollectsAll(js, 4)

		w.HasJobs(js, 4)
		w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
	})
})

var _ = Describe("The failure policy", func() {
	const failed = jobset.JobSetFailed

	It("C360 O304: restarts without counting by one rule and fails by the next", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(with(AB(), jobset.FailurePolicy{MaxRestarts: 1, Rules: []jobset.FailurePolicyRule{
			{Name: "maintenance", Action: jobset.RestartJobSetAndIgnoreMaxRestarts,
				OnJobFailureReasons: []string{batchv1.JobReasonPodFailurePolicy}, TargetReplicatedJobs: []string{"a"}},
			{Name: "rest", Action: jobset.FailJobSet},
		}}))

		for attempt := range int32(3) {
			w.JobController.Fails(w.HasJobs(js, 4)[0], batchv1.JobReasonPodFailurePolicy, "")
			w.Counts(js, Counters{Restarts: attempt + 1})
			w.JobController.CollectsAll(js, 4)
		}
		w.JobController.Fails(w.HasJobs(js, 4)[1], batchv1.JobReasonPodFailurePolicy, "")

		w.Finishes(js, failed, "FailJobSetFailurePolicyAction")
		w.HasCounted(js, Counters{Restarts: 3})
	})

	It("C41 C52 C110 C330: decides before anything is created or suspended, and writes the counts it decided on", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(with(AB(), jobset.FailurePolicy{MaxRestarts: 1}))
		w.Manager.Stop()
		w.JobController.Fails(jobs[0], exceeded, "")
		w.JobController.Starts(jobs[1], jobs[2])
		Expect(w.Client.Delete(ctx, jobs[3], client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		w.Suspend(js)

		w.StartManager()

		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.JobController.CollectsAll(js, 3)
		w.HasJobs(js, 4)
		first := w.Manager.Made(AnyWrite)[0]
		Expect(first.String()).To(Equal("update JobSet status"))
		Expect(first.Object.(*jobset.JobSet).Status.Restarts).To(BeEquivalentTo(1))
		Expect(first.Object.(*jobset.JobSet).Status.ReplicatedJobsStatus).
			To(Equal([]jobset.ReplicatedJobStatus{{Name: "b", Active: 2}, {Name: "a", Failed: 1}}))
	})
})
