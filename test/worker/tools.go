/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// ready serves the probe of a sidecar that holds nothing back. BARRIER_ADDRESS
// is for nodes whose Pods share one network.
func ready(args []string) error {
	received := ordered(syscall.SIGTERM, syscall.SIGINT)
	port := "8080"
	if len(args) > 0 {
		port = args[0]
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(os.Getenv("BARRIER_ADDRESS"), port))
	if err != nil {
		return fmt.Errorf("serving the probe: %w", err)
	}
	start("sidecar")
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { //nolint:gosec // no timeouts: it lives as long as a test
			w.WriteHeader(http.StatusOK)
		}))
	}()
	obey(<-received)
	return nil
}

// resolve prints "NAME ADDRESS..." per name, as the resolver of the Pod sees it.
func resolve(names []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	for _, name := range names {
		addresses, err := net.DefaultResolver.LookupHost(ctx, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("resolving %s: %w", name, err))
			continue
		}
		fmt.Println(name, strings.Join(addresses, " "))
	}
	return errors.Join(errs...)
}

func token([]string) error {
	content, err := os.ReadFile(tokenFile)
	if err != nil {
		return fmt.Errorf("reading the token: %w", err)
	}
	_, err = os.Stdout.Write(content)
	return err
}

// signalContainers sends a signal to the first process of each container and
// prints when. It finds them all before it signals the first, so that they end
// at one moment.
func signalContainers(args []string) error {
	if len(args) < 2 {
		return errors.New("signal wants a number and container ids")
	}
	number, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("signal wants a number: %w", err)
	}
	var pids []int
	for _, id := range args[1:] {
		pid, err := firstProcess(id)
		if err != nil {
			return err
		}
		pids = append(pids, pid)
	}
	at := time.Now()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.Signal(number)); err != nil {
			return fmt.Errorf("sending signal %d to process %d: %w", number, pid, err)
		}
	}
	fmt.Println(at.UTC().Format(time.RFC3339Nano))
	return nil
}

// firstProcess finds the process that is 1 in the container with this id.
func firstProcess(id string) (int, error) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range processes {
		cgroup, err := os.ReadFile(filepath.Join(dir, "cgroup"))
		if err != nil || !bytes.Contains(cgroup, []byte(id)) {
			continue // gone meanwhile, or of something else
		}
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err == nil && isFirst(string(status)) {
			return strconv.Atoi(filepath.Base(dir))
		}
	}
	return 0, fmt.Errorf("no process of container %s is here", id)
}

// isFirst reads the line "NSpid: 4711 1": ids from the outer namespace to the inner.
func isFirst(status string) bool {
	for line := range strings.Lines(status) {
		ids, ok := strings.CutPrefix(line, "NSpid:")
		if !ok {
			continue
		}
		fields := strings.Fields(ids)
		return len(fields) > 1 && fields[len(fields)-1] == "1"
	}
	return false
}
