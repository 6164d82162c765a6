/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// shortestProfile is how long kube-apiserver is profiled at least.
const shortestProfile = 10 * time.Second

// profile takes a CPU profile of kube-apiserver while the group restarts, again and again until it has been taken.
// These restarts are not counted, because being profiled costs CPU.
func (b *bench) profile(ctx context.Context, g *group) error {
	if b.profiles == "" || len(b.results) == 0 {
		return nil
	}
	if err := os.MkdirAll(b.profiles, 0o755); err != nil {
		return fmt.Errorf("making the directory of profiles: %w", err)
	}
	length := max(shortestProfile, b.results[len(b.results)-1].lastWorker)
	file := filepath.Join(b.profiles, fmt.Sprintf("%s-%s.pprof", g.id(), g.delays))
	taken := make(chan error, 1)
	go func() {
		raw, err := g.Client.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/profile").
			Param("seconds", strconv.Itoa(int(length.Seconds())+1)).DoRaw(ctx)
		if err == nil {
			err = os.WriteFile(file, raw, 0o600)
		}
		taken <- err
	}()
	for {
		if _, err := g.restart(ctx); err != nil {
			return fmt.Errorf("restart to be profiled: %w", err)
		}
		select {
		case err := <-taken:
			if err != nil {
				return fmt.Errorf("profiling kube-apiserver: %w", err)
			}
			fmt.Println("  profile of kube-apiserver: " + file)
			return nil
		default:
		}
	}
}
