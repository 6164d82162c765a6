/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("Sick nodes", func() {
	tolerant := WithGates(gates.Set{InPlaceRestart: true, FaultTolerance: true})
	watching := WithNodeHealth(nodehealth.DefaultRules())

	It("P92: 200 heartbeats of nodes make no pass, and a mark makes the group restart, uncharged", func(ctx SpecContext) {
		w := newWorld(ctx, tolerant, watching)
		nodes := []*corev1.Node{hasNode(w, "node-0"), hasNode(w, "node-1")}
		train, pods := w.RunningGroup(usesGPUs(Training(2, 10)))

		before := w.MakesNoPass(train, func() { beats(w, nodes, 100) })

		mark(w, nodes[1], "ERR")
		w.Manager.HasSeenNode(w, nodes[1])
		Expect(w.Manager.Passes(train)).To(Equal(before), "passes")

		mark(w, nodes[1], "EVICT")
		w.Reaches(train, 1, 1)
		w.HasCounted(train, Counters{})
		Eventually(func() *metav1.Time { return Now(w, pods[1]).DeletionTimestamp }).ShouldNot(BeNil(), "the Pod on the node is deleted")
		Expect(Now(w, pods[0]).DeletionTimestamp).To(BeNil(), "and not the other")
		mark(w, nodes[1], "PASS") // the Job controller played here puts its replacement there again
		w.Manager.HasSeenNode(w, nodes[1])
		replacement := w.JobController.Replaces(pods[1])
		w.Agents.Report(2, pods[0], replacement)
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{})
	})

	It("P16 P92: a manager that stops between the intent and the deletion leaves nothing to be charged", func(ctx SpecContext) {
		w := newWorld(ctx, tolerant, watching)
		node := hasNode(w, "node-1")
		train, pods := w.RunningGroup(usesGPUs(Training(2, 10)))
		w.Manager.CrashAfter(AJobSetStatus(Epochs(1, 1)))
		mark(w, node, "EVICT")
		w.Manager.WaitForCrash()
		Expect(Now(w, pods[1]).DeletionTimestamp).To(BeNil(), "nothing is deleted before the intent is written")

		w.StartManager(tolerant, watching)
		Eventually(func() *metav1.Time { return Now(w, pods[1]).DeletionTimestamp }).ShouldNot(BeNil())
		w.HasCounted(train, Counters{})
	})

	It("P92: a Pod that was bound while its node was marked already is seen at once", func(ctx SpecContext) {
		w := newWorld(ctx, tolerant, watching)
		node := hasNode(w, "node-1")
		mark(w, node, "EVICT")
		w.Manager.HasSeenNode(w, node)
		train, pods := w.HeldGroup(usesGPUs(Training(2, 10)))
		Eventually(func() *metav1.Time { return Now(w, pods[1]).DeletionTimestamp }).ShouldNot(BeNil())
		w.TellsUser(train, corev1.EventTypeWarning, "WorkersMoved", "node-1 (autopilot.ibm.com/gpuhealth=EVICT)")
		Expect(Now(w, pods[0]).DeletionTimestamp).To(BeNil())
	})

	It("P92: gate off, nobody is moved", func(ctx SpecContext) {
		w := newWorld(ctx, watching)
		node := hasNode(w, "node-1")
		mark(w, node, "EVICT")
		train, pods := w.RunningGroup(usesGPUs(Training(2, 10)))
		w.StaysAt(train, 0, 1)
		Expect(Now(w, pods[1]).DeletionTimestamp).To(BeNil())
	})
})

// usesGPUs makes the workers of a JobSet with faultTolerance use a GPU each.
func usesGPUs(js *jobset.JobSet) *jobset.JobSet {
	js.Spec.FaultTolerance = &jobset.FaultTolerance{}
	for i := range js.Spec.ReplicatedJobs {
		PodTemplate(js, i).Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
	}
	return js
}

// hasNode makes the node that Pods with an index get.
func hasNode(w *World, name string) *corev1.Node {
	GinkgoHelper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	Expect(w.Client.Create(w.Context, node)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(w.Client.Delete(ctx, node)).To(Succeed()) })
	return node
}

// beats writes heartbeats of nodes until the manager has seen them.
func beats(w *World, nodes []*corev1.Node, times int) {
	GinkgoHelper()
	for beat := range times {
		for _, node := range nodes {
			patch := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"beat-%d"}]}}`, beat)
			Expect(w.Client.Status().Patch(w.Context, node.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, patch))).To(Succeed())
		}
	}
	for _, node := range nodes {
		w.Manager.HasSeenNode(w, node)
	}
}

// mark says how the GPUs of a node are.
func mark(w *World, node *corev1.Node, health string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"autopilot.ibm.com/gpuhealth":%q}}}`, health)
	Expect(w.Client.Patch(w.Context, node.DeepCopy(), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}
