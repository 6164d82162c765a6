/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// hello says what the agent must know about this supervisor, whatever an earlier connection carried (P65).
func hello(s State, set Settings) []Action {
	m := protocol.Message{Type: protocol.Hello, Container: set.Container, State: protocol.Runs, Epoch: s.Run.Epoch, Bypass: s.Run.Bypass}
	switch s.Phase {
	case Held:
		m.State = protocol.Held
	case Ended:
		m.State, m.Exit, m.Warm = protocol.Ended, exitOf(s), warmStart(s, set)
	case Stuck:
		return []Action{send(m), outlived(s, set)}
	}
	return []Action{send(m)}
}

// exitOf returns how the main process of the worker ended, nil if it has not.
func exitOf(s State) *protocol.Exit {
	if !s.Exited {
		return nil
	}
	return &s.Exit
}

func running(s State, set Settings) Action {
	return send(protocol.Message{Type: protocol.Running, Epoch: s.Run.Epoch, Bypass: s.Run.Bypass, Warm: warmStart(s, set)})
}

func ready(s State, set Settings) Action {
	return send(protocol.Message{Type: protocol.Ready, Epoch: s.Run.Epoch, Bypass: s.Run.Bypass, Exit: exitOf(s), Warm: warmStart(s, set)})
}

func outlived(s State, set Settings) Action {
	because := fmt.Sprintf("a process of the worker of %s has outlived SIGKILL for %s", s.Run, set.KillTimeout)
	if s.Left != "" {
		because += ": " + s.Left
	}
	return send(protocol.Message{Type: protocol.Stuck, Epoch: s.Run.Epoch, Bypass: s.Run.Bypass, Because: because})
}

func refuse(m protocol.Message, because string) []Action {
	return []Action{
		send(protocol.Message{Type: protocol.Refused, Epoch: m.Epoch, Bypass: m.Bypass, Because: because}),
		say("not starting a worker of %s: %s", Run{Epoch: m.Epoch, Bypass: m.Bypass}, because),
	}
}

func send(m protocol.Message) Action { return Action{Send: &m} }

func say(format string, values ...any) Action { return Action{Say: fmt.Sprintf(format, values...)} }

// mark says a line in which programs find the run (P129).
func mark(what protocol.RunEvent, s State, format string, values ...any) Action {
	m := protocol.Mark{Run: what, Epoch: s.Run.Epoch, Rank: protocol.NoRank, Exit: s.Exit}
	m.Hung, m.Exit.Hung = s.Exit.Hung.Hung(), protocol.Hang{}
	if s.Run.World.Size > 0 {
		m.Rank = s.Run.World.Rank
	}
	a := say(format, values...)
	a.Mark = &m
	return a
}

func finish(code int) Action { return Action{Finish: true, Code: code} }

// String names a run in messages.
func (r Run) String() string {
	if r.Bypass {
		return "no epoch"
	}
	return fmt.Sprintf("epoch %d", r.Epoch)
}

func describe(e protocol.Exit) string {
	text := fmt.Sprintf("with exit code %d", e.Code)
	if e.Signal != 0 {
		text = fmt.Sprintf("by signal %d", e.Signal)
	}
	if e.OOMKilled {
		text += ", out of memory"
	}
	if e.Stopped {
		text += ", after a stop request"
	}
	return text
}
