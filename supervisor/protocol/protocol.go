/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package protocol is what an agent and the supervisors of its Pod say to each other (P61).
//
// The agent listens on a Unix socket in a volume that the containers of the Pod share; each
// supervisor connects, and connects again when the connection ends. A message is one JSON
// object on a line of its own:
//
//	{"version":1,"type":"start","epoch":3,"restarts":2}
//
// A supervisor says hello first, and from then on what becomes of its worker; the agent says what
// to do. There is no authentication: whoever reaches the socket is in this Pod and can harm only it.
// A message of another version, of an unknown type, or longer than MaxLine ends the connection.
package protocol

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"time"
)

// Version is that of the messages here. Agent and supervisor come from one image, so it
// differs only where one of them was replaced by hand.
const Version = 1

// MaxLine bounds a message, in bytes with its newline.
const MaxLine = 4096

// What the containers of a Pod share, as paths in the shared volume. The first two directories are made when
// the supervisor is installed; the agent makes RunDir, too, if it is faster. Kubelets make those in OwnDir.
const (
	// BinDir holds what the containers execute.
	BinDir = "bin"
	// Binary is the supervisor.
	Binary = BinDir + "/supervisor"
	// RunDir is where supervisors meet the agent. Workers cannot write there, but in Pods that were built by a manager from
	// before P61a: there supervisors write here, too, as in /tmp.
	RunDir = "run"
	// OwnDir has a directory for each container of a worker, which has only its own, and which the agent reads.
	OwnDir = "own"
	// Socket is served by the agent.
	Socket = RunDir + "/agent.sock"
	// DoneFile, of a container, says that its worker has finished (P67). That it
	// exists is what counts. It holds the message Done, unless the volume had no room for it.
	DoneFile = "done"
	// LeaveFile says that the Pod must be replaced (P70).
	LeaveFile = RunDir + "/leave"
)

// OwnFile returns the path of a file of a container in the volume, SharedFile that of before P61a.
func OwnFile(dir, container, name string) string { return path.Join(dir, OwnDir, container, name) }

// SharedFile is like OwnFile.
func SharedFile(dir, container, name string) string {
	return path.Join(dir, RunDir, name+"."+container)
}

// ExitLeave is the exit code of a supervisor whose Pod must be replaced (P70).
const ExitLeave = 65

// The variables that a worker gets at each start, beside those of its container (P120).
const (
	// EpochEnv holds the epoch of the group, from 1; 0 outside of all epochs.
	// +reference=variables | ... | changes at each restart | not set
	EpochEnv = "JOBSET_EPOCH"
	// RestartsEnv holds the number of restarts so far, in place and of all Jobs.
	// +reference=variables | ... | changes at each restart | not set
	RestartsEnv = "JOBSET_RESTARTS"

	// The others are set only if the agent knows them.

	// WorldSizeEnv holds the number of workers of the ReplicatedJob.
	// +reference=variables | ... | changes after a change of size | set if the size cannot change
	WorldSizeEnv = "JOBSET_WORLD_SIZE"
	// RankEnv holds the rank among them, from 0: index of the Job times workers of each Job plus index of the Pod.
	// +reference=variables | ... | kept while the size stays the same | set if `replicas` is 1, or `parallelism` is 1 and cannot change
	RankEnv = "JOBSET_RANK"
	// MasterAddrEnv holds the address of rank 0.
	// +reference=variables | ... | changes if the Pod of rank 0 is replaced | its DNS name, which never changes
	MasterAddrEnv = "JOBSET_MASTER_ADDR"
)

// World is the place of a worker among those of its ReplicatedJob (P102). Size 0 means that it is not known.
type World struct {
	Size int32 `json:"size"`
	Rank int32 `json:"rank"`
	// Master is the address of rank 0, empty if it is not known.
	Master string `json:"master,omitempty"`
}

// Type names a message.
type Type string

// What a supervisor says.
const (
	// Hello is its first message on a connection: Container and State, and with it Epoch, Bypass and Exit.
	Hello Type = "hello"
	// Running answers Start: the worker runs at Epoch.
	Running Type = "running"
	// Ready: no process of the worker is left. Epoch and Exit are those of its end, absent if none ran.
	// It is said when a worker has ended, and again in answer to Stop and to Start with the Epoch that has ended.
	Ready Type = "ready"
	// Done: the worker of Epoch exited with 0 of its own accord. The supervisor is about to end.
	Done Type = "done"
	// Stuck: a process outlived SIGKILL, as Because says. The supervisor waits for Leave, or says Ready if none is left after all; it says
	// so again after each hello.
	Stuck Type = "stuck"
	// Progressed: the worker of Epoch has told another step, as Report says. Said now and then while it runs.
	Progressed Type = "progressed"
	// Refused answers a Start that the supervisor does not follow, as Because says.
	Refused Type = "refused"
)

// What an agent says.
const (
	// Start asks for a worker at Epoch, or with Bypass for one outside of all epochs (P34). It is answered with
	// Running, with Refused, or, if the worker of that Epoch has ended or is being stopped, with its Ready.
	// A bypass that has ended may be started again; an epoch may not. With Unwatched it starts nothing and is not answered: the
	// worker of Epoch runs on, and is not watched any longer (P131a). Supervisors of older versions take it for a repeated Start.
	Start Type = "start"
	// Stop asks for the end of the worker within GraceSeconds; answered with Ready, Done or Stuck.
	Stop Type = "stop"
	// Leave asks the supervisor to end its worker within GraceSeconds and to exit with ExitLeave, as Because says.
	Leave Type = "leave"
)

// State is that of a supervisor when it says hello.
type State string

const (
	// Held: this supervisor has run no worker.
	Held State = "held"
	// Runs: its worker runs, or is being stopped.
	Runs State = "running"
	// Ended: its worker has ended and left no process; Epoch and Exit say which and how.
	Ended State = "ended"
)

// Exit is how a worker ended.
type Exit struct {
	// Code is the exit code, 128 + Signal after a signal.
	Code int `json:"code"`
	// Signal is the number of the signal that ended the worker, 0 if none did.
	Signal int `json:"signal,omitempty"`
	// OOMKilled: the kernel killed a process of the container for its memory meanwhile.
	OOMKilled bool `json:"oomKilled,omitempty"`
	// Stopped: a stop, or a signal that ends the container, came before the end.
	Stopped bool `json:"stopped,omitempty"`
	// Hung: the worker was killed because it gave no sign of life for too long (P133).
	Hung Hang `json:"hung,omitzero"`
	// Seen is "T" or "D" if a process of it was in that state when it was ended without having given a sign for long (P134). Anything
	// else, such as what earlier versions wrote, says nothing.
	Seen string `json:"seen,omitempty"`
	// Time is when the worker's main process ended.
	Time time.Time `json:"time"`
}

// Message is any of the messages; which fields are set depends on Type.
type Message struct {
	Version      int    `json:"version"`
	Type         Type   `json:"type"`
	Container    string `json:"container,omitempty"`
	State        State  `json:"state,omitempty"`
	Epoch        int32  `json:"epoch,omitempty"`
	Bypass       bool   `json:"bypass,omitempty"`
	Restarts     int32  `json:"restarts,omitempty"`
	World        *World `json:"world,omitempty"`
	GraceSeconds int32  `json:"graceSeconds,omitempty"`
	// Planned, with Stop, is how a worker is stopped that may save its state first (P142); nil if it is to end within
	// GraceSeconds. Supervisors of older versions do not read it.
	Planned *PlannedStop `json:"planned,omitempty"`
	// Progress, with Start, are the deadlines of a worker that gives signs (P131); nil if it gives none.
	Progress *Progress `json:"progress,omitempty"`
	// Unwatched, with Start, is about the run that goes on.
	Unwatched bool  `json:"unwatched,omitempty"`
	Exit      *Exit `json:"exit,omitempty"`
	// Report, with Hello, Ready and Progressed, is what signs the worker of Epoch gave (P137); nil if it was not watched.
	Report  *ProgressReport `json:"report,omitempty"`
	Because string          `json:"because,omitempty"`
	// Warm, with Running, Ready, Done and the Hello after an end, where warm start is on, is how the worker was started (P165).
	Warm *WarmStart `json:"warm,omitempty"`
}

// Encode returns a message as a line, in this version.
func Encode(m Message) ([]byte, error) {
	m.Version = Version
	line, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding message %s: %w", m.Type, err)
	}
	if len(line) >= MaxLine {
		return nil, fmt.Errorf("encoding message %s: %d bytes, at most %d fit", m.Type, len(line), MaxLine-1)
	}
	return append(line, '\n'), nil
}

// Reader reads messages from a connection.
type Reader struct{ lines *bufio.Reader }

// NewReader reads from r, at most MaxLine bytes ahead.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, MaxLine)} }

// Next returns the next message, and io.EOF when the connection ended between two. Any
// other error means that the connection cannot be used on.
func (r *Reader) Next() (Message, error) {
	line, err := r.lines.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return Message{}, fmt.Errorf("a message has more than %d bytes", MaxLine)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return Message{}, io.ErrUnexpectedEOF
	case err != nil:
		return Message{}, err
	}
	var m Message
	// The version first: another one may mean other fields.
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Message{}, fmt.Errorf("a message is not a JSON object: %w", err)
	}
	if head.Version != Version {
		return Message{}, fmt.Errorf("a message has version %d, this program speaks %d", head.Version, Version)
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return Message{}, fmt.Errorf("reading a message: %w", err)
	}
	if m.Exit != nil {
		if m.Exit.Time, err = portable(m.Exit.Time); err != nil {
			return Message{}, err
		}
	}
	switch m.Type {
	case Hello, Running, Ready, Done, Stuck, Progressed, Refused, Start, Stop, Leave:
		return m, nil
	}
	return Message{}, fmt.Errorf("a message has the unknown type %q", m.Type)
}

// portable returns a time that can be written as it was read: JSON takes offsets of a day and more, and gives none.
func portable(t time.Time) (time.Time, error) {
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return time.Time{}, fmt.Errorf("a time is in the year %d, it must be from 0 to 9999", year)
	}
	return t, nil
}
