/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command bench measures what JobSet costs, and how fast it is. See docs/performance.md for what the figures mean.
//
//	bench start     what the controller uses to bring a JobSet up; fails if that grows faster than the number of Jobs
//	bench rest      what it uses for JobSets that run, and for heartbeats of nodes
//	bench lost      what it uses to replace workers on lost nodes
//	bench restart   how long a group takes to run again after one worker failed, and what that costs: with
//	                InPlaceRestart in one mode or both, and with Recreate on the same control plane
//
// Processes, all of this machine:
//
//	etcd, kube-apiserver                       real, from KUBEBUILDER_ASSETS
//	bench                                      start, rest: creates JobSets and plays the Job controller
//	                                           restart: simulated nodes; in them agents and supervisors,
//	                                           their own code, and workers that do nothing
//	bench controller                           start, rest: the controller alone, which is measured
//	kube-controller-manager, kube-scheduler    restart: real ones
//	manager                                    restart: bin/manager as it ships
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
)

// commands add their flags and return what they do.
var commands = map[string]func() func(context.Context) error{
	"start": startCommand, "rest": restCommand, "lost": lostCommand, "restart": restartCommand, "controller": controllerCommand,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("usage: bench start|rest|lost|restart [flags], see test/bench/main.go")
	}
	command := commands[args[0]]()
	_ = flag.CommandLine.Parse(args[1:]) // it exits if it fails
	if args[0] != "controller" {
		klog.SetLogger(logr.Discard())
		ctrl.SetLogger(logr.Discard())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return command(ctx)
}
