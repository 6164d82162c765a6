/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// history is the table of figures, to which each run of a benchmark appends; "" is none. The last line of an id is what
// pages cite, and earlier ones are what was before: see hack/docs.
type history string

const historyHelp = "table of figures to append to, with the commit; empty for none"

// figure is a median, with what says how far others were from it.
type figure struct {
	id     string
	value  float64
	unit   string
	spread string
}

// add appends figures of this commit. None is a figure of a cluster: a part of all that is measured here is played.
func (h history) add(ctx context.Context, command string, figures []figure) error {
	if h == "" || len(figures) == 0 {
		return nil
	}
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--exclude=*", "--abbrev=7", "--dirty").Output()
	if err != nil {
		return fmt.Errorf("asking git for the commit, which the table of figures has: %w", err)
	}
	moment := now()
	var lines strings.Builder
	for _, f := range figures {
		fmt.Fprintln(&lines, strings.Join([]string{
			f.id, fmt.Sprintf("%.2f", f.value), f.unit, f.spread, "simulated", moment.at.UTC().Format(time.DateOnly), strings.TrimSpace(string(commit)),
			fmt.Sprintf("%d cores, load %s at the end", runtime.NumCPU(), moment.load), command,
		}, "\t"))
	}
	file, err := os.OpenFile(string(h), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("opening the table of figures, %s: %w", h, err)
	}
	if _, err := file.WriteString(lines.String()); err != nil {
		return fmt.Errorf("appending to the table of figures: %w", err)
	}
	return file.Close()
}

// figuresOfStart are what a Job costs the controller.
func figuresOfStart(medians []startUp) (figures []figure) {
	for _, m := range medians {
		for _, c := range costs[:2] {
			id := map[string]string{"ms": "cpu", "KiB": "memory"}[c.unit]
			figures = append(figures, figure{fmt.Sprintf("bench.start.%s.%d", id, m.jobs), c.perJob(m), c.unit + " a Job", "-"})
		}
	}
	return figures
}

// figuresOfRestart are the times from a failure to the last worker that runs.
func figuresOfRestart(all []series) (figures []figure) {
	for _, s := range all {
		if s.delays != realDelays {
			continue // those show our own share only
		}
		id := "bench.restart." + s.id()
		if !s.inPlace() {
			id += "." + s.limits
		}
		if s.flowControl {
			id += ".flow-control"
		}
		figures = append(figures, figure{id, s.median(total), "s", s.percentiles(total)})
		if s.reports != "" {
			ofWorker := perPod(cpuOf(apiServer))
			figures = append(figures, figure{id + ".cpu", s.median(ofWorker) * 1000, "ms", s.percentiles(func(r result) float64 { return ofWorker(r) * 1000 })})
		}
	}
	return figures
}

// figuresOfStarts are the times from the creation of a JobSet to the last worker that runs, and what a worker costs the API server.
func figuresOfStarts(all []groupStart) (figures []figure) {
	for _, s := range all {
		id := "bench.bring-up." + s.id()
		figures = append(figures, figure{id, s.took.Seconds(), "s", "n=1"},
			figure{id + ".cpu", s.used.cpu[apiServer] * 1000 / float64(s.workers), "ms", "n=1"})
	}
	return figures
}

// id names a scenario in the table of figures.
func (s scenario) id() string {
	parts := []string{string(s.strategy)}
	if s.inPlace() {
		parts[0] = string(s.mode)
	}
	if s.reports != "" {
		parts = append(parts, s.reports)
	}
	return strings.ToLower(strings.Join(append(parts, fmt.Sprint(s.workers)), "."))
}
