/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("A group that is reset after failures in quick succession", func() {
	// pausesUpTo is a manager that lets groups wait so long after such failures.
	pausesUpTo := func(longest time.Duration) ManagerOption {
		return WithDeadlines(policy.Deadlines{Assembly: time.Hour, QuickFailurePause: longest})
	}
	// isReset is such a group, in an hour's pause between its old Job and the new.
	isReset := func(w *World) *jobset.JobSet {
		GinkgoHelper()
		train, _ := w.RunningGroup(tolerant(Training(2, 10), 3600))
		often := client.RawPatch(types.MergePatchType, []byte(`{"status":{"quickFailures":20}}`))
		Expect(w.Client.Status().Patch(w.Context, Now(w, train), often)).To(Succeed())
		w.Settles(train)
		w.JobController.Fails(w.Job(train, "workers", 0), exceeded, "")
		w.JobController.CollectsAll(train, 1)
		gone(w, train)
		Expect(Now(w, train).Status.QuickFailures).To(BeEquivalentTo(21))
		return train
	}
	// comesBack ends the pause of the reset, and brings the new workers to where the old ones were.
	comesBack := func(w *World, train *jobset.JobSet) {
		GinkgoHelper()
		Change(w, train, func(js *jobset.JobSet) { js.Spec.FaultTolerance.RetryPauseSeconds = ptr.To[int32](0) })
		w.Agents.Report(2, w.JobController.MakesPods(w.HasJobs(train, 1)...)...)
	}

	It("P71 P83: waits on when the pause of the reset is over, if that of the failures is not", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates(), pausesUpTo(time.Hour))
		train := isReset(w)
		comesBack(w, train)
		w.StaysAt(train, 1, 1)

		w.StartManager(tolerates(), pausesUpTo(time.Second))

		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{Restarts: 1, CountTowardsMax: 1})
	})

	It("P71 P83: has no new Job when the pause of the failures is over, if that of the reset is not", func(ctx SpecContext) {
		const pause = time.Second
		w := newWorld(ctx, tolerates(), pausesUpTo(pause))
		train := isReset(w)
		broke := w.Has(train, jobset.JobSetRestarting, metav1.ConditionTrue, "").LastTransitionTime
		Eventually(func() time.Duration { return time.Since(broke.Time) }).Should(BeNumerically(">", 2*pause), "it is over")

		w.StaysAt(train, 1, 1)
		Expect(w.AllJobs(train)).To(BeEmpty())

		comesBack(w, train)
		w.Reaches(train, 1, 2)
	})
})
