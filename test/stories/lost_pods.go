/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The Job controller waits 10 s before it replaces the first Pod of an index. If it counted those of other indexes, the second loss would
// take 20 s; and if the group waited for it, the break would take 10 s. In between is room for a busy machine.
const (
	longestBreak     = 7 * time.Second
	longestFirstLoss = 16 * time.Second
)

// LostPods is the label of the stories that print how long groups are without a Pod, whichever Pod of a Job is lost.
const LostPods = "lost-pods"

// onePodAfterTheOther: Pods of one Job are lost, each of another index, each when the group runs again.
func onePodAfterTheOther() {
	for _, tc := range []struct {
		losses  int
		process bool
		how     string
		lose    func(*Group, *corev1.Pod)
	}{
		{3, true, "deleted", (*Group).deletes},
		{10, false, "deleted", (*Group).deletes},
		{10, true, "evicted", func(g *Group, pod *corev1.Pod) { g.evict(pod) }},
		{10, true, "evicted by the kubelet", (*Group).failsByEviction},
	} {
		It(fmt.Sprintf("P170 C264: are waited for as long as the first, %d that are %s", tc.losses, tc.how), Label(LostPods), slowIf(tc.losses > 3), func(ctx SpecContext) {
			group := Create(ctx, Shape{Workers: int32(tc.losses), Process: tc.process})
			group.losesEach(group.RunsAt(1), tc.losses, tc.lose)
		}, SpecTimeout(specTime))
	}
}

func (g *Group) deletes(pod *corev1.Pod) {
	GinkgoHelper()
	Expect(api.Delete(g.ctx, pod.DeepCopy())).To(Succeed())
}

// failsByEviction writes what a kubelet does that is short of memory: the Pod is not deleted. Its containers end by the real kubelet's hand.
func (g *Group) failsByEviction(pod *corev1.Pod) {
	GinkgoHelper()
	patch := []byte(`{"status":{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory."}}`)
	Expect(api.Status().Patch(g.ctx, pod.DeepCopy(), client.RawPatch("application/merge-patch+json", patch))).To(Succeed())
}

// losesEach loses the Pods of the first places, one after the other, and returns the round in which all run again. Each costs the same.
func (g *Group) losesEach(round *Round, losses int, lose func(*Group, *corev1.Pod)) *Round {
	GinkgoHelper()
	GinkgoWriter.Println("seconds from the loss to  break  replacement  last worker")
	for place := range losses {
		before, lost := round, time.Now()
		lose(g, round.Pods[place])
		round = g.RunsAt(before.Epoch + 1)
		round.Replaces(before, place)
		exists := g.record.first(func(v view) bool { return v.Pod != nil && v.Pod.UID == round.Pods[place].UID })
		broke := g.record.broke(before.Epoch).Sub(lost)
		line := fmt.Sprintf("loss %2d                   %5.1f  %11.1f  %11.1f", place+1, broke.Seconds(), exists.Sub(lost).Seconds(), round.LastStart().Sub(lost).Seconds())
		GinkgoWriter.Println(line)
		AddReportEntry("a lost Pod", line, ReportEntryVisibilityFailureOrVerbose)
		Expect(broke).To(BeNumerically("<", longestBreak), "P170: from loss %d to the break", place+1)
		Expect(exists.Sub(lost)).To(BeNumerically("<", longestFirstLoss), "P170: from loss %d to the replacement", place+1)
	}
	g.Charged(int32(losses))
	return round
}
