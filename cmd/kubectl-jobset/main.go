/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command kubectl-jobset is a plugin of kubectl: on PATH, it is `kubectl jobset`.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/pkg/restarts"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	if err := newRoot(streams).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", restarts.Printable(err.Error()))
		return 1
	}
	return 0
}
