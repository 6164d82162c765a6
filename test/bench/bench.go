/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"sigs.k8s.io/jobset/test/process"
)

// bench is one run over all scenarios.
type bench struct {
	options
	began   conditions
	results []result
	steps   []step
	starts  []groupStart
	// watched are groups that were watched at rest.
	watched []watchedGroup
	// resided is what was in memory at the end of each group.
	resided []residence
	// agents are of the largest number of workers.
	agents []agentProcess
	// planes counts control planes that were started for a part alone.
	planes int
}

// conditions are when and how busy the machine was.
type conditions struct {
	at   time.Time
	load string
}

func now() conditions {
	load, _ := os.ReadFile("/proc/loadavg") // empty where there is none
	fields := strings.Fields(string(load))
	return conditions{at: time.Now().UTC(), load: strings.Join(fields[:min(3, len(fields))], " ")}
}

func (b *bench) measure(ctx context.Context, dir string) error {
	switch {
	case b.cases != "":
		return b.measureScale(ctx, dir)
	case b.mode == modeTurns:
		return b.measureTurns(ctx, dir)
	}
	return b.onPlane(ctx, dir, b.groups)
}

// onOwnPlane measures something on a control plane that nothing else was on: nothing of what was before is in memory.
func (b *bench) onOwnPlane(ctx context.Context, dir string, measure func(context.Context, *plane) error) error {
	b.planes++
	below := filepath.Join(dir, fmt.Sprint(b.planes))
	if err := os.Mkdir(below, 0o700); err != nil {
		return fmt.Errorf("making a directory for logs: %w", err)
	}
	return b.onPlane(ctx, below, measure)
}

// onPlane measures something on a control plane of its own.
func (b *bench) onPlane(ctx context.Context, dir string, measure func(context.Context, *plane) error) (err error) {
	p, err := startPlane(ctx, b.options, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := p.accountExists(ctx); err != nil {
		return err
	}
	return measure(ctx, p)
}

// groups measures restarts of one group of each number of workers.
func (b *bench) groups(ctx context.Context, p *plane) error {
	for _, n := range b.workers {
		for _, mode := range b.modes(n) {
			for _, s := range b.scenarios(mode, n) {
				if err := p.useReports(ctx, s.reports); err != nil {
					return err
				}
				if err := b.inPlace(ctx, p, s); err != nil {
					return fmt.Errorf("InPlaceRestart of %d workers, mode %s: %w", n, mode, err)
				}
			}
		}
		if b.only != string(jobset.InPlaceRestart) && b.only != modeProcess && b.only != modeContainer && (b.mode == modeContainer || b.mode == modeProcess && n <= besideUpTo) {
			if err := b.recreate(ctx, p, n); err != nil {
				return fmt.Errorf("recreating %d workers: %w", n, err)
			}
		}
	}
	return nil
}

// scenarios are those of a mode: in process mode for each place of reports, each without and with signs of life as was asked for.
func (b *bench) scenarios(mode jobset.InPlaceRestartMode, workers int) (all []scenario) {
	s := scenario{strategy: jobset.InPlaceRestart, mode: mode, limits: tunedLimits.name, workers: workers}
	if mode != jobset.ProcessMode {
		return []scenario{s}
	}
	for _, s.reports = range strings.Fields(b.reports) {
		for _, progress := range strings.Fields(b.progress) {
			s.watched = progress == progressOn
			all = append(all, s)
		}
	}
	return all
}

// besideUpTo is up to how many workers process mode is measured beside the slower ways to restart, which
// take minutes for each restart of more.
const besideUpTo = 1000

// modes are those that are measured with this many workers.
func (b *bench) modes(workers int) []jobset.InPlaceRestartMode {
	switch {
	case b.only == string(jobset.Recreate):
		return nil
	case b.only == modeProcess:
		return []jobset.InPlaceRestartMode{jobset.ProcessMode}
	case b.mode == modeContainer || b.only == modeContainer:
		return []jobset.InPlaceRestartMode{jobset.ContainerMode}
	case b.mode == modeProcess && workers > besideUpTo:
		return []jobset.InPlaceRestartMode{jobset.ProcessMode}
	}
	return []jobset.InPlaceRestartMode{jobset.ProcessMode, jobset.ContainerMode}
}

// inPlace measures without delays and with those of a kubelet, in each case without and with the
// shipped flow control. A restart in process mode asks no kubelet, so where that is measured the
// delays are always those of one.
func (b *bench) inPlace(ctx context.Context, p *plane, s scenario) error {
	kinds := []delays{noDelays, realDelays}
	if b.mode == modeProcess || s.mode == jobset.ProcessMode {
		kinds = kinds[1:]
	}
	for _, s.delays = range kinds {
		err := b.with(ctx, p, s, func(g *group) error {
			if err := b.watch(ctx, g); err != nil {
				return err
			}
			if err := errors.Join(b.repeat(ctx, g, b.restarts), b.profile(ctx, g)); err != nil {
				return err
			}
			g.flowControl = true
			err := p.useFlowControl(ctx, true)
			if err == nil {
				err = b.repeat(ctx, g, b.restarts)
			}
			return errors.Join(err, b.memory(ctx, g), p.useFlowControl(ctx, false))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recreate measures with the delays of a kubelet, with tuned controllers and then with default ones.
func (b *bench) recreate(ctx context.Context, p *plane, workers int) error {
	s := scenario{strategy: jobset.Recreate, limits: tunedLimits.name, delays: realDelays, workers: workers}
	return b.with(ctx, p, s, func(g *group) error {
		if err := b.repeat(ctx, g, b.restarts); err != nil {
			return err
		}
		if b.defaultRestarts == 0 || b.mode == modeProcess {
			return nil
		}
		g.limits = defaultLimits.name
		err := errors.Join(p.startControllers(defaultLimits), process.Pause(ctx, warmingUp))
		if err == nil {
			err = b.repeat(ctx, g, b.defaultRestarts)
		}
		return errors.Join(err, p.startControllers(tunedLimits), process.Pause(ctx, warmingUp))
	})
}

// warmingUp is how long controllers that were started again are given to fill their caches.
const warmingUp = 15 * time.Second

// with brings a group up, does something with it and takes it down.
func (b *bench) with(ctx context.Context, p *plane, s scenario, do func(*group) error) error {
	fmt.Printf("%s, %d workers, delays %s: bring up\n", s.what(), s.workers, s.delays)
	g, err := p.bringUp(ctx, s, b.jobs)
	if err != nil {
		return err
	}
	if err := do(g); err != nil {
		g.abandon()
		return err
	}
	if err := g.takeDown(ctx); err != nil {
		g.abandon()
		return err
	}
	return nil
}

func (b *bench) repeat(ctx context.Context, g *group, times int) error {
	for i := range times {
		r, err := g.restart(ctx)
		if err != nil {
			return fmt.Errorf("restart %d: %w", i+1, err)
		}
		b.results = append(b.results, r)
		fmt.Printf("  %s, controllers %s, delays %s, flow control %t: last worker after %s, manager %.2f s CPU, %d requests, load %s\n",
			g.what(), g.limits, g.delays, g.flowControl, seconds(r.lastWorker.Seconds()), r.used.manager.cpu, r.requests.total(), now().load)
	}
	return nil
}

// residence is what was in memory while a group ran, in bytes by process.
type residence struct {
	scenario
	of map[string]float64
}

// memory looks at what resides in memory now.
func (b *bench) memory(ctx context.Context, g *group) error {
	of, err := residents()
	if err != nil {
		return err
	}
	b.resided = append(b.resided, residence{g.scenario, of})
	b.agents = nil
	for range b.restarts {
		one, err := g.runAgent(ctx)
		if err != nil {
			return err
		}
		b.agents = append(b.agents, one)
	}
	return nil
}
