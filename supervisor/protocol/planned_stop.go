/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"syscall"
	"time"
)

// MaxPlannedStopSeconds is the longest planned stop.
const MaxPlannedStopSeconds = 300

// PlannedStop is how a worker is stopped that may save its state first (P142). The zero value is no planned stop.
type PlannedStop struct {
	// GraceSeconds is how long it may take to end.
	GraceSeconds int32 `json:"graceSeconds"`
	// Signal, one of StopSignals, says that it is to end; empty is TERM.
	Signal string `json:"signal,omitempty"`
}

// StopSignals are the signals by which a planned stop begins.
var StopSignals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2}

// Grace returns how long the worker may take, within the limits of the API.
func (p PlannedStop) Grace() time.Duration {
	return time.Duration(min(max(p.GraceSeconds, 1), MaxPlannedStopSeconds)) * time.Second
}

// Number returns its signal. One that a later version knows is TERM here.
func (p PlannedStop) Number() syscall.Signal { return cmp.Or(StopSignals[p.Signal], syscall.SIGTERM) }
