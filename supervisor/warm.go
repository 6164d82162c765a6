/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import "sigs.k8s.io/jobset/supervisor/protocol"

// WarmHost is a Host that can hold a standby (P160). Of its methods and those of the Host one is called at a time.
type WarmHost interface {
	// Failed reports whether a standby existed when an earlier supervisor of this container was killed.
	Failed() bool
	// Prepare starts a standby. If that fails it returns how it ended thereby.
	Prepare() *protocol.Exit
	// Open lets the standby through its gate, as the main process of a run. It returns why it could not.
	Open(r Run) error
	// Drop kills the standby.
	Drop()
	// LookAtGates reports whether the program has passed its gate since the last call, and how the standby ended if it has.
	LookAtGates() (passed bool, ended *protocol.Exit)
}

// lookAtGates turns what happened at the gates into events.
func (s *Supervisor) lookAtGates() {
	if s.Warm == nil {
		return
	}
	passed, ended := s.Warm.LookAtGates()
	if passed {
		s.handle(Event{Gate: ProgramPassed})
	}
	if ended != nil {
		s.handle(Event{StandbyEnded: ended})
	}
}

func (s *Supervisor) performWarm(a Action) {
	switch {
	case a.Open != nil:
		s.begin()
		result := StandbyPassed
		if err := s.Warm.Open(*a.Open); err != nil {
			s.Log.Info("the gate of the standby cannot be opened", "error", err)
			result = StandbyAbsent
		}
		s.handle(Event{Gate: result})
	case a.Drop:
		s.Warm.Drop()
	case a.Prepare:
		s.Log.Info("starting a standby, which waits at its gate")
		if exit := s.Warm.Prepare(); exit != nil {
			s.handle(Event{StandbyEnded: exit})
		}
	case a.StandbyIn != 0:
		s.standby.Reset(a.StandbyIn)
	}
}
