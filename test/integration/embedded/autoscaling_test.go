/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/stories"
)

// patience is for what takes seconds on an idle machine.
const patience = 2 * time.Minute

// runNode runs a node with so many accelerators, and takes it away at the end of the spec, after the JobSets of the spec. The Pods of
// a node that is taken away stay until they are collected, for a minute, and keep their JobSet until then: the next spec would find
// that room is kept for it.
func runNode(name, accelerators string) (stop func()) {
	GinkgoHelper()
	return runNodeWith(simnode.Options{Name: name, Extended: corev1.ResourceList{stories.Accelerator: resource.MustParse(accelerators)}})
}

func runNodeWith(options simnode.Options) (stop func()) {
	GinkgoHelper()
	runs := true
	options.Runtime = shown.containers
	halt := framework.RunNode(shown.plane, options)
	DeferCleanup(func(ctx SpecContext) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: options.Name}}
		if runs && !CurrentSpecReport().Failed() { // else what is left is evidence
			empties(ctx, node)
		}
		Expect(client.IgnoreNotFound(stories.API().Delete(ctx, node))).To(Succeed())
	})
	return func() {
		runs = false
		halt()
	}
}

// empties deletes all JobSets, and waits until no Pod is left on a node.
func empties(ctx SpecContext, node *corev1.Node) {
	GinkgoHelper()
	all := &jobset.JobSetList{}
	Expect(stories.API().List(ctx, all)).To(Succeed())
	for i := range all.Items {
		Expect(client.IgnoreNotFound(stories.API().Delete(ctx, &all.Items[i]))).To(Succeed())
	}
	Eventually(func() ([]corev1.Pod, error) {
		pods := &corev1.PodList{}
		err := stories.API().List(ctx, pods, client.MatchingFields{"spec.nodeName": node.Name})
		return pods.Items, err
	}).WithContext(ctx).WithTimeout(patience).Should(BeEmpty(), "Pods on node %s", node.Name)
}

var _ = Describe("Elastic groups on nodes with accelerators", func() {
	It("P104 P107 P109: get what is free, give what others need to start, and wait if nobody can give enough", func(ctx SpecContext) {
		runNode("accelerated-a", "4")
		runNode("accelerated-b", "4")

		By("one that is alone grows to its largest size")
		a := stories.Create(ctx, stories.Accelerated(2, 6))
		grown := a.Becomes(6)

		By("the least size of another fits, so nobody gives")
		b := stories.Create(ctx, stories.Accelerated(2, 6))
		b.Becomes(2)
		a.Becomes(6)

		By("that of a third does not, so the fullest gives as much as it needs")
		c := stories.Create(ctx, stories.Accelerated(2, 4))
		c.Becomes(2)
		shrunk := a.Becomes(4)
		grown.Keeps(shrunk)
		a.Charged(0)
		a.Told(corev1.EventTypeNormal, constants.ElasticResizedReason, "gave 2 instances to another namespace")

		By("that of a fourth does not fit although all give, so it waits, and nobody is scaled")
		d := stories.Create(ctx, stories.Accelerated(3, 3))
		d.Told(corev1.EventTypeWarning, constants.ElasticWaitingReason, "its minimum of 3 does not fit")
		a.Becomes(4).IsUntouched(shrunk)

		By("until somebody leaves, and another gives the rest; which one has more then depends on when the Pods are gone")
		Expect(stories.API().Delete(ctx, c.Stored())).To(Succeed())
		d.Becomes(3)
		Eventually(stories.Sizes).WithArguments(a, b).WithContext(ctx).WithTimeout(patience).Should(BeEquivalentTo(5))
		a.Charged(0)
		b.Charged(0)
	})
})
