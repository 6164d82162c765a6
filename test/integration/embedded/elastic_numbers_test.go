/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

// How long it takes until all workers run with another size.
var _ = Describe("How long a resize by one takes", Serial, Label("numbers", "slow"), func() {
	const times = 5
	for _, size := range []int32{2, 20} {
		It(fmt.Sprintf("P101: %d workers in place", size), func(ctx SpecContext) {
			group := stories.Create(ctx, stories.Shape{Process: true, Change: bounded(size, size+1), Workers: size})
			round := group.RunsAt(1)
			var took []time.Duration
			for i := range int32(times) {
				start := time.Now()
				group.Resize(size + (i+1)%2)
				round = group.RunsAt(round.Epoch + 1)
				took = append(took, round.LastStart().Sub(start))
			}
			reportTimes(fmt.Sprintf("resize of %d workers by one, in place", size), took)
		}, SpecTimeout(5*time.Minute))

		// 30 to 50 s: workers that stay would not be told of the new size, so all Pods are recreated, five times, by a way that is
		// not charged either.
		It(fmt.Sprintf("P101: %d workers with Recreate, suspended, resized and resumed", size), func(ctx SpecContext) {
			group := stories.Create(ctx, stories.Shape{Strategy: jobset.Recreate, Change: bounded(size, size+1), Workers: size})
			group.RunsAttempt(0)
			var took []time.Duration
			for i := range int32(times) {
				start := time.Now()
				group.Suspend(true)
				group.IsSuspended()
				group.Resize(size + (i+1)%2)
				group.Suspend(false)
				took = append(took, group.RunsAttempt(0).LastStart().Sub(start))
			}
			reportTimes(fmt.Sprintf("resize of %d workers by one, with Recreate", size), took)
		}, SpecTimeout(10*time.Minute))
	}
})

func reportTimes(what string, took []time.Duration) {
	slices.Sort(took)
	AddReportEntry(fmt.Sprintf("%s: median %.2f s, from %.2f to %.2f s, %d times", what,
		took[len(took)/2].Seconds(), took[0].Seconds(), took[len(took)-1].Seconds(), len(took)), ReportEntryVisibilityAlways)
}
