/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Reports on Pods and in Leases, in turns: one group of each size restarts with the ones, then with the others, and so on, so
// that both meet the same machine. Its agents report in Leases; in every other restart each request for one is refused before it is sent,
// and the report goes to the Pod (P151). Beside the group of a thousand, the start of one whose agents know of no Leases, and a tuned
// Recreate. Each on a control plane of its own: that one ends sooner than a group is deleted.

const (
	onPods, inLeases = string(configapi.ReportsOnPod), string(configapi.ReportsInLease)
	// fewRestarts is how many restarts are measured of what takes half a minute each.
	fewRestarts = 2
	// calm is how long the manager has nothing to do before a restart in turns. No kubelet writes in process mode.
	calm = 2 * time.Second
)

func (b *bench) measureTurns(ctx context.Context, dir string) error {
	for _, n := range b.workers {
		parts := []part{{fmt.Sprintf("%d workers, in turns", n), func(ctx context.Context, p *plane) error { return b.turns(ctx, p, n) }}}
		if n == besideUpTo {
			parts = append(parts,
				part{fmt.Sprintf("%d workers start, reports: %s", n, onPods), func(ctx context.Context, p *plane) error { return b.startOnly(ctx, p, n) }},
				part{fmt.Sprintf("%d workers, %s", n, jobset.Recreate), func(ctx context.Context, p *plane) error { return b.recreateFew(ctx, p, n) }})
		}
		for _, part := range parts {
			began := time.Now()
			if err := b.onOwnPlane(ctx, dir, part.measure); err != nil {
				return fmt.Errorf("%s: %w", part.what, err)
			}
			fmt.Printf("%s: the whole part took %s s\n", part.what, whole(time.Since(began).Seconds()))
		}
	}
	return nil
}

// part is what is measured on one control plane.
type part struct {
	what    string
	measure func(context.Context, *plane) error
}

// inProcess is a group in process mode under flow control.
func inProcess(workers int, reports string) scenario {
	return scenario{
		strategy: jobset.InPlaceRestart, mode: jobset.ProcessMode, reports: reports, limits: tunedLimits.name,
		delays: realDelays, flowControl: true, workers: workers,
	}
}

func (b *bench) turns(ctx context.Context, p *plane, workers int) error {
	g, err := b.startCounted(ctx, p, inProcess(workers, inLeases))
	if err != nil {
		return err
	}
	defer g.abandon()
	if err := g.rest(ctx); err != nil {
		return err
	}
	g.calm = calm
	places, times := []string{onPods, inLeases}, b.restarts
	if workers > besideUpTo {
		times = min(times, fewRestarts)
	}
	for range times {
		for _, g.reports = range places {
			g.fleet.noLeases.Store(g.reports == onPods)
			if err := b.repeat(ctx, g, 1); err != nil {
				return err
			}
		}
		slices.Reverse(places) // neither always comes first
	}
	if workers == besideUpTo {
		for _, g.reports = range places {
			g.fleet.noLeases.Store(g.reports == onPods)
			if err := b.profile(ctx, g); err != nil {
				return err
			}
		}
	}
	of, err := residents()
	b.resided = append(b.resided, residence{g.scenario, of})
	return err
}

func (b *bench) startOnly(ctx context.Context, p *plane, workers int) error {
	g, err := b.startCounted(ctx, p, inProcess(workers, onPods))
	if err == nil {
		g.abandon()
	}
	return err
}

// startCounted starts a group and counts what its start costs.
func (b *bench) startCounted(ctx context.Context, p *plane, s scenario) (*group, error) {
	if err := p.useReports(ctx, s.reports); err != nil {
		return nil, err
	}
	if err := p.useFlowControl(ctx, s.flowControl); err != nil {
		return nil, err
	}
	g, err := p.prepare(ctx, s)
	if err != nil {
		return nil, err
	}
	err = b.step(ctx, g, fmt.Sprintf("%d workers start, reports: %s", s.workers, s.reports), s.workers, "", func() error {
		jobs := b.jobs
		for s.workers%jobs != 0 {
			jobs--
		}
		return g.create(ctx, jobSetOf(s, int32(jobs), int32(s.workers/jobs)))
	})
	if err != nil {
		g.abandon()
		return nil, err
	}
	b.starts = append(b.starts, groupStart{s, b.steps[len(b.steps)-1]})
	return g, nil
}

// groupStart is the start of a group of one size, and what it cost.
type groupStart struct {
	scenario
	step
}

func (b *bench) recreateFew(ctx context.Context, p *plane, workers int) error {
	g, err := p.bringUp(ctx, scenario{strategy: jobset.Recreate, limits: tunedLimits.name, delays: realDelays, workers: workers}, b.jobs)
	if err != nil {
		return err
	}
	defer g.abandon()
	return b.repeat(ctx, g, min(b.restarts, fewRestarts))
}
