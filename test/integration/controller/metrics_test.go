/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// measured reads a metric as an operator would: a counter's value, or how often a histogram was told.
func measured(name string, labels map[string]string) float64 {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	var sum float64
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			matching := 0
			for _, label := range metric.GetLabel() {
				if want, ok := labels[label.GetName()]; ok && want == label.GetValue() {
					matching++
				}
			}
			if matching == len(labels) {
				sum += metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

var _ = Describe("The metrics", func() {
	const (
		completed = "jobset_completed_total"
		failed    = "jobset_failed_total"
		restarts  = "jobset_in_place_restarts_total"
		durations = "jobset_in_place_restart_duration_seconds"
	)

	It("C119 C226 C317: count a JobSet that completes, once, though its write failed at first", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		of := map[string]string{"jobset_name": "js", "namespace": w.Namespace}
		w.Manager.RefuseOnce(AJobSetStatus(func(s *jobset.JobSetStatus) bool { return s.TerminalState != "" }))

		w.JobController.Completes(w.HasJobs(js, 4)...)

		w.Finishes(js, jobset.JobSetCompleted, "")
		Eventually(func() float64 { return measured(completed, of) }).Should(BeEquivalentTo(1))
		Expect(measured(failed, of)).To(BeZero())
		Expect(w.Manager.RefusalsLeft()).To(BeFalse())
	})

	It("C140 C225: count a JobSet that fails, once", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		of := map[string]string{"jobset_name": "js", "namespace": w.Namespace}

		w.JobController.Fails(w.HasJobs(js, 4)[0], "BackoffLimitExceeded", "")

		w.Finishes(js, jobset.JobSetFailed, "")
		Eventually(func() float64 { return measured(failed, of) }).Should(BeEquivalentTo(1))
		w.Deleting(js, 3)
		Expect(measured(failed, of)).To(BeEquivalentTo(1))
		Expect(measured(completed, of)).To(BeZero())
	})

	// Without labels: what other specs of this process do would count as well, and they do not run at the same time.
	It("P22 C303: count group restarts and how long they took", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		started, ended := measured(restarts, nil), measured(durations, nil)

		w.GroupRestarts(train, 1, pods)
		w.GroupRestarts(train, 2, pods)

		Eventually(func() float64 { return measured(durations, nil) - ended }).Should(BeEquivalentTo(2))
		Expect(measured(restarts, nil) - started).To(BeEquivalentTo(2))
	})
})
