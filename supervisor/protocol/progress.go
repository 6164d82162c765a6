/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"fmt"
	"syscall"
)

// The variables of a worker that is to give signs of life (P130), beside those of every worker. The first and the third are
// those of sd_notify(3), for which there are libraries.
const (
	// NotifySocketEnv holds the path of the datagram socket for signs, by the protocol of sd_notify(3).
	// +reference=variables-of-progress | ... | yes
	NotifySocketEnv = "NOTIFY_SOCKET"
	// ProgressFileEnv holds the path of the file that may hold the step instead; removed at a restart.
	// +reference=variables-of-progress | ... | no
	ProgressFileEnv = "JOBSET_PROGRESS_FILE"
	// WatchdogEnv holds `stallSeconds` in microseconds; absent if it is 0.
	// +reference=variables-of-progress | ... | if the limit was changed
	WatchdogEnv = "WATCHDOG_USEC"
)

const (
	// NotifyPrefix and an epoch make the socket that the worker of a container sends signs to. It is short,
	// since MaxSocketPath is.
	NotifyPrefix = "n."
	// ProgressFile, of a container, is what its worker may write instead.
	ProgressFile = "progress"
)

// MinStallSeconds is the shortest StallSeconds: a busy node is no hang.
const MinStallSeconds = 5

const (
	// DefaultDumpSeconds is what DumpSeconds is if nothing else is said.
	DefaultDumpSeconds = 2
	// MaxDumpSeconds is the most that DumpSeconds may be.
	MaxDumpSeconds = 60
)

// DumpSignals are the signals at which programs write their stacks.
var DumpSignals = map[string]syscall.Signal{"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "QUIT": syscall.SIGQUIT}

// Progress are the deadlines of a worker that gives signs (P131), in seconds. 0 is none.
type Progress struct {
	// StartSeconds is how long the first sign may take.
	StartSeconds int32 `json:"startSeconds,omitempty"`
	// StallSeconds is how long each sign after that may take.
	StallSeconds int32 `json:"stallSeconds,omitempty"`
	// MaxExtensionSeconds bounds what a worker may extend a deadline by, counted from its last sign.
	MaxExtensionSeconds int32 `json:"maxExtensionSeconds,omitempty"`
	// DumpSignal, one of DumpSignals, goes to each process that catches it before the worker is killed (P134); empty is none.
	DumpSignal string `json:"dumpSignal,omitempty"`
	// DumpSeconds is how long these then have; 0 is DefaultDumpSeconds.
	DumpSeconds int32 `json:"dumpSeconds,omitempty"`
}

// Hang is why a worker was ended although it ran (P133). The zero value is a worker that did not hang.
type Hang struct {
	// SilentSeconds is for how long the worker had given no sign: since the last one, or since its start.
	SilentSeconds int32 `json:"silentSeconds,omitempty"`
	// Signed: it had given a sign before.
	Signed bool `json:"signed,omitempty"`
	// Step is the last that it told; 0 if it told none.
	Step int64 `json:"step,omitempty"`
	// Triggered: the worker itself said that it hangs.
	Triggered bool `json:"triggered,omitempty"`
}

// Hung reports whether the worker hung.
func (h Hang) Hung() bool { return h != Hang{} }

// String says how.
func (h Hang) String() string {
	var text string
	switch {
	case h.Triggered:
		text = "it reported the hang itself"
	case h.Signed:
		text = fmt.Sprintf("no sign for %d s", h.SilentSeconds)
	default:
		text = fmt.Sprintf("no sign within %d s of its start", h.SilentSeconds)
	}
	if h.Step > 0 {
		text += fmt.Sprintf(" at step %d", h.Step)
	}
	return text
}
