/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command benchrestart measures how long a group takes to run again after one worker failed, and
// what that costs: with InPlaceRestart in one mode or both, and with Recreate on the same control plane.
//
// Processes, all of this machine:
//
//	etcd, kube-apiserver, kube-controller-manager, kube-scheduler   real, from KUBEBUILDER_ASSETS
//	manager                                                         bin/manager as it ships
//	benchrestart                                                    simulated nodes; in them agents and supervisors,
//	                                                                their own code, and workers that do nothing
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
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/jobset/test/sizes"
)

type options struct {
	assets, root               string
	managerBinary, agentBinary string
	workers                    sizes.Sizes
	jobs                       int
	restarts, defaultRestarts  int
	only, mode, delays, report string
	profiles                   string
	keep                       bool
	scale
}

// The values of --mode.
const (
	modeContainer = "container"
	modeProcess   = "process"
	modeBoth      = "both"
)

func main() {
	o := options{workers: sizes.Sizes{100, 500, 1000}}
	flag.StringVar(&o.assets, "assets", os.Getenv("KUBEBUILDER_ASSETS"), "directory of the control plane's binaries")
	flag.StringVar(&o.root, "root", ".", "root of this repository")
	flag.StringVar(&o.managerBinary, "manager", "bin/manager", "the manager binary")
	flag.StringVar(&o.agentBinary, "agent", "bin/agent", "the agent binary")
	flag.Var(&o.workers, "workers", "numbers of workers to measure")
	flag.IntVar(&o.jobs, "jobs", 10, "number of Jobs that the workers are spread over")
	flag.IntVar(&o.restarts, "restarts", 5, "restarts of each kind")
	flag.IntVar(&o.defaultRestarts, "default-restarts", 5, "restarts with Recreate and the default limits of kube-controller-manager; 0 leaves them out")
	flag.StringVar(&o.only, "only", "", "measure only InPlaceRestart, only Recreate, or only one mode: container or process")
	flag.StringVar(&o.mode, "mode", modeContainer, "container; process: process mode beside container mode and a tuned Recreate; or both: both modes, at any size, without Recreate")
	flag.StringVar(&o.delays, "delays", "", "measure InPlaceRestart only with the delays of a kubelet, kubelet, or only without, zero")
	flag.StringVar(&o.report, "report", "bin/bench-restart.md", "file to write")
	flag.StringVar(&o.profiles, "profiles", "", "directory for CPU profiles of kube-apiserver, of one more restart of each group")
	o.scale.flags()
	flag.BoolVar(&o.keep, "keep-logs", false, "keep the logs of all processes")
	flag.Parse()

	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	if err := o.check(); err != nil {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench-restart: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (o *options) check() error {
	switch {
	case o.assets == "":
		return errors.New("no control plane: run `make bench-restart`, which builds it, or set KUBEBUILDER_ASSETS")
	case o.restarts < 1 || o.defaultRestarts < 0:
		return errors.New("--restarts must be at least 1, --default-restarts at least 0")
	case o.only != "" && o.only != "InPlaceRestart" && o.only != "Recreate" && o.only != modeProcess && o.only != modeContainer:
		return errors.New("--only must be InPlaceRestart, Recreate, container or process")
	case o.mode != modeContainer && o.mode != modeProcess && o.mode != modeBoth:
		return errors.New("--mode must be container, process or both")
	case o.delays != "" && o.delays != string(realDelays) && o.delays != string(noDelays):
		return errors.New("--delays must be kubelet or zero")
	}
	if err := o.scale.check(); err != nil {
		return err
	}
	for _, n := range o.workers {
		if o.jobs < 1 || n%o.jobs != 0 {
			return fmt.Errorf("%d workers cannot be spread evenly over %d Jobs", n, o.jobs)
		}
	}
	for _, path := range []*string{&o.assets, &o.root, &o.managerBinary, &o.agentBinary} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("finding %s: %w", *path, err)
		}
		*path = absolute
	}
	return nil
}

func run(ctx context.Context, o options) error {
	raiseOpenFiles()
	dir, err := os.MkdirTemp("", "jbr-") // short, because the sockets of Pods are below it
	if err != nil {
		return fmt.Errorf("making a directory for logs: %w", err)
	}
	b := &bench{options: o, began: now()}
	err = b.measure(ctx, dir)
	if len(b.results)+len(b.steps) > 0 {
		err = errors.Join(err, b.writeReport())
	}
	if err != nil || o.keep {
		fmt.Fprintf(os.Stderr, "logs are in %s\n", dir)
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing logs: %w", err)
	}
	return b.verdict()
}
