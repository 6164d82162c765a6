/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
)

// The specs are Serial, since all elastic groups share what the nodes advertise.
var _ = Describe("elastic groups on nodes with accelerators", Serial, Label("elastic", "slow"), func() {
	It("P104 P107: give what another needs to start and no more, and what comes goes to the one with least", func(ctx SpecContext) {
		nodes := stories.OpenNodes(ctx)
		offer(ctx, nodes[0], 3)
		offer(ctx, nodes[1], 3)
		a := stories.Create(ctx, stories.Accelerated(2, 6))
		grown := a.Becomes(6)

		b := stories.Create(ctx, stories.Accelerated(2, 6))
		started := b.Becomes(2)
		a.Told(corev1.EventTypeNormal, constants.ElasticResizedReason, "gave 2 instances to another namespace")
		shrunk := a.Becomes(4)
		grown.Keeps(shrunk)

		offer(ctx, nodes[0], 4)
		offer(ctx, nodes[1], 4)
		b.Becomes(4).Keeps(started)
		a.Becomes(4).IsUntouched(shrunk)
		a.Charged(0)
		b.Charged(0)
	}, SpecTimeout(specTime))

	It("P85 P104 P108: go on with what a lost node leaves them, and grow again when it is back", Label("node-loss"), func(ctx SpecContext) {
		stays, leaves := nodeToLose(ctx)
		offer(ctx, stays, 6)
		offer(ctx, leaves, 2)
		shape := stories.Accelerated(2, 8)
		sized := shape.Change
		shape.Change = func(js *jobset.JobSet) {
			sized(js)
			tolerateLoss(js, 5) // until then it runs, and lacks nothing (P108b)
			js.Spec.FaultTolerance = &jobset.FaultTolerance{ForcefulDeletionGracePeriodSeconds: ptr.To[int32](1)}
		}
		group := stories.Create(ctx, shape)
		full := group.Becomes(8)

		docker(ctx, "pause", leaves)
		DeferCleanup(func(ctx SpecContext) { bringBack(ctx, leaves) })
		Eventually(stories.Sizes).WithArguments(group).WithContext(ctx).WithTimeout(patience).WithPolling(tick).Should(BeEquivalentTo(6))
		group.Told(corev1.EventTypeNormal, constants.ElasticResizedReason, "2 of its 8 Pods have had no node for more than 5s: it continues with 6")
		shrunk := group.Becomes(6)
		shrunk.KeepsOn(stays, full)
		group.Charged(1) // the loss, not the change of size

		bringBack(ctx, leaves)
		group.Becomes(8).Keeps(shrunk)
		group.Charged(1)
	}, SpecTimeout(specTime))
})

// offer makes a node have accelerators until the end of the spec.
func offer(ctx SpecContext, node string, count int) {
	GinkgoHelper()
	stories.Advertise(ctx, node, stories.Accelerator, count)
	DeferCleanup(func(ctx SpecContext) { stories.Advertise(ctx, node, stories.Accelerator, 0) })
}

// nodeToLose picks two nodes; the manager is not on the second one, which is a Docker container.
func nodeToLose(ctx context.Context) (stays, leaves string) {
	GinkgoHelper()
	manager, err := live.managerPod(ctx)
	Expect(err).NotTo(HaveOccurred())
	nodes := stories.OpenNodes(ctx)
	at := slices.IndexFunc(nodes, func(node string) bool { return node != manager.Spec.NodeName })
	skipUnlessContainer(ctx, nodes[at])
	return nodes[(at+1)%len(nodes)], nodes[at]
}
