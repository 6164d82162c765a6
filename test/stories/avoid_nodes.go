/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/worker/order"
)

// badNodes: what a JobSet does about a node on which its workers, and no others, fail.
func badNodes() {
	// 30 s: the Job controller replaces a Pod that moves ten seconds after it was deleted.
	It("P93: leave a node on which they failed three times, by the restart that the third failure costs anyway", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{Change: avoiding(jobset.AvoidNodes{})})
		round := group.RunsAt(1)
		bad := round.Pods[1].Spec.NodeName
		for epoch := int32(2); epoch <= 3; epoch++ {
			round = group.failsOn(bad, round, func() *Round { return group.RunsAt(epoch) })
		}
		before := round
		after := group.failsOn(bad, round, func() *Round { return group.RunsAt(4) })
		after.isOff(bad)
		for place := range after.Pods {
			if before.Pods[place].Spec.NodeName != bad {
				after.isInPlaceOf(before, place)
			}
		}
		group.Charged(3)
		group.Told(corev1.EventTypeWarning, constants.NodeAvoidedReason, "3 restarts within 24h0m0s began on node "+bad)
		group.Told(corev1.EventTypeWarning, constants.WorkersMovedReason, "they are deleted to be recreated")
	}, SpecTimeout(specTime))

	It("P93 P170: leave a node in place after five Pods of their Job were lost", Label("slow"), func(ctx SpecContext) {
		group := Create(ctx, Shape{Workers: 6, Change: avoiding(jobset.AvoidNodes{Failures: 1})})
		before := group.losesEach(group.RunsAt(1), 5, (*Group).deletes)
		bad := before.Pods[5].Spec.NodeName
		after := group.failsOn(bad, before, func() *Round { return group.RunsAt(7) })
		after.isOff(bad)
		group.Charged(6)
		group.Told(corev1.EventTypeWarning, constants.WorkersMovedReason, "they are deleted to be recreated")
	}, SpecTimeout(specTime))

	It("P93: leave it with strategy Recreate, too", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Change: avoiding(jobset.AvoidNodes{Failures: 2})})
		round := group.RunsAttempt(0)
		bad := round.Pods[0].Spec.NodeName
		round = group.failsOn(bad, round, func() *Round { return group.RunsAttempt(1) })
		group.failsOn(bad, round, func() *Round { return group.RunsAttempt(2) }).isOff(bad)
		group.Told(corev1.EventTypeWarning, constants.NodeAvoidedReason, "2 restarts within 24h0m0s began on node "+bad)
	}, SpecTimeout(specTime))

	// 60 s: the node is given up after 40 s, and the Job controller takes its time to replace the Pod.
	It("P94: run there again if there is no other, and say so", Label("slow"), func(ctx SpecContext) {
		bad := OpenNodes(ctx)[0]
		group := Create(ctx, Shape{Workers: 1, Change: func(js *jobset.JobSet) {
			avoiding(jobset.AvoidNodes{Failures: 1})(js)
			// The Job controller replaces a Pod that was deleted 10 s later, then 20 s: the group has twice this time.
			js.Spec.FaultTolerance.WarmupGracePeriodSeconds = ptr.To[int32](40)
			podOf(js).NodeSelector = map[string]string{corev1.LabelHostname: bad}
		}})
		group.failsOn(bad, group.RunsAt(1), func() *Round { return group.RunsAt(2) })
		group.Told(corev1.EventTypeWarning, constants.NodeAvoidedReason, bad)
		group.Told(corev1.EventTypeWarning, constants.AvoidedNodeGivenUpReason, "node "+bad+", avoided since")
		group.Charged(1)
	}, SpecTimeout(specTime))
}

// avoiding asks for it, and for no pause after a reset.
func avoiding(asked jobset.AvoidNodes) func(*jobset.JobSet) {
	return tolerating(jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](0), AvoidNodes: &asked})
}

// failsOn makes the first worker on a node fail, and returns the round that follows.
func (g *Group) failsOn(node string, round *Round, runs func() *Round) *Round {
	GinkgoHelper()
	for place, pod := range round.Pods {
		if pod.Spec.NodeName == node {
			failed := time.Now()
			g.Tell(order.Exit(1), round.Worker(place))
			after := runs()
			GinkgoWriter.Printf("%s: all run again %s after a failure on node %s\n", g.Name(), after.LastStart().Sub(failed).Round(time.Millisecond), node)
			return after
		}
	}
	Fail("no worker runs on node " + node)
	return nil
}
