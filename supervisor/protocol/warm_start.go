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
	// GateEnv holds the path of the pipe that the program reads once, to the end: one JSON object with all variables that change, at
	// most 4096 bytes.
	//
	// It is set where warm start is on, and read before the program touches anything that the worker before it may hold (P160a). The
	// program inherits the pipe.
	// +reference=variables-of-warm-start | ... | no
	GateEnv = "JOBSET_GATE"
	// GateInodeEnv holds the inode of that pipe: what has another one is not the gate, but what a launcher has opened since.
	// +reference=variables-of-warm-start | ... | yes
	GateInodeEnv = "JOBSET_GATE_INODE"
	// GateReadyEnv holds the path of the pipe into which the program writes a line, whatever it says, right before it reads its gate.
	// +reference=variables-of-warm-start | ... | no
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
