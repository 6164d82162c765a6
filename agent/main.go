/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"sigs.k8s.io/jobset/supervisor/setting"
)

// memoryLimit is a soft limit for the memory of the Go runtime, without the pages of the
// binary, about 7 MiB.
const memoryLimit = 10 << 20

// Main is the agent as a process: settings from the environment, signals, log lines on
// stderr. It returns the exit code.
func Main(args []string) int {
	// Decoding a JobSet of nearly a megabyte at each change would let the heap grow past
	// the budget (P38) before the garbage collector runs.
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(memoryLimit)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	// Early: PID 1 receives only signals that it has a handler for.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	go func() {
		if number, ok := (<-signals).(syscall.Signal); ok {
			cancel(stopSignal{number})
		}
	}()
	return run(ctx, args, os.LookupEnv, os.Stderr)
}

func run(ctx context.Context, args []string, lookup func(string) (string, bool), stderr io.Writer) int {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	// client-go logs through klog.
	klog.SetSlogLogger(log)
	cfg, outcome, err := start(ctx, args, lookup, log)
	if err != nil {
		setting.Tell(stderr, "jobset-agent", err)
	}
	return exitCode(cfg, outcome, err)
}

func start(ctx context.Context, args []string, lookup func(string) (string, bool), log *slog.Logger) (Config, Outcome, error) {
	if len(args) > 0 {
		return Config{}, Outcome{}, &setting.Error{
			Setting: "args", Problem: fmt.Sprintf("are %q, but the agent takes none", args),
			Fix: "remove them from the agent's container; all its settings are environment variables",
		}
	}
	cfg, err := FromEnv(lookup)
	if err != nil {
		return cfg, Outcome{}, err
	}
	deps := Deps{Log: log}
	if len(cfg.Containers) == 0 {
		// Before credentials are read: a probe that arrives meanwhile waits for the lift
		// like any other.
		barrier := NewProbeBarrier(cfg.BarrierAddress, cfg.BarrierPort)
		if err := barrier.Listen(); err != nil {
			return cfg, Outcome{}, err
		}
		defer barrier.Close()
		deps.Barrier = barrier
	}
	if deps.API, err = connection(cfg); err != nil {
		return cfg, Outcome{}, err
	}
	outcome, err := Run(ctx, cfg, deps)
	return cfg, outcome, err
}

// connection returns how to reach the API server: by a kubeconfig, else by the Pod's service account.
func connection(cfg Config) (*rest.Config, error) {
	api, err := rest.InClusterConfig()
	what := "the Pod's service account"
	fix := "set automountServiceAccountToken: true and a serviceAccountName in the Pod spec, or " + envKubeconfig + " in the agent's env"
	if cfg.Kubeconfig != "" {
		api, err = clientcmd.BuildConfigFromFlags("", cfg.Kubeconfig)
		what, fix = envKubeconfig, "set the path of one kubeconfig file, or leave it out to use the Pod's service account"
	}
	if err != nil {
		return nil, &setting.Error{Setting: what, Problem: fmt.Sprintf("cannot be used: %v", err), Fix: fix}
	}
	return api, nil
}
