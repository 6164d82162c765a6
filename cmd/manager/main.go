/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command manager runs the JobSet controller and its webhooks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"sigs.k8s.io/jobset/pkg/version"
)

func main() {
	os.Exit(start(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr))
}

// start is main without the process: it returns the exit code.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if opts.version {
		fmt.Fprintln(stdout, version.String())
		return 0
	}

	stderr = zapcore.Lock(zapcore.AddSync(stderr)) // zap locks no writer itself
	log := zap.New(zap.UseFlagOptions(&opts.zap), zap.WriteTo(stderr))
	// Libraries log through these two; our own code uses the logger of its context.
	ctrl.SetLogger(log)
	klog.SetLogger(log)

	if err := run(ctrl.LoggerInto(ctx, log), opts); err != nil {
		withoutStack(opts.zap, stderr).Error(err, "The manager stops")
		return 1
	}
	return 0
}

// withoutStack logs an error in one line. The stack to main does not help, and would
// displace the error in the termination message of the Pod.
func withoutStack(opts zap.Options, stderr io.Writer) logr.Logger {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	opts.BindFlags(fs)
	_ = fs.Set("zap-stacktrace-level", "panic") // BindFlags defines this flag and value
	return zap.New(zap.UseFlagOptions(&opts), zap.WriteTo(stderr))
}
