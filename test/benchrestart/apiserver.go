/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/test/process"
)

const apiServer = "kube-apiserver"

// restartAPIServer kills kube-apiserver and starts it again as it was, on the same port.
func (p *plane) restartAPIServer(ctx context.Context) error {
	all, err := process.Children()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(c process.Child) bool { return c.Name == apiServer })
	if i < 0 {
		return errors.New("kube-apiserver does not run")
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", all[i].PID))
	if err != nil {
		return fmt.Errorf("reading how kube-apiserver was started: %w", err)
	}
	args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	if err := syscall.Kill(all[i].PID, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing kube-apiserver: %w", err)
	}
	err = await(ctx, "kube-apiserver has ended", time.Minute, func() (bool, error) {
		return errors.Is(syscall.Kill(all[i].PID, 0), syscall.ESRCH), nil
	})
	if err != nil {
		return err
	}
	p.again, err = process.Start(process.Command{Dir: p.dir, Name: apiServer, Program: args[0], Args: args[1:]})
	if err != nil {
		return err
	}
	return await(ctx, "kube-apiserver is ready", patience, func() (bool, error) {
		_, err := p.Client.CoreV1().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil, nil //nolint:nilerr // not up yet
	})
}
