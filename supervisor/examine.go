/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// readTimeout bounds the time for reading the process table where others use the CPU. The newest processes, those of the worker,
	// come last.
	readTimeout = 2 * time.Second
	// examineTimeout bounds it before a restart, examineAtMost how many processes are looked at then.
	examineTimeout = 100 * time.Millisecond
	examineAtMost  = 64
	// maxNamed bounds how many processes are named in a message.
	maxNamed = 4
)

// The states of processes that tell why a worker gives no sign, as in proc(5): stopped, and in a system call that nothing interrupts.
const (
	stoppedState    = "T"
	uninterruptible = "D"
)

// Process is one that exists.
type Process struct {
	PID   int
	State string
}

// Processes are some of a worker.
type Processes []Process

// String names them for people.
func (all Processes) String() string {
	var named []string
	for _, p := range all {
		named = append(named, "pid "+strconv.Itoa(p.PID)+" in state "+p.State)
	}
	return strings.Join(named, ", ")
}

// state returns the one of these states that tells most, "" if no process is in any.
func (all Processes) state() string {
	for _, state := range []string{stoppedState, uninterruptible} {
		if slices.ContainsFunc(all, func(p Process) bool { return p.State == state }) {
			return state
		}
	}
	return ""
}
