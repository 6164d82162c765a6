/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/phases"
)

// NodeLoss is what became of a group after the node of one of its workers was lost: each as time since the loss.
type NodeLoss struct {
	// How the node was lost, and the Settings of the run.
	How, Settings string
	Strategy      jobset.JobSetRestartStrategy
	// Process is process mode; Tolerant: the JobSet has spec.faultTolerance.
	Process, Tolerant bool
	// Unreachable: the node has the taint. Told: the lost Pod is to stop. Broke: the group is to restart, or all Jobs are.
	// Fenced: somebody tainted the node as out of service; zero if nobody had to. Gone: the lost Pod is no more.
	Unreachable, Told, Broke, Fenced, Gone time.Duration
	// Created and Placed are the Pod in its place; Runs: all workers run again.
	Created, Placed, Runs time.Duration
}

// NodeLossEntry is the name of the report entries that hold a NodeLoss.
const NodeLossEntry = "a lost node"

// RunsWithin waits longer than stories usually do until all workers run again, for the first time.
func (g *Group) RunsWithin(limit time.Duration) *Round {
	GinkgoHelper()
	again := phases.StartsOver(1)
	if g.shape.inPlace() {
		again = phases.Lifts(2)
	}
	Eventually(func() time.Time { return g.record.first(again) }).WithContext(g.ctx).WithTimeout(limit).WithPolling(tick).ShouldNot(BeZero(), "the restart of all")
	if g.shape.inPlace() {
		return g.RunsAt(2)
	}
	Eventually(g.live).WithContext(g.ctx).WithTimeout(limit).WithPolling(tick).Should(HaveLen(g.shape.size()), "Pods of the next attempt")
	return g.RunsAttempt(1)
}

// InPlace reports whether its workers restart in place.
func (g *Group) InPlace() bool { return g.shape.inPlace() }

// HasBroken reports whether the group was told to restart.
func (g *Group) HasBroken() bool { return !g.broken().IsZero() }

func (g *Group) broken() time.Time {
	if g.shape.inPlace() {
		return g.record.broke(1)
	}
	return g.record.first(phases.StartsOver(1))
}

// NodeLoss reads what the API showed after a Pod was lost, until all ran again.
func (g *Group) NodeLoss(at time.Time, lost *corev1.Pod, after *Round, place int) NodeLoss {
	seen := func(uid types.UID, like func(view) bool) time.Duration {
		return g.record.first(func(v view) bool { return v.Pod != nil && v.Pod.UID == uid && like(v) }).Sub(at)
	}
	in := after.Pods[place].UID
	return NodeLoss{
		Strategy: g.shape.Strategy, Process: g.shape.Process,
		Told:    seen(lost.UID, func(v view) bool { return v.Pod.DeletionTimestamp != nil }),
		Broke:   g.broken().Sub(at),
		Gone:    seen(lost.UID, func(v view) bool { return v.Gone }),
		Created: seen(in, func(view) bool { return true }),
		Placed:  seen(in, func(v view) bool { return v.Pod.Spec.NodeName != "" }),
		Runs:    after.LastStart().Sub(at),
	}
}
