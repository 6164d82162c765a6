/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// lostAfter is replaceAfterSeconds of these groups, and stallsAfter when the peers of a lost worker stop to wait for it.
const (
	lostAfter   = 25
	stallsAfter = 10 * time.Second
)

var _ = Describe("workers on a silent node", Serial, Label("node-loss"), func() {
	DescribeTable("P173 P174 P175: are replaced once their group waits for nobody else, with Kubernetes' own periods, and nothing notices when the node is back",
		func(ctx SpecContext, process bool, lose string) {
			group := stories.Create(ctx, stories.Shape{Process: process, Change: func(js *jobset.JobSet) {
				onDifferentNodes(js)
				if js.Spec.FailurePolicy.InPlaceRestart == nil { // process mode, which nobody has to name
					js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{}
				}
				js.Spec.FailurePolicy.InPlaceRestart.LostNode = &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](lostAfter)}
			}})
			before := group.RunsAt(1)
			place := placeToLose(ctx, before)
			node := before.Pods[place].Spec.NodeName

			docker(ctx, lose, node)
			at := time.Now()
			DeferCleanup(func(ctx SpecContext) { bringBack(ctx, node) })
			Consistently(group.HasBroken).WithContext(ctx).WithTimeout(stallsAfter).WithPolling(time.Second).Should(BeFalse(), "P176: a group that runs is not touched")
			group.Tell(order.Exit(1), before.Worker(1-place))
			after := group.RunsWithin(patience)
			after.Replaces(before, place)
			Expect(after.Pods[place].Spec.NodeName).NotTo(Equal(node), "the new Pod is elsewhere")
			group.Told(corev1.EventTypeWarning, constants.WorkerOnLostNodeReason, node)
			loss := group.NodeLoss(at, before.Pods[place], after, place)
			loss.How, loss.Settings = lose, "lostNode after 25 s, peers fail after 10 s"
			AddReportEntry(stories.NodeLossEntry, loss, ReportEntryVisibilityNever)
			group.Charged(1)

			bringBack(ctx, node)
			group.RunsAt(2).IsUntouched(after)
			group.Charged(1)
		},
		Entry("in process mode, frozen", SpecTimeout(specTime), true, "pause"),
		Entry("in container mode, frozen", Label("slow"), SpecTimeout(specTime), false, "pause"),
		Entry("in process mode, stopped", Label("slow"), SpecTimeout(specTime), true, "stop"),
	)
})
