/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
)

// manager is the manager binary, running with the rights that ship for it.
type manager struct {
	process *process.Process
	metrics cluster.Scraper
	// reports is where its agents report, "" for the default.
	reports string
}

// useReports starts the manager again if agents are to report elsewhere.
func (p *plane) useReports(ctx context.Context, reports string) error {
	if reports == "" || reports == p.manager.reports {
		return nil
	}
	return p.restartManager(ctx, reports)
}

// restartManager stops the manager and starts another.
func (p *plane) restartManager(ctx context.Context, reports string) error {
	if err := p.manager.process.Stop(); err != nil {
		return fmt.Errorf("stopping the manager: %w", err)
	}
	var err error
	p.manager, err = p.startManager(ctx, reports)
	return err
}

func (p *plane) startManager(ctx context.Context, reports string) (*manager, error) {
	started, metrics, err := p.StartMeteredManager(ctx, cluster.ManagerOptions{
		Program: p.Programs.Manager, Alone: true,
		Args: []string{"--feature-gates=InPlaceRestart=true"},
		// Restarts follow one another: what is measured is not a pause.
		Config: "inPlaceRestart: {agentImage: " + agentImage + ", quickFailureMaxPause: 0s, reports: \"" + reports + "\"}\n",
	})
	return &manager{started, metrics, reports}, err
}

func (m *manager) use(ctx context.Context) (managerUse, error) {
	text, err := m.metrics.Scrape(ctx)
	if err != nil {
		return managerUse{}, err
	}
	values, err := sumMetrics(strings.NewReader(text))
	if err != nil {
		return managerUse{}, fmt.Errorf("parsing the metrics of the manager: %w", err)
	}
	return managerUse{
		cpu:     values["process_cpu_seconds_total"],
		bytes:   values["go_memstats_alloc_bytes_total"],
		objects: values["go_memstats_mallocs_total"],
		wakes:   values["controller_runtime_reconcile_total/jobset"],
	}, nil
}

// sumMetrics reads metrics as text and sums them up by name, whatever their labels, and by the
// name of the controller behind a slash, where that is a label.
func sumMetrics(text io.Reader) (map[string]float64, error) {
	values := map[string]float64{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		name := line[:strings.IndexAny(line+" ", "{ ")]
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		values[name] += value
		if _, label, labelled := strings.Cut(line, `controller="`); labelled {
			controller, _, _ := strings.Cut(label, `"`)
			values[name+"/"+controller] += value
		}
	}
	return values, lines.Err()
}
