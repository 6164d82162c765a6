/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

const (
	// WarmStartEnv, of a supervisor, turns warm start on if it is WarmStartOn (P160).
	WarmStartEnv = "JOBSET_WARM_START"
	// WarmStartOn is its only value.
	WarmStartOn = "true"
	// GateEnv, of a worker where warm start is on, is the pipe that it reads once, to the end, before it touches
	// anything that the worker before it may hold (P160a). It inherits the pipe.
	GateEnv = "JOBSET_GATE"
	// GateInodeEnv is the inode of that pipe: what has another one is not the gate, but what a launcher has opened since.
	GateInodeEnv = "JOBSET_GATE_INODE"
	// GateReadyEnv is the pipe into which it writes a line, whatever it says, right before it reads its gate.
	GateReadyEnv = "JOBSET_GATE_READY"
	// MaxGateLine bounds what is written into a gate, so that it is one write.
	MaxGateLine = 4096
	// StandbyFile, of a container, exists while a standby does (P161).
	StandbyFile = "standby"
)

// maxEarlyReported is more than a supervisor starts in a row.
const maxEarlyReported = 9

// WarmStart is how a worker was started where warm start is on.
type WarmStart struct {
	// Warm: it was the standby.
	Warm bool `json:"warm,omitempty"`
	// Early is how many standbys in a row have ended before their gate was opened, Code the exit code of the last.
	Early int `json:"early,omitempty"`
	Code  int `json:"code,omitempty"`
	// Off: none is started in this container any more.
	Off bool `json:"off,omitempty"`
}
