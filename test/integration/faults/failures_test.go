/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// failure is why the group has to restart.
type failure struct {
	name string
	// only is the mode that it is for; empty: both.
	only jobset.InPlaceRestartMode
	// happen makes it happen and returns how many Pods are to be replaced.
	happen func(ctx context.Context, g *group, dice *rand.Rand) (replaced int, err error)
	// charge is the most that it may cost. One, but for the corner that property 4 names.
	charge int32
	// renews: a supervisor restarts. If its connection breaks while the first start is under way, nobody knows
	// whether it received it, and the group has to restart once more (P62).
	renews bool
	// settle is how long the group must stay up before it counts as recovered.
	settle time.Duration
	// often is how many of the cards it is that are dealt.
	often int
}

// failures are all kinds.
var failures = []failure{
	{name: "worker exits", often: 3, charge: 1, happen: func(_ context.Context, g *group, dice *rand.Rand) (int, error) {
		return 0, g.failWorkers(1, dice)
	}},
	{name: "two workers exit", often: 1, charge: 1, happen: func(_ context.Context, g *group, dice *rand.Rand) (int, error) {
		return 0, g.failWorkers(2, dice)
	}},
	{name: "agent crashes", only: jobset.ContainerMode, often: 2, charge: 1, happen: func(_ context.Context, g *group, dice *rand.Rand) (int, error) {
		return 0, g.crashAgent(anyOf(g.players.Pods(), dice))
	}},
	{name: "container killed", only: jobset.ProcessMode, often: 2, charge: 1, renews: true, happen: func(_ context.Context, g *group, dice *rand.Rand) (int, error) {
		pod := anyOf(g.players.Pods(), dice)
		if !g.players.KillContainer(pod) {
			return 0, fmt.Errorf("no supervisor runs in Pod %s", pod.Name)
		}
		return 0, nil
	}},
	{name: "worker exits while its agent is away", only: jobset.ProcessMode, often: 1, charge: 1, happen: func(_ context.Context, g *group, dice *rand.Rand) (int, error) {
		pod := anyOf(g.players.Pods(), dice)
		return 0, errors.Join(g.crashAgent(pod), g.failWorker(pod))
	}},
	{name: "worker exits after its agent was replaced", only: jobset.ProcessMode, often: 1, charge: 1, happen: func(ctx context.Context, g *group, dice *rand.Rand) (int, error) {
		pod, before := anyOf(g.players.Pods(), dice), g.observer.State()
		if err := g.replaceAgent(ctx, pod); err != nil {
			return 0, err
		}
		// Nobody else noticed (P65).
		if running, epoch := g.players.Running(); running != workers || epoch != before.Synced || g.observer.State() != before {
			return 0, fmt.Errorf("after an agent was replaced %d workers run in epoch %d, want %d in %d", running, epoch, workers, before.Synced)
		}
		return 0, g.failWorker(pod)
	}},
	{name: "Pod deleted", often: 1, charge: 1, renews: true, happen: func(ctx context.Context, g *group, dice *rand.Rand) (int, error) {
		pod := anyOf(g.players.Pods(), dice)
		// The Job controller gives the first Pod that it replaces 10 s, and the nth minutes.
		if g.deletions++; g.deletions > 1 {
			if err := g.plane.RestartControllerManager(); err != nil {
				return 0, err
			}
		}
		// Gently, or as someone who has lost patience with a node.
		grace := ptr.To(int64(dice.IntN(2)))
		return 1, g.client.Delete(ctx, pod, &client.DeleteOptions{GracePeriodSeconds: grace})
	}},
	// The corner: the group may have been lifted by a report whose agent is gone.
	{name: "agent crashes in the restart", often: 1, charge: 2, settle: settling, happen: func(ctx context.Context, g *group, dice *rand.Rand) (int, error) {
		if err := g.failWorkers(1, dice); err != nil {
			return 0, err
		}
		g.assembles(ctx, 1+dice.IntN(workers-1))
		if waiting := g.players.Waiting(); len(waiting) > 0 {
			g.players.CrashAgent(anyOf(waiting, dice))
		}
		return 0, ctx.Err()
	}},
}

func (g *group) failWorkers(count int, dice *rand.Rand) error {
	pods := g.players.Pods()
	dice.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	for _, pod := range pods[:count] {
		if err := g.failWorker(pod); err != nil {
			return err
		}
	}
	return nil
}

func (g *group) failWorker(pod *corev1.Pod) error {
	if !g.players.FailWorker(pod) {
		return fmt.Errorf("no worker runs in Pod %s", pod.Name)
	}
	return nil
}

func (g *group) crashAgent(pod *corev1.Pod) error {
	if !g.players.CrashAgent(pod) {
		return fmt.Errorf("no agent runs in Pod %s", pod.Name)
	}
	return nil
}

// replaceAgent kills the agent of a Pod and waits for the next one.
func (g *group) replaceAgent(ctx context.Context, pod *corev1.Pod) error {
	before := g.players.Agents(pod)
	if err := g.crashAgent(pod); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	if err := g.players.Until(ctx, func() bool { return g.players.Agents(pod) > before }); err != nil {
		return fmt.Errorf("waiting for another agent in Pod %s: %w", pod.Name, err)
	}
	return nil
}

// assembles waits until this many agents wait for the rest, or seem not to come.
func (g *group) assembles(ctx context.Context, agents int) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = g.players.Until(ctx, func() bool { return len(g.players.Waiting()) >= agents }) // else go on with those that are there
}

func anyOf(pods []*corev1.Pod, dice *rand.Rand) *corev1.Pod {
	return pods[dice.IntN(len(pods))]
}
