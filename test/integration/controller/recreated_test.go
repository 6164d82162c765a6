/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// The cache of the manager shows Jobs of another UID: since it looked, they were
// deleted, and others were made of the same names.
var _ = Describe("A Job that was recreated under its name", func() {
	DescribeTable("C379: is not changed in place of the one that was looked at",
		func(ctx SpecContext, start *jobset.JobSet, change func(*jobset.JobSet), changed func(*batchv1.Job) bool) {
			w := newWorld(ctx)
			w.StartManager(WithGates(AllGatesOn))
			js := w.Create(start)
			w.HasJobs(js, 4)
			w.StartManager(WithGates(AllGatesOn), WhoseJobsLookLike(func(job *batchv1.Job) { job.UID = "of-the-one-before" }))
			Change(w, js, change)

			patches := func() int { return len(w.Manager.Tried(AJob("patch"))) }
			Eventually(patches).Should(BeNumerically(">=", 4))
			Expect(w.Manager.Made(AJob("patch"))).To(BeEmpty())
			for _, job := range w.Jobs(js) {
				Expect(changed(job)).To(BeFalse(), job.Name)
			}

			By("changing them once the cache shows them")
			w.StartManager(WithGates(AllGatesOn))
			Eventually(func() bool {
				all := true
				for _, job := range w.Jobs(js) {
					all = all && changed(job)
				}
				return all
			}).Should(BeTrue())
		},
		Entry("when it is suspended", AB(),
			func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) },
			func(job *batchv1.Job) bool { return *job.Spec.Suspend }),
		Entry("when it is resumed", suspended(AB()),
			func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(false) },
			func(job *batchv1.Job) bool { return !*job.Spec.Suspend }),
		Entry("when it is scaled", AB(),
			func(js *jobset.JobSet) {
				for i := range js.Spec.ReplicatedJobs {
					JobTemplate(js, i).Parallelism, JobTemplate(js, i).Completions = ptr.To[int32](2), ptr.To[int32](2)
				}
			},
			func(job *batchv1.Job) bool { return *job.Spec.Parallelism == 2 }),
	)
})
