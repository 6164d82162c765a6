/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

var _ = Describe("A group whose executions are counted", func() {
	It("C391 C396 C399: tells its Pods which one they belong to, and goes on after a manager that counts none", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) { shown.swap(ctx, shown.manager) })
		runs := func(program string) {
			GinkgoHelper()
			shown.stops()
			shown.starts(ctx, program, everyGate, stories.Sections()) // where the other gates are on
		}
		runs(shown.manager)
		group := stories.Create(ctx, stories.Shape{Process: true})
		is := func(attempts int, round *stories.Round, carry string) {
			GinkgoHelper()
			Eventually(group.Status).Should(And(HaveField("ExecutionAttempts", HaveValue(BeEquivalentTo(attempts))), HaveField("StartTime", Not(BeNil()))))
			for _, pod := range round.Pods {
				Expect(pod.Annotations).To(HaveKeyWithValue(jobset.ExecutionAttemptKey, carry))
			}
		}
		is(0, group.RunsAt(1), "0")

		By("suspending and resuming it")
		group.Suspend(true)
		group.IsSuspended()
		Eventually(group.Status).Should(HaveField("StartTime", BeNil()))
		group.Suspend(false)
		second := group.RunsAt(2)
		is(1, second, "1")

		By("a restart in place")
		group.Tell(order.Exit(1), second.Worker(0))
		third := group.RunsAt(3)
		third.IsInPlaceOf(second)
		is(2, third, "1")

		old := os.Getenv(podsOnlyManagerEnv)
		if old == "" {
			return
		}
		By("going back to a manager that counts none, and coming again")
		runs(old)
		group.RunsAt(3).IsUntouched(third)
		group.Suspend(true)
		group.IsSuspended()
		runs(shown.manager)
		group.Suspend(false)
		group.RunsAt(4)
		Eventually(group.Status).Should(HaveField("ExecutionAttempts", Not(BeNil())))
	}, SpecTimeout(specTime))
})
