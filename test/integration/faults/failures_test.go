/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// failure is why the group has to restart.
type failure struct {
	name string
	// happen makes it happen and returns how many Pods are to be replaced.
	happen func(ctx context.Context, w *world, dice *rand.Rand) (replaced int, err error)
	// charge is the most that it may cost. One, but for the corner that property 4 names.
	charge int32
	// settle is how long the group must stay up before it counts as recovered.
	settle time.Duration
	// often is how many of the cards it is that are dealt.
	often int
}

// failures are all kinds.
var failures = []failure{
	{name: "worker exits", often: 3, charge: 1, happen: func(_ context.Context, w *world, dice *rand.Rand) (int, error) {
		return 0, w.failWorkers(1, dice)
	}},
	{name: "two workers exit", often: 1, charge: 1, happen: func(_ context.Context, w *world, dice *rand.Rand) (int, error) {
		return 0, w.failWorkers(2, dice)
	}},
	{name: "agent crashes", often: 2, charge: 1, happen: func(_ context.Context, w *world, dice *rand.Rand) (int, error) {
		pod := anyOf(w.players.Pods(), dice)
		if !w.players.CrashAgent(pod) {
			return 0, fmt.Errorf("no agent runs in Pod %s", pod.Name)
		}
		return 0, nil
	}},
	{name: "Pod deleted", often: 1, charge: 1, happen: func(ctx context.Context, w *world, dice *rand.Rand) (int, error) {
		pod := anyOf(w.players.Pods(), dice)
		// The Job controller gives the first Pod that it replaces 10 s, and the nth minutes.
		if w.deletions++; w.deletions > 1 {
			if err := w.plane.RestartControllerManager(); err != nil {
				return 0, err
			}
		}
		// Gently, or as someone who has lost patience with a node.
		grace := ptr.To(int64(dice.IntN(2)))
		return 1, w.client.Delete(ctx, pod, &client.DeleteOptions{GracePeriodSeconds: grace})
	}},
	// The corner: the group may have been lifted by a report whose agent is gone.
	{name: "agent crashes in the restart", often: 1, charge: 2, settle: 2 * time.Second, happen: func(ctx context.Context, w *world, dice *rand.Rand) (int, error) {
		if err := w.failWorkers(1, dice); err != nil {
			return 0, err
		}
		w.assembles(ctx, 1+dice.IntN(workers-1))
		if waiting := w.players.Waiting(); len(waiting) > 0 {
			w.players.CrashAgent(anyOf(waiting, dice))
		}
		return 0, ctx.Err()
	}},
}

func (w *world) failWorkers(count int, dice *rand.Rand) error {
	pods := w.players.Pods()
	dice.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	for _, pod := range pods[:count] {
		if !w.players.FailWorker(pod) {
			return fmt.Errorf("no worker runs in Pod %s", pod.Name)
		}
	}
	return nil
}

// assembles waits until so many agents wait for the rest, or seem not to come.
func (w *world) assembles(ctx context.Context, agents int) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for changed := w.players.Changed(); len(w.players.Waiting()) < agents; changed = w.players.Changed() {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func anyOf(pods []*corev1.Pod, dice *rand.Rand) *corev1.Pod {
	return pods[dice.IntN(len(pods))]
}
