/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// maxEarly is how many standbys in a row may end before their gate opens, until none is started any more (P161).
const maxEarly = 2

// Life is how far the standby has come: a second copy of the program, which waits at a gate (P160).
type Life string

const (
	// NoStandby: there is none, and none is due.
	NoStandby Life = ""
	// Due: the program has passed its gate, so one is started when its time has come.
	Due Life = "due"
	// Waiting: its process exists. Whether it has come to its gate shows when that is to be opened.
	Waiting Life = "waiting"
	// Passing: it is about to be let through.
	Passing Life = "passing"
)

// Standby is what a supervisor knows of the standby. It is no worker before its gate opens: no phase depends on it.
type Standby struct {
	Life Life
	// Early is how many in a row have ended before their gate was opened, Code the exit code of the last.
	Early, Code int16
	// Off: none is started in this container any more.
	Off bool
}

// Gate is what became of a gate.
type Gate string

const (
	// ProgramPassed: the program of this run, which was started for it, has said that it is at its gate and read it.
	ProgramPassed Gate = "program"
	// StandbyPassed: the standby was there and has read its line, so it is the program of this run.
	StandbyPassed Gate = "standby"
	// StandbyAbsent: the standby was not at its gate, or has not read its line and never will.
	StandbyAbsent Gate = "absent"
)

// launch runs the program of an epoch: the standby if there is one, else a new process. No gate opens outside of all
// epochs (P34), where the environment may be another one.
func launch(before Standby, r Run) (State, []Action) {
	s := State{Phase: Running, Run: r, Standby: Standby{Early: before.Early, Code: before.Code, Off: before.Off}}
	begin := mark(protocol.RunStart, s, "starting the worker of %s", r)
	switch {
	case before.Life != Waiting:
		return s, []Action{begin, {Spawn: &r}}
	case r.Bypass:
		return s, []Action{begin, {Drop: true}, {Spawn: &r}}
	}
	s.Standby.Life = Passing
	return s, []Action{begin, {Open: &r}}
}

// atGate decides what the result at a gate means.
func atGate(s State, g Gate, set Settings) (State, []Action) {
	switch {
	case g == ProgramPassed && s.Standby.Life == NoStandby:
		return due(s, set)
	case g == StandbyPassed && s.Standby.Life == Passing:
		s.Warm, s.Standby = true, Standby{}
		actions := []Action{running(s, set), say("the standby is the worker of %s", s.Run)}
		s, more := due(s, set)
		return s, append(actions, more...)
	case g == StandbyAbsent && s.Standby.Life == Passing:
		s.Standby.Life = NoStandby
		run := s.Run
		return s, []Action{say("the standby is not at its gate; the worker of %s starts cold", run), {Drop: true}, {Spawn: &run}}
	}
	return s, nil
}

// due sets the time at which a standby is started.
func due(s State, set Settings) (State, []Action) {
	if s.Standby.Off || !s.working() {
		return s, nil
	}
	s.Standby.Life = Due
	return s, []Action{{StandbyIn: max(set.StandbyDelay, time.Nanosecond)}}
}

// startStandby starts a standby, unless the program is ending: then the next one gets one.
func startStandby(s State) (State, []Action) {
	if s.Standby.Life != Due {
		return s, nil
	}
	if !s.working() {
		s.Standby.Life = NoStandby
		return s, nil
	}
	s.Standby.Life = Waiting
	return s, []Action{{Prepare: true}}
}

// standbyEnded notes a standby that ended before its gate was opened. It is never a failure of the group.
func standbyEnded(s State, exit protocol.Exit, set Settings) (State, []Action) {
	if s.Standby.Life != Waiting {
		return s, nil
	}
	s.Standby.Life = NoStandby
	s.Standby.Early++
	s.Standby.Code = int16(exit.Code)
	text := fmt.Sprintf("the standby ended early %s; what comes before the gate must not need what the program holds", describe(exit))
	if s.Standby.Early >= maxEarly {
		s.Standby.Off = true
		return s, []Action{say("%s; it was number %d in a row, so none is started any more", text, s.Standby.Early)}
	}
	s, actions := due(s, set)
	return s, append([]Action{say("%s", text)}, actions...)
}

// working reports whether the program of an epoch runs and was not told to end.
func (s State) working() bool {
	return s.Phase == Running && !s.Run.Bypass && !s.Exited && !s.Stopping && !s.Terminated
}

// warmStart is what is told of it, nil where it is off.
func warmStart(s State, set Settings) *protocol.WarmStart {
	if !set.WarmStart {
		return nil
	}
	return &protocol.WarmStart{Warm: s.Warm, Early: int(s.Standby.Early), Code: int(s.Standby.Code), Off: s.Standby.Off}
}
