/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
)

var _ = Describe("An elastic group that loses a node", func() {
	// 70 s: until the node is not ready, until its Pods may be given up, and a new node.
	It("P104 P108 P109: goes on without its Pods, and grows again when a node is there", func(ctx SpecContext) {
		runNode("remains", "6")
		stop := runNode("leaves", "2")
		group := stories.Create(ctx, stories.Accelerated(2, 8))
		full := group.Becomes(8)

		By("the machine is lost, and its Node object deleted")
		lost := dies(full, "leaves", stop)
		Expect(stories.API().Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "leaves"}})).To(Succeed())
		Eventually(stories.Sizes).WithArguments(group).WithContext(ctx).WithTimeout(patience).Should(BeEquivalentTo(6))
		group.Told(corev1.EventTypeNormal, constants.ElasticResizedReason, "2 of its 8 Pods have had no node for more than 5s: it continues with 6")
		collects(ctx, lost...)
		shrunk := group.Becomes(6)
		shrunk.KeepsOn("remains", full)
		group.Charged(1) // the loss, not the change of size (P108b)

		By("another machine comes")
		runNode("comes", "2")
		grown := group.Becomes(8)
		grown.Keeps(shrunk)
		group.Charged(1)
		group.Has(jobset.JobSetElasticResizing, metav1.ConditionFalse, constants.ElasticResizeCompletedReason)
	})

	It("P85 P108: waits for Pods on a node that is not ready and says so, unless they may be deleted by force", Label("slow"), func(ctx SpecContext) {
		runNode("is-ready", "2")
		stop := runNode("is-not-ready", "1")
		group := stories.Create(ctx, stories.Accelerated(2, 3))
		full := group.Becomes(3)

		By("the machine does not answer any more")
		lost := dies(full, "is-not-ready", stop)
		doesNotAnswer(ctx, "is-not-ready")
		Expect(stories.Sizes(group)).To(BeEquivalentTo(3), "while the group runs it lacks nobody")
		deletes(ctx, 1, lost...) // as Kubernetes does five minutes later
		group.Has(jobset.JobSetElasticWaiting, metav1.ConditionTrue, constants.LostPodsReason)
		group.Told(corev1.EventTypeWarning, constants.ElasticWaitingReason, "Pods on is-not-ready keep their indexes")
		Expect(stories.Sizes(group)).To(BeEquivalentTo(3))

		By("its Pods may be deleted by force")
		js := group.Stored()
		Expect(stories.API().Patch(ctx, js, client.RawPatch("application/merge-patch+json",
			[]byte(`{"spec":{"faultTolerance":{"forcefulDeletionGracePeriodSeconds":1}}}`)))).To(Succeed())
		Eventually(stories.Sizes).WithArguments(group).WithContext(ctx).WithTimeout(patience).Should(BeEquivalentTo(2))
		shrunk := group.Becomes(2)
		shrunk.KeepsOn("is-ready", full)
		group.Charged(1) // the loss, not the change of size (P108b)
		group.Has(jobset.JobSetElasticWaiting, metav1.ConditionFalse, constants.ElasticRoomFoundReason)
	})
})

// dies stops a node with what runs there, and returns its Pods, of which nobody tells any more.
func dies(round *stories.Round, node string, stop func()) []*corev1.Pod {
	GinkgoHelper()
	pods := slices.DeleteFunc(slices.Clone(round.Pods), func(pod *corev1.Pod) bool { return pod.Spec.NodeName != node })
	Expect(pods).NotTo(BeEmpty(), "Pods on node %s", node)
	stop()
	return pods
}

// collects does what the garbage collector of Pods does to those of a node that is gone, within a minute. One that did not count as
// Failed would keep the finalizer of its Job, and so its index.
func collects(ctx SpecContext, pods ...*corev1.Pod) {
	GinkgoHelper()
	for _, pod := range pods {
		failed := fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":{"phase":"Failed"}}`, pod.UID)
		err := stories.API().Status().Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, failed))
		Expect(client.IgnoreNotFound(err)).To(Succeed())
	}
	deletes(ctx, 0, pods...)
}

func deletes(ctx SpecContext, grace int64, pods ...*corev1.Pod) {
	GinkgoHelper()
	for _, pod := range pods {
		err := stories.API().Delete(ctx, pod.DeepCopy(), &client.DeleteOptions{GracePeriodSeconds: ptr.To(grace)}, client.Preconditions{UID: &pod.UID})
		Expect(client.IgnoreNotFound(err)).To(Succeed())
	}
}
