/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/test/faults/player"
	"sigs.k8s.io/jobset/test/faults/proxy"
	"sigs.k8s.io/jobset/test/process"
)

// fault is what breaks while the group restarts.
type fault struct {
	name string
	// only is the mode that it is for; empty: both.
	only jobset.InPlaceRestartMode
	// more is what it may cost beside the failure.
	more func(f failure, injected int) int32
	// settle is how long the group must stay up before it counts as recovered.
	settle time.Duration
	// ends: it ends managers or the API server.
	ends bool
	// strike lets the failure happen with the fault before, during or after it, and
	// returns when the world is whole again, and how often the fault was done.
	strike func(r *round, ctx context.Context) (injected int, err error)
}

// round is one restart of the group.
type round struct {
	*group
	dice *rand.Rand
	// fail makes the failure happen. Called once.
	fail func() error
	// recovered is closed when the group is back.
	recovered <-chan struct{}
	// long is how long a component may be cut off.
	long time.Duration
}

const (
	agentCutOff = "agent cut off"
	// settling is longer than what is harmed takes to be noticed, on a busy machine, too.
	settling = 5 * time.Second
)

func each(_ failure, injected int) int32 { return int32(injected) }

// faults are all kinds.
func (w *world) faults() []fault {
	var all []fault
	if w.inLeases() {
		all = append(all, fault{name: "Leases deleted", only: jobset.ProcessMode, strike: (*round).leasesDeleted})
	}
	for _, kind := range []proxy.Kind{
		proxy.Delay, proxy.ResetBefore, proxy.ResetAfter, proxy.TooMany, proxy.Conflict, proxy.Internal, proxy.WatchClosed, proxy.WatchStalled,
	} {
		all = append(all, fault{name: string(kind), strike: func(r *round, ctx context.Context) (int, error) {
			return r.proxied(ctx, kind)
		}})
	}
	return append(all,
		fault{name: "manager killed", ends: true, strike: (*round).managerKilled},
		fault{name: "leader killed, other takes over", ends: true, strike: (*round).leaderKilled},
		fault{name: "leader cut off, other takes over", ends: true, strike: (*round).leaderCutOff},
		fault{name: "API server killed", ends: true, strike: (*round).apiServerKilled},
		fault{name: agentCutOff, strike: (*round).agentCutOff},
		fault{name: "connections in Pods break", only: jobset.ProcessMode, settle: settling, strike: (*round).connectionsBreak, more: func(f failure, _ int) int32 {
			if f.renews {
				return 1
			}
			return 0
		}},
		// Each may come before its Pod has reported, while it is held, or when its workers run again.
		fault{name: "more agents killed", only: jobset.ProcessMode, settle: settling, strike: (*round).agentsKilled, more: each},
		fault{name: "more containers killed", only: jobset.ProcessMode, settle: settling, strike: (*round).containersKilled, more: each},
	)
}

// proxied does something to the requests of managers, of agents or of both, for some seconds.
func (r *round) proxied(ctx context.Context, kind proxy.Kind) (int, error) {
	prefixes := [][]string{{"manager"}, {"agent"}, {"manager", "agent"}}[r.dice.IntN(3)]
	r.proxy.Take()
	r.proxy.Apply(proxy.Plan{
		Seed: r.dice.Uint64(), Kind: kind, Share: 0.2 + 0.6*r.dice.Float64(),
		Clients: func(client string) bool {
			for _, prefix := range prefixes {
				if strings.HasPrefix(client, prefix) {
					return true
				}
			}
			return false
		},
	})
	defer r.proxy.Heal()
	if err := r.fail(); err != nil {
		return 0, err
	}
	r.pause(ctx, 2*time.Second, 6*time.Second)
	return r.proxy.Take()[kind], nil
}

// managerKilled kills the only manager at some moment and starts it again at another.
func (r *round) managerKilled(ctx context.Context) (int, error) {
	only := r.leader()
	r.other(only).stop()
	if r.dice.IntN(4) > 0 {
		if err := r.fail(); err != nil {
			return 0, err
		}
		_ = process.Pause(ctx, r.upTo(2*time.Second)) // cut short, the caller sees it
		only.crash()
	} else {
		only.crash()
		if err := r.fail(); err != nil {
			return 0, err
		}
	}
	_ = process.Pause(ctx, r.upTo(time.Second)) // cut short, the caller sees it
	return 1, only.start()
}

// leaderKilled kills the one of two managers that leads.
func (r *round) leaderKilled(ctx context.Context) (int, error) {
	leader, standby, err := r.two(ctx)
	if err != nil {
		return 0, err
	}
	if err := r.fail(); err != nil {
		return 0, err
	}
	_ = process.Pause(ctx, r.upTo(2*time.Second)) // cut short, the caller sees it
	leader.crash()
	if err := r.leads(ctx, standby); err != nil {
		return 0, err
	}
	return 1, leader.start()
}

// leaderCutOff takes the network from the one of two managers that leads. It does not know
// that it is no longer the leader, and what it sent may arrive when the network is back.
func (r *round) leaderCutOff(ctx context.Context) (int, error) {
	leader, standby, err := r.two(ctx)
	if err != nil {
		return 0, err
	}
	defer r.proxy.Heal()
	if err := r.fail(); err != nil {
		return 0, err
	}
	_ = process.Pause(ctx, r.upTo(time.Second)) // cut short, the caller sees it
	r.proxy.Cut(leader.command.Name, r.dice.IntN(2) == 0)
	if err := r.leads(ctx, standby); err != nil {
		return 0, err
	}
	_ = process.Pause(ctx, r.upTo(2*time.Second)) // cut short, the caller sees it
	return 1, nil
}

// apiServerKilled kills the API server at some moment and starts it again.
func (r *round) apiServerKilled(ctx context.Context) (int, error) {
	if err := r.fail(); err != nil {
		return 0, err
	}
	_ = process.Pause(ctx, r.upTo(2*time.Second)) // cut short, the caller sees it
	r.plane.CrashAPIServer()
	return 1, r.plane.StartAPIServer(ctx)
}

// agentCutOff takes the network from one agent, which may be that of the Pod that fails.
func (r *round) agentCutOff(ctx context.Context) (int, error) {
	defer r.proxy.Heal()
	r.proxy.Cut(player.ClientName(anyOf(r.players.Pods(), r.dice).Name), r.dice.IntN(2) == 0)
	if err := r.fail(); err != nil {
		return 0, err
	}
	_ = process.Pause(ctx, r.long) // cut short, the caller sees it
	return 1, nil
}

// connectionsBreak breaks connections between agents and supervisors, before, during and after the restart.
func (r *round) connectionsBreak(ctx context.Context) (int, error) {
	const apart = 50 * time.Millisecond
	broken := 0
	breaks := func(longest time.Duration) {
		for end := time.Now().Add(r.upTo(longest)); time.Now().Before(end) && process.Pause(ctx, r.upTo(apart)) == nil; {
			if r.players.BreakConnection(anyOf(r.players.Supervised(), r.dice)) {
				broken++
			}
		}
	}
	breaks(time.Second)
	if err := r.fail(); err != nil {
		return broken, err
	}
	breaks(4 * time.Second)
	return broken, nil
}

// agentsKilled kills agents while the group restarts.
func (r *round) agentsKilled(ctx context.Context) (int, error) {
	return r.killed(ctx, r.players.CrashAgent)
}

// containersKilled kills supervisors with their workers while the group restarts.
func (r *round) containersKilled(ctx context.Context) (int, error) {
	return r.killed(ctx, r.players.KillContainer)
}

// leasesDeleted deletes Leases while the group restarts: what they report is late then, until it is repeated (P152, P72).
func (r *round) leasesDeleted(ctx context.Context) (deleted int, err error) {
	if err := r.fail(); err != nil {
		return 0, err
	}
	for range 1 + r.dice.IntN(workers) {
		_ = process.Pause(ctx, r.upTo(100*time.Millisecond)) // cut short, the caller sees it
		lease := &coordinationv1.Lease{}
		lease.Namespace, lease.Name = r.namespace(), facts.LeaseName(anyOf(r.players.Supervised(), r.dice).Name)
		if err := r.client.Delete(ctx, lease); client.IgnoreNotFound(err) != nil {
			return deleted, fmt.Errorf("deleting a Lease: %w", err)
		} else if err == nil {
			deleted++
		}
	}
	return deleted, nil
}

func (r *round) killed(ctx context.Context, kill func(*corev1.Pod) bool) (killed int, err error) {
	if err := r.fail(); err != nil {
		return 0, err
	}
	for range 1 + r.dice.IntN(3) {
		_ = process.Pause(ctx, r.upTo(500*time.Millisecond)) // cut short, the caller sees it
		if kill(anyOf(r.players.Supervised(), r.dice)) {
			killed++
		}
	}
	return killed, nil
}

// pause lasts a random time, but no longer than the group needs.
func (r *round) pause(ctx context.Context, atLeast, atMost time.Duration) {
	timer := time.NewTimer(atLeast + r.upTo(atMost-atLeast))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.recovered:
	case <-ctx.Done():
	}
}

func (r *round) upTo(longest time.Duration) time.Duration {
	return time.Duration(r.dice.Float64() * float64(longest))
}

// leader is the manager that leads.
func (r *round) leader() *manager {
	for _, m := range r.managers {
		if on, _ := m.state(); on && m.command.Name == r.proxy.Leader() {
			return m
		}
	}
	for _, m := range r.managers {
		if on, _ := m.state(); on {
			return m // it has not written a lease yet
		}
	}
	return r.managers[0]
}

func (r *round) other(than *manager) *manager {
	for _, m := range r.managers {
		if m != than {
			return m
		}
	}
	return nil
}

// two makes sure that two managers run, and says which leads.
func (r *round) two(ctx context.Context) (leader, standby *manager, err error) {
	leader = r.leader()
	standby = r.other(leader)
	if err := standby.start(); err != nil {
		return nil, nil, err
	}
	return leader, standby, standby.isReady(ctx)
}

// leads waits until a manager leads.
func (r *round) leads(ctx context.Context, m *manager) error {
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	for r.proxy.Leader() != m.command.Name {
		if process.Pause(ctx, 20*time.Millisecond) != nil {
			return fmt.Errorf("waiting for %s to lead: %w", m.command.Name, ctx.Err())
		}
	}
	return nil
}
