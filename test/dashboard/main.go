/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command dashboard shows that no panel of the Grafana dashboard is empty: it starts a control
// plane and a manager on this machine, lets JobSets run, restart, fail, complete and resize, reads the
// metrics of the manager every second as Prometheus would, and runs every query of the dashboard on
// them with the engine of Prometheus, by promtool. A query without a result, or only NaN, fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/jobset/test/cluster"
)

type options struct {
	cluster.Programs
	dashboard, promtool string
}

func main() {
	var o options
	o.Flags()
	flag.StringVar(&o.dashboard, "dashboard", "config/components/grafana/jobset.json", "the dashboard")
	flag.StringVar(&o.promtool, "promtool", "bin/tools/promtool", "the promtool binary")
	flag.Parse()

	// Libraries would log between our lines.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	promtool, err := filepath.Abs(o.promtool)
	if err != nil {
		return fmt.Errorf("finding promtool: %w", err)
	}
	o.promtool = promtool
	text, err := os.ReadFile(o.dashboard)
	if err != nil {
		return fmt.Errorf("reading the dashboard: %w", err)
	}
	queries, err := queriesOf(text)
	if err != nil {
		return fmt.Errorf("%s: %w", o.dashboard, err)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	scrapes, err := runScene(ctx, o)
	if err != nil {
		return err
	}
	samples := newRecording(scrapes)
	if missing := samples.missing(queries); len(missing) > 0 {
		return fmt.Errorf("the manager does not have these metrics of the dashboard: %v", missing)
	}
	return evaluate(ctx, o, queries, samples)
}

// evaluate runs the queries with promtool.
func evaluate(ctx context.Context, o options, queries []query, r *recording) error {
	dir, err := os.MkdirTemp("", "jobset-dashboard-")
	if err != nil {
		return fmt.Errorf("creating a directory: %w", err)
	}
	file := filepath.Join(dir, "queries_test.yaml")
	if err := os.WriteFile(file, ruleTest(queries, r), 0o600); err != nil {
		return fmt.Errorf("writing the queries: %w", err)
	}
	command := exec.CommandContext(ctx, o.promtool, "test", "rules", file)
	out, err := command.CombinedOutput()
	if err != nil {
		return errors.Join(fmt.Errorf("these queries have no result (1 is expected where there is one); the test is %s:\n%s", file, out), err)
	}
	fmt.Printf("every one of %d queries has a result, on %d series that were scraped %d times\n", len(queries), len(r.series), r.scrapes)
	return os.RemoveAll(dir)
}
