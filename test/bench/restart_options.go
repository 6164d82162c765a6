/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/test/cluster"
)

type options struct {
	cluster.Programs
	workers                   sizes
	jobs                      int
	restarts, defaultRestarts int
	only, mode, report        string
	reports, progress         string
	watchFor                  time.Duration
	profiles, history         string
	scale
}

// The values of --mode.
const (
	modeContainer = "container"
	modeProcess   = "process"
	modeBoth      = "both"
	modeTurns     = "turns"
)

// The words of --progress.
const progressOff, progressOn = "off", "on"

func restartCommand() func(context.Context) error {
	o := options{workers: sizes{100, 500, 1000}}
	o.Flags()
	flag.Var(&o.workers, "workers", "numbers of workers to measure")
	flag.IntVar(&o.jobs, "jobs", 10, "number of Jobs that the workers are spread over")
	flag.IntVar(&o.restarts, "restarts", 5, "restarts of each kind")
	flag.IntVar(&o.defaultRestarts, "default-restarts", 5, "restarts with Recreate and the default limits of kube-controller-manager; 0 leaves them out")
	flag.StringVar(&o.only, "only", "", "measure only InPlaceRestart, only Recreate, or only one mode: container or process")
	flag.StringVar(&o.mode, "mode", modeContainer, "container; process: process mode beside container mode and a tuned Recreate; both: both modes, at any size, without Recreate; or turns: process mode with reports on Pods and in Leases in turns")
	flag.StringVar(&o.reports, "reports", string(configapi.ReportsAuto), "where agents in process mode report: Auto, Pod or Lease; several, separated by spaces, are measured one after the other")
	flag.StringVar(&o.progress, "progress", progressOff, "whether workers in process mode give signs of life: off, on, or both, separated by a space, one after the other")
	flag.DurationVar(&o.watchFor, "watch-for", 0, "how long a group whose workers give signs is watched before its restarts; fails if more is asked of the API server than rank 0 may")
	flag.StringVar(&o.report, "report", "bin/bench-restart.md", "file to write")
	flag.StringVar(&o.profiles, "profiles", "", "directory for CPU profiles of kube-apiserver, of one more restart of each group")
	flag.StringVar(&o.history, "history", "", historyHelp)
	o.scale.flags()
	return func(ctx context.Context) error {
		if err := o.check(); err != nil {
			return err
		}
		return measureRestarts(ctx, o)
	}
}

func (o *options) check() error {
	switch {
	case o.restarts < 1 || o.defaultRestarts < 0:
		return errors.New("--restarts must be at least 1, --default-restarts at least 0")
	case o.only != "" && o.only != "InPlaceRestart" && o.only != "Recreate" && o.only != modeProcess && o.only != modeContainer:
		return errors.New("--only must be InPlaceRestart, Recreate, container or process")
	case o.mode != modeContainer && o.mode != modeProcess && o.mode != modeBoth && o.mode != modeTurns:
		return errors.New("--mode must be container, process, both or turns")
	case slices.ContainsFunc(strings.Fields(o.progress), func(word string) bool { return word != progressOff && word != progressOn }) || o.progress == "":
		return errors.New("--progress must be off, on or both words")
	}
	if err := o.scale.check(); err != nil {
		return err
	}
	for _, n := range o.workers {
		if o.jobs < 1 || n%o.jobs != 0 && o.mode != modeTurns {
			return fmt.Errorf("%d workers cannot be spread evenly over %d Jobs", n, o.jobs)
		}
	}
	return o.Absolute("bench-restart")
}

func measureRestarts(ctx context.Context, o options) error {
	raiseOpenFiles()
	dir, err := os.MkdirTemp("", "jbr-") // short, because the sockets of Pods are below it
	if err != nil {
		return fmt.Errorf("making a directory for logs: %w", err)
	}
	b := &bench{options: o, began: now()}
	err = b.measure(ctx, dir)
	if len(b.results)+len(b.steps)+len(b.watched) > 0 {
		err = errors.Join(err, b.writeReport(), history(o.history).add(ctx, b.command(), append(figuresOfRestart(seriesOf(b.results)), figuresOfStarts(b.starts)...)))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "logs are in %s\n", dir)
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing logs: %w", err)
	}
	return b.verdict()
}
