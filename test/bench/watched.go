/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"sigs.k8s.io/jobset/test/process"
)

// watchedGroup is what a group whose workers give signs of life asks of the API server while nothing happens (P137).
type watchedGroup struct {
	scenario
	lasted time.Duration
	// reports are those of agents, reporters by how many of them; watches are those that agents began, which they renew
	// whether anybody watches their workers or not; others are all their other requests.
	reports, reporters, watches, others int
	// wakes are the calls of the controller, statusWrites its writes.
	wakes, statusWrites int
	// cpu is that of all processes for each second, in milliseconds.
	cpu float64
}

// watch looks at a group for as long as was asked for, if its workers give signs.
func (b *bench) watch(ctx context.Context, g *group) error {
	if !g.watched || b.watchFor <= 0 {
		return nil
	}
	w := watchedGroup{scenario: g.scenario, lasted: b.watchFor}
	fmt.Printf("  watched for %s\n", w.lasted)
	before, err := g.usage(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := process.Pause(ctx, w.lasted); err != nil {
		return err
	}
	ended := time.Now()
	after, err := g.usage(ctx)
	if err != nil {
		return err
	}
	if err := process.Pause(ctx, settling); err != nil { // the audit log comes later
		return err
	}
	counted, err := g.audit.count(began, ended)
	if err != nil {
		return err
	}
	w.reporters = len(counted.reporters)
	for ask, at := range counted.by {
		switch {
		case ask.client != agentClient:
		case ask.kind == report:
			w.reports += len(at)
		case ask.kind == "watch jobsets":
			w.watches += len(at)
		default:
			w.others += len(at)
		}
	}
	used := after.less(before, 1)
	w.wakes, w.statusWrites = int(used.manager.wakes), counted.of(managerClient, statusWrite)
	for _, cpu := range used.cpu {
		w.cpu += 1000 * cpu / w.lasted.Seconds()
	}
	b.watched = append(b.watched, w)
	fmt.Printf("  %d reports by %d agents, %d watches renewed, %d other requests of agents, %d calls of the controller\n", w.reports, w.reporters, w.watches, w.others, w.wakes)
	return nil
}

// problem says what of it is too much, "" if nothing is: rank 0 of the one ReplicatedJob may write once a minute, nobody else may
// ask for anything, and no pass may follow.
func (w *watchedGroup) problem() string {
	most := int(w.lasted/time.Minute) + 1 // one more if the time begins and ends in a minute
	if w.lasted%time.Minute == 0 {
		most--
	}
	if w.reports <= most && w.reporters <= 1 && w.others == 0 && w.wakes == 0 && w.statusWrites == 0 {
		return ""
	}
	return fmt.Sprintf("%d watched workers in %s: %d reports by %d agents, at most %d by one may be; %d other requests of agents, %d calls of the controller and %d writes of the status, none may be",
		w.workers, w.lasted, w.reports, w.reporters, most, w.others, w.wakes, w.statusWrites)
}

func (b *bench) printWatched(out io.Writer) {
	if len(b.watched) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## Groups that only run, with signs of life\n\nReports are patches of a Pod or Lease. Watches are renewed without signs, too.\n\n")
	row(out, "workers", "seconds", "reports", "by agents", "watches renewed", "other requests of agents", "calls of the controller", "writes of the status", "CPU of all processes, ms a second")
	rule(out, 9)
	for _, w := range b.watched {
		row(out, w.workers, whole(w.lasted.Seconds()), w.reports, w.reporters, w.watches, w.others, w.wakes, w.statusWrites, one(w.cpu))
	}
}
