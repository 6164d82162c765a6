/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// markerVariable stands in the environment of every process that the demo starts.
const markerVariable = "JOBSET_DEMO"

// markChildren makes all processes started from here on recognisable, and returns how.
func markChildren(value string) (string, error) {
	if err := os.Setenv(markerVariable, value); err != nil {
		return "", fmt.Errorf("marking child processes: %w", err)
	}
	return markerVariable + "=" + value, nil
}

// leftovers are the processes that carry the marker, but for this one.
func leftovers(marker string) ([]string, error) {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var found []string
	for _, file := range files {
		dir := filepath.Dir(file)
		if pid, err := strconv.Atoi(filepath.Base(dir)); err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), append([]byte("\x00"+marker), 0)) {
			continue // another user's process, or one that has just ended
		}
		command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		name, _, _ := strings.Cut(string(command), "\x00")
		found = append(found, fmt.Sprintf("%s (process %s)", filepath.Base(name), filepath.Base(dir)))
	}
	return found, nil
}

// nothingLeft waits a moment for the last processes to end.
func nothingLeft(ctx context.Context, marker string) error {
	var found []string
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		var err error
		found, err = leftovers(marker)
		return len(found) == 0, err
	})
	if len(found) > 0 {
		return fmt.Errorf("left running: %s", strings.Join(found, ", "))
	}
	return err
}
