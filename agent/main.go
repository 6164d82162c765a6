/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// memoryLimit is a soft limit of what the Go runtime holds; the binary's own pages, some
// 7 MiB, are not part of it.
const memoryLimit = 10 << 20

// Main is the agent as a process: settings from the environment, signals, log lines on
// stderr. It returns the exit code.
func Main(args []string) int {
	// A JobSet of most of a megabyte, decoded at each change, would let the heap grow past
	// the budget (P38) before the garbage collector sees a reason to run.
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(memoryLimit)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	// Early: the first process of a container gets no signal that it does not ask for.
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
	// client-go has few things to say, in a format of its own.
	klog.SetSlogLogger(log)
	cfg, outcome, err := start(ctx, args, lookup, log)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "jobset-agent: "+oneLine(err))
	}
	return exitCode(cfg, outcome, err)
}

func start(ctx context.Context, args []string, lookup func(string) (string, bool), log *slog.Logger) (Config, Outcome, error) {
	if len(args) > 0 {
		return Config{}, Outcome{}, &SettingError{
			Setting: "args", Problem: fmt.Sprintf("are %q, but the agent takes none", args),
			Fix: "remove them from the agent's container; all its settings are environment variables",
		}
	}
	cfg, err := FromEnv(lookup)
	if err != nil {
		return cfg, Outcome{}, err
	}
	api, err := connection(cfg)
	if err != nil {
		return cfg, Outcome{}, err
	}
	outcome, err := Run(ctx, cfg, Deps{
		API:     api,
		Barrier: NewProbeBarrier(cfg.BarrierAddress, cfg.BarrierPort),
		Log:     log,
	})
	return cfg, outcome, err
}

// connection says how to reach the API server: by a kubeconfig, else as the Pod.
func connection(cfg Config) (*rest.Config, error) {
	if cfg.Kubeconfig != "" {
		api, err := clientcmd.BuildConfigFromFlags("", cfg.Kubeconfig)
		if err != nil {
			return nil, &SettingError{
				Setting: envKubeconfig, Problem: fmt.Sprintf("cannot be used: %v", err),
				Fix: "set the path of one kubeconfig file, or leave it out to use the Pod's service account",
			}
		}
		return api, nil
	}
	api, err := rest.InClusterConfig()
	if err != nil {
		return nil, &SettingError{
			Setting: "the Pod's service account", Problem: fmt.Sprintf("cannot be used: %v", err),
			Fix: "set automountServiceAccountToken: true and a serviceAccountName in the Pod spec, or " + envKubeconfig + " in the agent's env",
		}
	}
	return api, nil
}

// oneLine is an error as one line, whatever it joins.
func oneLine(err error) string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return strings.ReplaceAll(err.Error(), "\n", " ")
	}
	var parts []string
	for _, part := range joined.Unwrap() {
		parts = append(parts, oneLine(part))
	}
	return strings.Join(parts, " | ")
}
