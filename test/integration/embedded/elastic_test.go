/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// bounded makes the workers elastic.
func bounded(least, most int32) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: least, MaxInstances: most}
		js.Spec.ReplicatedJobs[0].Template.Spec.Parallelism = nil
		js.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "queue"} // the manager leaves its size alone (P107)
	}
}

var _ = Describe("Workers of an elastic group", func() {
	It("P100 P101 P102: keep their Pods when it changes its size, and are told the world of each epoch", stories.Contract, func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true, Change: bounded(2, 4)})
		first := group.RunsAt(1)
		Expect(first.Worlds()).To(Equal([]string{"0 of 2", "1 of 2"}), "it starts with its least size")

		By("growing")
		group.Resize(4)
		grown := group.RunsAt(2)
		Expect(grown.Worlds()).To(Equal([]string{"0 of 4", "1 of 4", "2 of 4", "3 of 4"}))
		grown.Keeps(first)

		By("shrinking")
		group.Resize(3)
		shrunk := group.RunsAt(3)
		Expect(shrunk.Worlds()).To(Equal([]string{"0 of 3", "1 of 3", "2 of 3"}))
		grown.Keeps(shrunk)
		group.Charged(0)

		By("failing")
		group.Tell(order.Exit(1), shrunk.Worker(2))
		failed := group.RunsAt(4)
		Expect(failed.Worlds()).To(Equal([]string{"0 of 3", "1 of 3", "2 of 3"}))
		failed.Keeps(shrunk)
		group.Charged(1)

		By("being resized while it is suspended")
		group.Suspend(true)
		group.IsSuspended()
		group.Resize(2)
		group.Suspend(false)
		Expect(group.RunsAt(5).Worlds()).To(Equal([]string{"0 of 2", "1 of 2"}))
		group.Charged(1)
	})

	It("P101: are resized while the group assembles, again and again", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true, Change: bounded(2, 4)})
		first := group.RunsAt(1)
		for _, size := range []int32{4, 2, 3} {
			group.Resize(size)
		}
		last := group.RunsEventually()
		Expect(last.Worlds()).To(Equal([]string{"0 of 3", "1 of 3", "2 of 3"}))
		last.Keeps(first)
		group.Charged(0)
	})

	It("P100: do not leave their bounds, whoever asks for it", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true, Change: bounded(2, 4)})
		group.RunsAt(1)
		Expect(group.TryResize(5)).To(MatchError(ContainSubstring("must be from minInstances to maxInstances")))
		Expect(group.TryResize(1)).To(MatchError(ContainSubstring("must be from minInstances to maxInstances")))
	})
})
