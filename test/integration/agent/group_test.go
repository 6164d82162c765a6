/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// group runs an agent in each Pod, and starts it again when it asks for it, as a kubelet does.
type group struct {
	world  *World
	jobSet *jobset.JobSet
	agents []*process
}

func newGroup(ctx SpecContext, workers int32) *group {
	GinkgoHelper()
	g, pods := heldGroup(ctx, workers)
	for i, pod := range pods {
		g.starts(i, pod)
	}
	return g
}

// heldGroup is a group whose agents have not started.
func heldGroup(ctx SpecContext, workers int32) (*group, []*corev1.Pod) {
	GinkgoHelper()
	w := cluster.NewWorld(ctx)
	giveAccount(ctx, w.Namespace)
	w.StartManager()
	train, pods := w.HeldGroup(Training(workers, 10))
	return &group{world: w, jobSet: train, agents: make([]*process, workers)}, pods
}

func (g *group) starts(i int, pod *corev1.Pod) {
	GinkgoHelper()
	g.agents[i] = start(g.world.Context, pod, g.jobSet.Name, string(g.jobSet.UID))
}

// fails ends worker i: the kubelet stops the agent with it and starts both again.
func (g *group) fails(i int) {
	GinkgoHelper()
	g.agents[i].stop()
	g.starts(i, g.agents[i].pod)
}

// comesBack restarts all agents that ask for it, until every barrier is lifted at these epochs.
func (g *group) comesBack(deprecated, synced int32) {
	GinkgoHelper()
	Eventually(func(gg Gomega) {
		for i, a := range g.agents {
			if a.ended() {
				gg.Expect(a.outcome.Kind).To(BeEquivalentTo("Restarted"))
				g.starts(i, a.pod)
			}
		}
		for _, a := range g.agents {
			gg.Expect(a.lifted.Load() && !a.ended()).To(BeTrue())
		}
		gg.Expect(Epochs(deprecated, synced)(&Now(g.world, g.jobSet).Status)).To(BeTrue())
	}).Should(Succeed())
}

var _ = Describe("Agents and controller together", func() {
	It("P31 P13 P33: start a group", func(ctx SpecContext) {
		g := newGroup(ctx, 3)

		g.comesBack(0, 1)

		g.world.HasCounted(g.jobSet, Counters{})
	})

	It("P14 P32 P13: bring all workers to the next epoch when one fails, twice", func(ctx SpecContext) {
		g := newGroup(ctx, 3)
		g.comesBack(0, 1)

		g.fails(1)
		g.comesBack(1, 2)
		g.fails(0)
		g.comesBack(2, 3)

		g.world.HasCounted(g.jobSet, Counters{InPlace: 2})
		for _, a := range g.agents {
			Expect(a.outcome.Self.Epoch).To(BeZero(), "runs on")
			a.reports("3")
		}
	})

	It("P14 C264: bring a Pod that was replaced into the group of those that stayed", func(ctx SpecContext) {
		g := newGroup(ctx, 2)
		g.comesBack(0, 1)
		lost := g.agents[0]

		lost.stop()
		g.world.Kubelet.Removes(lost.pod)
		g.starts(0, g.world.JobController.Replaces(lost.pod))
		g.comesBack(1, 2)

		g.world.HasCounted(g.jobSet, Counters{InPlace: 1})
	})

	It("C265: pay one more restart for an agent that dies between its report and the lift, and run in one epoch", func(ctx SpecContext) {
		g, pods := heldGroup(ctx, 2)
		g.starts(0, pods[0])
		g.agents[0].reports("1")
		g.agents[0].stop()

		g.starts(1, pods[1])
		g.agents[1].lifts() // by the annotation that outlived the other agent
		g.starts(0, pods[0])

		g.comesBack(1, 2)
		g.world.HasCounted(g.jobSet, Counters{InPlace: 1})
	})

	It("C278: bring all workers to the next epoch, for one restart, when an agent dies that has lifted", func(ctx SpecContext) {
		g := newGroup(ctx, 2)
		g.comesBack(0, 1)

		g.agents[0].stop()
		g.starts(0, g.agents[0].pod)

		g.agents[0].reports("2")
		g.comesBack(1, 2)
		g.world.HasCounted(g.jobSet, Counters{InPlace: 1})
	})

	It("C282: go on where they were when the controller comes back", func(ctx SpecContext) {
		g := newGroup(ctx, 2)
		g.comesBack(0, 1)
		g.world.Manager.Stop()
		g.fails(0)
		g.agents[0].reports("2")
		g.agents[0].holds()
		g.agents[1].runsOn()

		g.world.StartManager()

		g.comesBack(1, 2)
		g.world.HasCounted(g.jobSet, Counters{InPlace: 1})
	})

	It("P20 P34 C280: let everybody go while the gate is off, and assemble again when it is back", func(ctx SpecContext) {
		g := newGroup(ctx, 2)
		g.comesBack(0, 1)
		g.world.StartManager(WithGates(GateOff))
		g.world.Has(g.jobSet, jobset.JobSetInPlaceRestartDisabled, "True", "")
		g.fails(0)
		g.agents[0].lifts()
		Expect(g.agents[0].sent("PATCH")).To(BeEmpty())
		g.agents[1].runsOn()

		g.world.StartManager()

		g.comesBack(1, 2)
	})
})
