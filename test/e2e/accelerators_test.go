/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// rack is the topology of examples/in-place-restart/one-pod-per-node.yaml, whose Pods ask for eight GPUs each.
const rack = "example.com/rack"

// The example as it is, but for its program and its size: there are two nodes.
var _ = Describe("Jobs with a rack each whose Pods ask for all accelerators of a node", Serial, Label("slow"), func() {
	DescribeTable("C197 C264: have a node for each Pod, restart there in place, and get the same node again for a Pod that is lost",
		func(ctx SpecContext, jobs int32, racks ...string) {
			nodes := stories.OpenNodes(ctx)[:2]
			for i, node := range nodes {
				stories.Advertise(ctx, node, gpu, 8)
				DeferCleanup(func(ctx SpecContext) { stories.Advertise(ctx, node, gpu, 0) })
				labelNode(ctx, node, rack, fmt.Sprintf("%q", racks[i]))
				DeferCleanup(func(ctx SpecContext) { labelNode(ctx, node, rack, "null") })
			}
			group := stories.Create(ctx, stories.Shape{Jobs: jobs, Workers: 2 / jobs, Process: true, Change: func(js *jobset.JobSet) {
				written := exampleIn("../../examples/in-place-restart/one-pod-per-node.yaml")
				worker := podOf(js).Containers[0]
				js.Annotations = written.Annotations
				written.Spec.DeepCopyInto(&js.Spec)
				worker.Resources = podOf(js).Containers[0].Resources
				podOf(js).Containers[0] = worker
				podOf(js).TerminationGracePeriodSeconds = ptr.To[int64](1)
				js.Spec.ReplicatedJobs[0].Replicas, js.Spec.ReplicatedJobs[0].Template.Spec.Parallelism = jobs, ptr.To(2/jobs)
			}})
			before := group.RunsAt(1)
			Expect([]string{before.Pods[0].Spec.NodeName, before.Pods[1].Spec.NodeName}).To(ConsistOf(nodes))

			group.Tell(order.Exit(1), before.Worker(1))
			again := group.RunsAt(2)
			again.IsInPlaceOf(before)

			Expect(stories.API().Delete(ctx, again.Pods[1].DeepCopy())).To(Succeed())
			after := group.RunsAt(3)
			after.Replaces(again, 1)
			Expect(after.Pods[1].Spec.NodeName).To(Equal(again.Pods[1].Spec.NodeName))
			group.Charged(2)
			group.LeavesNothing()
		},
		Entry("two Jobs, in racks of one node", SpecTimeout(specTime), int32(2), "a", "b"),
		Entry("one Job, in a rack of two nodes", SpecTimeout(specTime), int32(1), "a", "a"),
	)
})

// labelNode sets a label of a node to a JSON value.
func labelNode(ctx context.Context, node, key, value string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, key, value)
	_, err := live.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}
