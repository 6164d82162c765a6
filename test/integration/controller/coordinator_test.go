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

var _ = Describe("The coordinator", func() {
	It("C81 O323: of a JobSet is published on every Job and every Pod", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "a"}
		js = w.Create(js)

		for _, job := range w.HasJobs(js, 4) {
			address := HaveKeyWithValue("jobset.sigs.k8s.io/coordinator", "js-a-0-0.js")
			Expect(job.Labels).To(address)
			Expect(job.Annotations).To(address)
			Expect(job.Spec.Template.Labels).To(address)
			Expect(job.Spec.Template.Annotations).To(address)
		}
	})

	It("C81 C92: may be any Pod, and has the subdomain of the JobSet", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := JobSet("js", Replicated("a", 1, 1), Replicated("b", 3, 2))
		js.Spec.Network = &jobset.Network{Subdomain: "mesh"}
		js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "b", JobIndex: 2, PodIndex: 1}
		js = w.Create(js)

		const address = "js-b-2-1.mesh"
		Expect(label(w.HasJobs(js, 4), jobset.CoordinatorKey)).
			To(Equal(map[string]string{"js-a-0": address, "js-b-0": address, "js-b-1": address, "js-b-2": address}))
		Expect(w.Job(js, "b", 2).Spec.Template.Spec.Subdomain).To(Equal("mesh"))
	})

	It("C81: that changes is known to the Jobs that are made from then on", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := with(AB(), jobset.FailurePolicy{MaxRestarts: 1})
		js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "a"}
		js, jobs := w.CreateWithJobs(js)
		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})

		Change(w, js, func(js *jobset.JobSet) { js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "b", JobIndex: 1} })
		w.StaysUntouched(js)
		before, after := "js-a-0-0.js", "js-b-1-0.js"
		Expect(label(w.Jobs(js), jobset.CoordinatorKey)).
			To(Equal(map[string]string{"js-a-0": before, "js-b-0": before, "js-b-1": before, "js-b-2": before}))
		w.JobController.Fails(jobs[0], exceeded, "")
		w.JobController.CollectsAll(js, 4)

		Expect(label(w.HasJobs(js, 4), jobset.CoordinatorKey)).
			To(Equal(map[string]string{"js-a-0": after, "js-b-0": after, "js-b-1": after, "js-b-2": after}))
	})
})
