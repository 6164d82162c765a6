/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"

	. "sigs.k8s.io/jobset/test/integration/framework"
)

// The story is always the same; what changes is where the manager stops.
var _ = Describe("Another manager takes over", func() {
	DescribeTable("P21: and the group restart goes on and is charged once, when the first one stopped",
		func(ctx SpecContext, arm func(*Writes)) {
			w := cluster.NewWorld(ctx)
			first := &Writes{}
			arm(first)
			w.StartManager(WithWrites(first))

			train := w.Create(Training(3, 10))
			survives(w, func() bool { return len(w.Jobs(train)) == 1 })
			pods := w.JobController.MakesPods(w.Jobs(train)...)
			w.Agents.Report(1, pods...)
			survives(w, func() bool { return Epochs(0, 1)(&Now(w, train).Status) })
			w.Agents.Report(2, pods[0])
			survives(w, func() bool { return Epochs(1, 1)(&Now(w, train).Status) })
			w.Agents.Report(2, pods[1:]...)
			survives(w, func() bool { return Epochs(1, 2)(&Now(w, train).Status) })
			survives(w, first.Crashed)

			w.HasCounted(train, Counters{InPlace: 1})
		},
		Entry("before it created the Job", func(w *Writes) { w.CrashBefore(AJob("create")) }),
		Entry("after it created the Job", func(w *Writes) { w.CrashAfter(AJob("create")) }),
		Entry("before the first lift", func(w *Writes) { w.CrashBefore(AJobSetStatus(Epochs(0, 1))) }),
		Entry("after the first lift", func(w *Writes) { w.CrashAfter(AJobSetStatus(Epochs(0, 1))) }),
		Entry("before the break", func(w *Writes) { w.CrashBefore(AJobSetStatus(Epochs(1, 1))) }),
		Entry("after the break", func(w *Writes) { w.CrashAfter(AJobSetStatus(Epochs(1, 1))) }),
		Entry("before the lift", func(w *Writes) { w.CrashBefore(AJobSetStatus(Epochs(1, 2))) }),
		Entry("after the lift", func(w *Writes) { w.CrashAfter(AJobSetStatus(Epochs(1, 2))) }),
	)

	It("P21 C282: at every single step, and does not charge for it", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		w.StartManager()
		w.StaysAt(train, 0, 1)
		w.Agents.Report(2, pods[0])
		w.Reaches(train, 1, 1)
		w.StartManager()
		w.StaysAt(train, 1, 1)
		w.Agents.Report(2, pods[1])
		w.StartManager()
		w.Reaches(train, 1, 2)
		w.StartManager()
		w.StaysAt(train, 1, 2)

		w.HasCounted(train, Counters{InPlace: 1})
	})

	DescribeTable("P21: a status write that fails is made again, and charged once",
		func(ctx SpecContext, refuse Match) {
			w := newWorld(ctx)
			w.Manager.RefuseOnce(refuse)
			train, pods := w.RunningGroup(Training(2, 10))

			w.GroupRestarts(train, 1, pods)

			Expect(w.Manager.RefusalsLeft()).To(BeFalse())
			w.HasCounted(train, Counters{InPlace: 1})
			w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "")
			w.TellsUser(train, corev1.EventTypeNormal, "InPlaceRestartCompleted", "")
			w.Records(train, 1, "InPlaceRestartStarted") // what was not written is not told
			w.Records(train, 1, "InPlaceRestartCompleted")
		},
		Entry("the first lift", AJobSetStatus(Epochs(0, 1))),
		Entry("the break", AJobSetStatus(Epochs(1, 1))),
		Entry("the lift", AJobSetStatus(Epochs(1, 2))),
	)
})

// survives waits for something, and starts another manager when the first one has crashed.
func survives(w *World, until func() bool) {
	GinkgoHelper()
	Eventually(func() bool {
		if w.Manager.Crashed() {
			w.StartManager()
		}
		return until()
	}).Should(BeTrue())
}
