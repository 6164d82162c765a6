/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// stuckAfter is a period that is over soon, in whole seconds as the API keeps them.
const stuckAfter = 2 * time.Second

var _ = Describe("A group that does not come together", func() {
	leaves := func(w *World, pod *corev1.Pod) {
		GinkgoHelper()
		Eventually(func() *metav1.Time { return Now(w, pod).DeletionTimestamp }).ShouldNot(BeNil(), "Pod %s", pod.Name)
	}

	patient, impatient := WithDeadlines(policy.Deadlines{Assembly: time.Hour}), WithDeadlines(policy.Deadlines{Assembly: stuckAfter})

	// lacksOne is a group of three that lacks one report. Its manager is patient, as what a spec does may take its time.
	lacksOne := func(ctx SpecContext) (*World, *jobset.JobSet, []*corev1.Pod) {
		GinkgoHelper()
		w := newWorld(ctx, patient)
		train, pods := w.HeldGroup(Training(3, 10))
		w.Agents.Report(1, pods[:2]...)
		w.Settles(train)
		return w, train, pods
	}

	It("P24: has the Pods recreated that do not report, counts from the API, whoever leads, and lifts when the replacement reports", func(ctx SpecContext) {
		w, train, pods := lacksOne(ctx)
		since := Now(w, train).Status.AssemblingSince
		Expect(since).NotTo(BeNil())

		w.StartManager(impatient)

		leaves(w, pods[2])
		Expect(Now(w, train).Status.AssemblingSince).To(Equal(since))
		for _, healthy := range pods[:2] {
			Expect(Now(w, healthy).DeletionTimestamp).To(BeNil())
		}
		w.TellsUser(train, corev1.EventTypeWarning, "WorkersMissing", pods[2].Name)

		w.StartManager(patient) // the replacement has as long as it takes
		w.Kubelet.Removes(pods[2])
		w.Agents.Report(1, w.JobController.Replaces(pods[2]))
		w.Reaches(train, 0, 1)
		w.HasCounted(train, Counters{})
		w.Status(train, func(g Gomega, status jobset.JobSetStatus) { g.Expect(status.AssemblingSince).To(BeNil()) })
	})

	It("P24: is recreated after two periods, charged once", func(ctx SpecContext) {
		w, train, pods := lacksOne(ctx)
		w.StartManager(impatient)

		// While a Pod is told to stop the clock stands still (P48). On a slow machine a replacement may be told to, too.
		last := pods[2]
		Eventually(func() bool {
			if Now(w, last).DeletionTimestamp != nil {
				w.Kubelet.Removes(last)
				last = w.JobController.Replaces(last)
			}
			return len(w.Events(train, "RestartJobSetFailurePolicyAction")) > 0
		}).WithTimeout(time.Minute).Should(BeTrue())

		Expect(last.Name).NotTo(Equal(pods[2].Name))
		w.TellsUser(train, corev1.EventTypeWarning, "RestartJobSetFailurePolicyAction", "1 of 3 workers have not reported epoch 1")
		w.Counts(train, Counters{Restarts: 1, CountTowardsMax: 1})
		w.Has(train, jobset.JobSetRestarting, metav1.ConditionTrue, "DefaultFailurePolicy")
	})

	// No Node object stands behind the Pods: theirs is gone.
	It("P25: loses the Pods that a lost node does not let go, by force", func(ctx SpecContext) {
		w := newWorld(ctx, WithDeadlines(policy.Deadlines{Assembly: time.Hour, ForcefulDeletion: time.Second}))
		train, pods := w.RunningGroup(Training(3, 10))
		w.Kubelet.StartsStopping(pods[1], 1)

		w.Reaches(train, 1, 1)
		Eventually(func() *int64 { return Now(w, pods[1]).DeletionGracePeriodSeconds }).Should(HaveValue(BeZero()))
		w.TellsUser(train, corev1.EventTypeWarning, "ForcefulDeletion", pods[1].Name)
		w.Counts(train, Counters{InPlace: 1})
	})
})
