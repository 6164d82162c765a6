/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command bench measures what it costs the controller to bring up a JobSet, and
// fails if that grows faster than the number of its Jobs.
//
// Three processes take part, so that what is measured is the controller alone:
//
//	etcd, kube-apiserver   real ones, started from KUBEBUILDER_ASSETS
//	bench                  creates the JobSet, plays the Job controller, asks for samples
//	bench --manager        the controller; this one is measured
//
// See docs/performance.md for what the figures mean.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/jobset/test/sizes"
)

type options struct {
	assets, root string
	jobs         sizes.Sizes
	repeat, rate int
	profiles     string
	// jobSets and nodes, if not 0: measure what so many JobSets cost at rest, above so many nodes.
	jobSets, nodes int
	// tolerant gives the manager the feature gate FaultTolerance.
	tolerant bool
	// manager, a kubeconfig, makes this process the one that is measured.
	manager string
}

func main() {
	o := options{jobs: sizes.Sizes{100, 500, 1000, 2000}}
	flag.StringVar(&o.assets, "assets", os.Getenv("KUBEBUILDER_ASSETS"), "directory of etcd and kube-apiserver")
	flag.StringVar(&o.root, "root", ".", "root of this repository")
	flag.Var(&o.jobs, "jobs", "numbers of Jobs to measure")
	flag.IntVar(&o.repeat, "repeat", 3, "how often each number is measured; the median counts")
	flag.IntVar(&o.rate, "rate", 100, "status updates of Jobs per second, the same for all numbers of Jobs")
	flag.StringVar(&o.profiles, "profiles", "", "directory for CPU and allocation profiles; taking them costs CPU")
	flag.IntVar(&o.jobSets, "rest", 0, "measure this many JobSets at rest, with and without faultTolerance, instead of Jobs")
	flag.IntVar(&o.nodes, "nodes", 0, "with --rest: the number of nodes whose heartbeats are measured")
	flag.BoolVar(&o.tolerant, "tolerant", false, "with --manager: switch FaultTolerance on; used by the benchmark itself")
	flag.StringVar(&o.manager, "manager", "", "run the controller with this kubeconfig; used by the benchmark itself")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.manager != "" {
		exit(manage(ctx, o))
	}
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	exit(run(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, o options) error {
	if o.assets == "" {
		return errors.New("no control plane: run `make bench`, which builds it, or set KUBEBUILDER_ASSETS")
	}
	if o.repeat < 1 || o.rate < 1 {
		return errors.New("--repeat and --rate must be at least 1")
	}
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	if o.jobSets > 0 {
		rows, err := b.rest(ctx)
		printRest(os.Stdout, rows)
		return errors.Join(err, b.stop())
	}
	results, err := b.measureAll(ctx)
	if err := errors.Join(err, b.stop()); err != nil {
		return err
	}
	medians := mediansOf(results)
	printTable(os.Stdout, medians)
	return judge(os.Stdout, medians)
}
