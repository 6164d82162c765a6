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

var _ = Describe("A JobSet of another controller", func() {
	DescribeTable("C19 C35 C366 O329 O330 O331: gets nothing from this one, and its status is left alone,",
		func(ctx SpecContext, suspend bool) {
			w := newWorld(ctx)
			js := AB()
			js.Spec.ManagedBy, js.Spec.Suspend = ptr.To("example.com/other"), ptr.To(suspend)
			js = w.Create(js)
			js.Status.Restarts = 7
			js.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "elsewhere", Ready: 1}}
			Expect(w.Client.Status().Update(ctx, js)).To(Succeed())
			theirs := Now(w, js).Status

			if suspend {
				w.Resume(js)
			}
			w.Records(js, 0, "")

			Expect(Now(w, js).Status).To(Equal(theirs))
			Expect(w.AllJobs(js)).To(BeEmpty())
			about := func(write Write) bool {
				return write.Object.GetName() == "js" || write.Object.GetLabels()[jobset.JobSetNameKey] == "js"
			}
			Expect(w.Manager.Tried(about)).To(BeEmpty())
		},
		Entry("created suspended and then resumed", true),
		Entry("created running", false),
	)

	It("C19: that is named after this one is like any other", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.ManagedBy = ptr.To("jobset.sigs.k8s.io/jobset-controller")
		js = w.Create(js)

		w.JobController.Completes(w.HasJobs(js, 4)...)

		w.HasConditions(js, isCompleted)
	})
})
