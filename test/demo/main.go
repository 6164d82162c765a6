/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command demo shows an in-place restart from nothing: it starts a Kubernetes
// control plane on this machine, two simulated nodes that run Pods as
// processes, and the manager; creates the JobSet of config/samples with two
// workers; kills one of them; and says what happened. It ends with 0 only if
// both workers run again in the Pods they were in and nothing is left behind.
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
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

type options struct {
	assets, root, manager, agent, supervisor, worker string
	keep                                             bool
	// logLevel is that of the manager, whose log is kept if it is not 0.
	logLevel int
}

func main() {
	var o options
	flag.StringVar(&o.assets, "assets", os.Getenv("KUBEBUILDER_ASSETS"), "directory of etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl")
	flag.StringVar(&o.root, "root", ".", "root of this repository")
	flag.StringVar(&o.manager, "manager", "bin/manager", "the manager binary")
	flag.StringVar(&o.agent, "agent", "bin/agent", "the agent binary")
	flag.StringVar(&o.supervisor, "supervisor", "bin/supervisor", "the supervisor binary")
	flag.StringVar(&o.worker, "worker", "bin/worker", "the worker binary")
	flag.BoolVar(&o.keep, "keep", false, "leave the cluster running until interrupted")
	flag.IntVar(&o.logLevel, "log-level", 0, "level of the manager's log, which is copied to bin/demo-manager.log if it is not 0")
	flag.Parse()

	// Libraries would log between the lines of the demo.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	if err := run(o); err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		os.Exit(1)
	}
	fmt.Println("\nThe demo succeeded.")
}

func run(o options) error {
	if o.assets == "" {
		return errors.New("no control plane: run `make demo`, which builds it, or set KUBEBUILDER_ASSETS")
	}
	for _, path := range []*string{&o.assets, &o.root, &o.manager, &o.agent, &o.supervisor, &o.worker} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("finding %s: %w", *path, err)
		}
		*path = absolute
	}
	dir, err := os.MkdirTemp("", "jobset-demo-")
	if err != nil {
		return fmt.Errorf("creating a directory for the demo: %w", err)
	}
	marker, err := markChildren(dir)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	d := &demo{options: o, dir: dir, marker: marker, began: time.Now()}
	failed := d.run(ctx)
	cancel() // no watch may stay open: the API server would wait for it
	err = errors.Join(failed, d.end())
	if err != nil {
		return fmt.Errorf("%w\nlogs are in %s", err, dir)
	}
	return errors.Join(d.keepLog(), os.RemoveAll(dir))
}
