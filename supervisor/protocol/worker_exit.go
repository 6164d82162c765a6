/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// WorkerExitKey is the annotation by which an agent tells the manager how a worker of its Pod ended (P66).
	WorkerExitKey = "jobset.sigs.k8s.io/worker-exit"
	// MaxWorkerExit bounds its value in bytes; the admission policy of agents refuses more.
	MaxWorkerExit = 512
	// LeasePrefix and the name of its Pod are the name of the Lease in which an agent reports (P151).
	LeasePrefix = "jobset."
	// ReportsPod says that an agent reports on its Pod.
	ReportsPod = "Pod"
	// ReportsLease says that it reports in a Lease.
	ReportsLease = "Lease"
)

// WorkerExit is the value of the annotation, as JSON.
type WorkerExit struct {
	// Container is the one whose worker ended.
	Container string `json:"container"`
	// Epoch is the one that it ran.
	Epoch int32 `json:"epoch"`
	// Exit says how it ended.
	Exit
	// Done: every regular container of the Pod has finished (P67).
	Done bool `json:"done,omitempty"`
	// Leave says why the Pod must be replaced (P70), in characters that cannot end the sentence around it (P66a), LeaveReason in
	// one word; both are empty otherwise.
	Leave       string      `json:"leave,omitempty"`
	LeaveReason LeaveReason `json:"leaveReason,omitempty"`
}

// LeaveReason is why a Pod must be replaced.
type LeaveReason string

const (
	// ProcessStuck: a process outlived SIGKILL.
	ProcessStuck LeaveReason = "ProcessStuck"
	// ContainerDone: one container has finished, and another one has to run again.
	ContainerDone LeaveReason = "ContainerDone"
	// ContainerLost: a container has ended and has not come back.
	ContainerLost LeaveReason = "ContainerLost"
)

// Encode returns the value of the annotation. Of a long reason to leave it keeps what fits.
func (e WorkerExit) Encode() (string, error) {
	e.Leave = strings.Map(func(r rune) rune {
		if !isPlain(r) {
			return '?'
		}
		return r
	}, e.Leave)
	for {
		value, err := json.Marshal(e)
		if err != nil {
			return "", fmt.Errorf("encoding the exit of worker %s: %w", e.Container, err)
		}
		over := len(value) - MaxWorkerExit
		switch {
		case over <= 0:
			return string(value), nil
		case e.Leave == "":
			return "", fmt.Errorf("encoding the exit of worker %s: %d bytes, at most %d fit", e.Container, len(value), MaxWorkerExit)
		}
		e.Leave = e.Leave[:max(0, len(e.Leave)-over)]
	}
}

// isPlain reports whether a character may be in a reason to leave. It becomes a part of events and conditions: control characters
// and marks of direction would change how these are shown, semicolons and parentheses what programs read from them. The
// admission policies have the same set.
func isPlain(r rune) bool { return isAlphanumeric(r) || strings.ContainsRune(" .,:_/?+-", r) }

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// isContainerName reports whether a text is a DNS label.
func isContainerName(text string) bool {
	return len(text) <= maxContainerName && text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		text[0] != '-' && text[len(text)-1] != '-'
}

const maxContainerName = 63

// ParseWorkerExit reads the value of the annotation. Whoever may patch Pods can write it, so
// nothing about it is taken for granted.
func ParseWorkerExit(value string) (WorkerExit, error) {
	var e WorkerExit
	if len(value) > MaxWorkerExit {
		return WorkerExit{}, fmt.Errorf("%d bytes, at most %d are allowed", len(value), MaxWorkerExit)
	}
	if err := json.Unmarshal([]byte(value), &e); err != nil {
		return WorkerExit{}, fmt.Errorf("is not a JSON object of this form: %w", err)
	}
	var err error
	if e.Time, err = portable(e.Time); err != nil {
		return WorkerExit{}, err
	}
	switch {
	case e.Container == "":
		return WorkerExit{}, fmt.Errorf("names no container")
	case !isContainerName(e.Container):
		return WorkerExit{}, fmt.Errorf("container is %q, it must be a DNS label", e.Container)
	case strings.ContainsFunc(e.Leave, func(r rune) bool { return !isPlain(r) }):
		return WorkerExit{}, fmt.Errorf("leave is %q, it may have letters, digits, spaces and .,:_/?+-", e.Leave)
	case strings.ContainsFunc(string(e.LeaveReason), func(r rune) bool { return !isAlphanumeric(r) }):
		return WorkerExit{}, fmt.Errorf("leaveReason is %q, it must be one word", e.LeaveReason)
	case e.Epoch < 1:
		return WorkerExit{}, fmt.Errorf("epoch is %d, it must be at least 1", e.Epoch)
	case e.Code < 0 || e.Code > 255:
		return WorkerExit{}, fmt.Errorf("code is %d, it must be from 0 to 255", e.Code)
	case e.Signal < 0 || e.Signal > 64:
		return WorkerExit{}, fmt.Errorf("signal is %d, it must be from 0 to 64", e.Signal)
	}
	return e, nil
}
