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
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/jobset/test/cluster"
)

type options struct {
	cluster.Programs
	keep bool
	// logLevel is that of the manager, whose log is kept if it is not 0.
	logLevel int
	// picture is a file for a picture of the restart, empty for none.
	picture string
}

func main() {
	var o options
	o.Flags()
	flag.BoolVar(&o.keep, "keep", false, "leave the cluster running until interrupted")
	flag.IntVar(&o.logLevel, "log-level", 0, "level of the manager's log, which is copied to bin/demo-manager.log if it is not 0")
	flag.StringVar(&o.picture, "picture", "", "write a picture of the restart, in SVG, to this file")
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
	if err := o.Absolute("demo"); err != nil {
		return err
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
	err = errors.Join(failed, d.end())
	if err != nil {
		return fmt.Errorf("%w\nlogs are in %s", err, dir)
	}
	return errors.Join(d.keepLog(), os.RemoveAll(dir))
}
