/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// requests is how often a manager made each kind of write.
func requests(w *World) map[string]int { return Tally(w.Manager.Made(AnyWrite)) }

func someActive(s *jobset.JobSetStatus) bool {
	return slices.ContainsFunc(s.ReplicatedJobsStatus, func(r jobset.ReplicatedJobStatus) bool { return r.Active > 0 })
}

var _ = Describe("The requests of a manager", func() {
	It("C20 C352: to bring up twenty Jobs are one for each Job, one Service, and a handful for the status", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(JobSet("js", Replicated("w", 20, 1)))
		w.CountsJobs(js, jobset.ReplicatedJobStatus{})
		// While the first Job that starts is being written about, everything else happens.
		held := w.Manager.Hold(AJobSetStatus(someActive))

		w.JobController.Starts(jobs...)
		held.Arrives()
		w.JobController.Readies(jobs...)
		w.Manager.HasSeenJobs(w)
		held.Release()
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 20, Ready: 20})

		Expect(requests(w)).To(And(HaveLen(3),
			HaveKeyWithValue("create Job", 20),
			HaveKeyWithValue("create Service", 1),
			HaveKeyWithValue("update JobSet status", BeNumerically("<=", 5))))
	})

	It("C33-C49: of the first pass come in order, and the status last", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(withClaims(suspended(AB()), claimPolicy(jobset.RetentionPolicyDelete, "scratch")))
		w.HasConditions(js, isSuspended)

		var order []string
		var names []string
		// Where the API server is slow, the pass ends between two Jobs after half a second, and another one creates the rest (C377).
		Eventually(func() int { return len(w.Manager.Made(AnyWrite)) }).WithContext(ctx).Should(BeNumerically(">=", 7))
		writes := w.Manager.Made(AnyWrite)
		for i, write := range writes {
			between := i > 0 && i < len(writes)-1 && writes[i-1].String() == "create Job" && writes[i+1].String() == "create Job"
			if len(order) == 7 || between && write.String() == "update JobSet status" {
				continue
			}
			order = append(order, write.String())
			names = append(names, write.Object.GetName())
		}
		Expect(order).To(Equal([]string{"create Service", "create PersistentVolumeClaim",
			"create Job", "create Job", "create Job", "create Job", "update JobSet status"}))
		Expect(names[2]).To(Equal("js-a-0"), "one ReplicatedJob after the other")
		Expect(names[3:6]).To(ConsistOf("js-b-0", "js-b-1", "js-b-2"))
	})

	It("C37 C53 C114: are none as long as nothing changes, whoever looks", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())
		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})

		w.StartManager()
		w.JobController.Starts(jobs[0])
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1})

		Expect(requests(w)).To(Equal(map[string]int{"update JobSet status": 1}))
	})

	It("C163 C167 C351: to suspend and resume go to each Job, and to nothing else", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())
		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		w.StartManager()

		w.Suspend(js)
		w.HasConditions(js, isSuspended)
		w.JobController.Suspends(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Suspended: 3}, jobset.ReplicatedJobStatus{Suspended: 1})
		Expect(patched(w)).To(Equal([]string{"js-a-0", "js-b-0", "js-b-1", "js-b-2"}))
		w.StartManager()
		w.Resume(js)
		w.HasConditions(js, isResumed)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{})

		Expect(patched(w)).To(Equal([]string{"js-a-0", "js-b-0", "js-b-1", "js-b-2"}))
		Expect(requests(w)).To(And(HaveLen(2), HaveKey("patch Job"), HaveKey("update JobSet status")),
			"templates did not change, so start times did not have to")
	})

	It("C8 C308: for one JobSet do not wait for those for another", func(ctx SpecContext) {
		w := newWorld(ctx)
		slow, quick := AB(), AB()
		slow.Name, quick.Name = "slow", "quick"
		held := w.Manager.Hold(Named("slow-a-0", AJob("create")))
		slow = w.Create(slow)
		held.Arrives()

		quick = w.Create(quick)
		w.JobController.Completes(w.HasJobs(quick, 4)...)
		w.HasConditions(quick, isCompleted)
		Expect(w.AllJobs(slow)).To(BeEmpty())
		held.Release()

		w.HasJobs(slow, 4)
	})

	It("C22: that conflict are made again, and no error counts", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{})
		of := map[string]string{"controller": "jobset"}
		before := measured("controller_runtime_reconcile_errors_total", of)
		held := w.Manager.Hold(AJobSetStatus(someActive))
		w.JobController.Starts(jobs...)
		held.Arrives()
		Change(w, js, func(js *jobset.JobSet) { js.Labels = map[string]string{"edited": "meanwhile"} })
		held.Release()

		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3}, jobset.ReplicatedJobStatus{Active: 1})

		Expect(len(w.Manager.Tried(AJobSetStatus()))).To(BeNumerically(">", len(w.Manager.Made(AJobSetStatus()))), "one was refused for the conflict")
		Expect(measured("controller_runtime_reconcile_errors_total", of)).To(Equal(before))
	})
})
