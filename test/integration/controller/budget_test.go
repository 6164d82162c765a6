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

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("The budget of restarts", func() {
	It("P15: allows maxRestarts group restarts, each charged once, and fails the JobSet at the next", func(ctx SpecContext) {
		const maxRestarts = 10
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, maxRestarts))

		for restart := range int32(maxRestarts) {
			w.HasCounted(train, Counters{InPlace: restart})
			w.GroupRestarts(train, restart+1, pods)
		}
		w.HasCounted(train, Counters{InPlace: maxRestarts})
		w.Agents.Report(maxRestarts+2, pods[0])

		w.Finishes(train, jobset.JobSetFailed, "ReachedMaxRestarts")
		w.HasCounted(train, Counters{InPlace: maxRestarts})
		w.TellsUser(train, corev1.EventTypeWarning, "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")
		w.Deleting(train, 1)
	})

	It("P15: of zero fails the JobSet at the first break", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 0))

		w.Agents.Report(2, pods[1])

		w.Finishes(train, jobset.JobSetFailed, "ReachedMaxRestarts")
		w.HasCounted(train, Counters{})
		w.HasNo(train, jobset.JobSetRestarting)
	})

	It("P15: is one for group restarts and restarts of the whole JobSet", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 2))
		w.GroupRestarts(train, 1, pods)
		w.HasCounted(train, Counters{InPlace: 1})

		w.JobController.Fails(w.Job(train, "workers", 0), batchv1.JobReasonPodFailurePolicy, "exit code 3")
		w.Counts(train, Counters{Restarts: 1, CountTowardsMax: 1, InPlace: 1})
		w.JobController.CollectsAll(train, 1)
		jobs := w.HasJobs(train, 1)
		pods = w.JobController.MakesPods(jobs...)
		w.Agents.Report(3, pods...)
		w.Reaches(train, 2, 3)
		w.Agents.Report(4, pods[0])

		w.Finishes(train, jobset.JobSetFailed, "ReachedMaxRestarts")
		w.HasCounted(train, Counters{Restarts: 1, CountTowardsMax: 1, InPlace: 1})
	})

	It("P15 C131: counts group restarts against a restart of the whole JobSet as well", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 1))
		w.GroupRestarts(train, 1, pods)

		w.JobController.Fails(w.Job(train, "workers", 0), batchv1.JobReasonPodFailurePolicy, "")

		w.Finishes(train, jobset.JobSetFailed, "ReachedMaxRestarts")
		w.HasCounted(train, Counters{InPlace: 1})
	})

	It("C132: is not touched by RestartJobSetAndIgnoreMaxRestarts", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := Training(2, 1)
		js.Spec.FailurePolicy.Rules = []jobset.FailurePolicyRule{{Name: "maintenance", Action: jobset.RestartJobSetAndIgnoreMaxRestarts}}
		train, pods := w.RunningGroup(js)
		w.GroupRestarts(train, 1, pods)

		w.JobController.Fails(w.Job(train, "workers", 0), batchv1.JobReasonPodFailurePolicy, "")

		w.Counts(train, Counters{Restarts: 1, InPlace: 1})
		w.Has(train, jobset.JobSetRestarting, metav1.ConditionTrue, "FailurePolicy_maintenance")
		w.JobController.CollectsAll(train, 1)
		Expect(w.HasJobs(train, 1)[0].Labels).To(HaveKeyWithValue("jobset.sigs.k8s.io/restart-attempt", "1"))
	})
})
