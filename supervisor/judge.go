/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"cmp"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// judge returns how the worker hangs, nil if it does not.
func (s *Supervisor) judge() *protocol.Hang {
	if !s.state.Observed() {
		return nil
	}
	hang := s.look()
	if hang.Hung() && s.state.Watched() {
		return &hang
	}
	s.retell()
	s.beat.Reset(s.watch.next())
	return nil
}

// look reads the signs of the worker. Of a time in which the supervisor did not get to look only one beat counts, and after
// it the worker, which may have stood still as long, has another beat to give a sign (P131).
func (s *Supervisor) look() (hang protocol.Hang) {
	now := time.Now()
	gap := now.Sub(s.lastBeat)
	s.watch, hang = s.watch.look(min(gap, beat), s.Host.Signs())
	if gap > 2*beat && !hang.Triggered {
		hang = protocol.Hang{}
	}
	s.lastBeat = now
	if silent := s.watch.silent(); silent != s.noted && s.state.Watched() {
		if s.noted, s.state.Seen = silent, ""; silent {
			s.state.Seen = s.Host.Note() // it may end by itself, when one for which it waits is killed
		}
	}
	return hang
}

// examine looks what the worker does before it is ended, if it has given no sign for half its limit: one that waits for the
// one that hangs tells by that which it is (P134).
func (s *Supervisor) examine(e *Event) {
	if e.Timeout == Killing && s.state.Phase == Killing {
		e.Left = s.Host.Left() // P70b
	}
	if e.Exited != nil && s.noted && s.state.Watched() {
		s.look() // it may have given a sign since
	}
	told := e.Message != nil && (e.Message.Type == protocol.Stop || e.Message.Type == protocol.Leave)
	if s.state.Watched() && (e.Hung != nil || told && s.watch.silent()) {
		// When one that hung is killed its peers end, too, or a launcher of theirs is left: what was noted before counts.
		if seen := s.Host.Examine(); s.state.Seen == "" || seen.Has('T') {
			s.state.Seen = seen
		}
	}
	if e.Hung == nil || !s.state.Watched() {
		return
	}
	limits := s.state.Run.Progress
	if number, ok := protocol.DumpSignals[limits.DumpSignal]; ok && s.Host.Dump(number) > 0 {
		e.Dumping = time.Duration(cmp.Or(min(max(0, limits.DumpSeconds), protocol.MaxDumpSeconds), protocol.DefaultDumpSeconds)) * time.Second
	}
}

// retell tells the agent now and then that the worker goes on, if it has told another step (P137).
func (s *Supervisor) retell() {
	report := s.watch.report(s.state.Run.Epoch, false)
	if !s.state.Watched() || s.watch.now-s.told < retellAfter || report.Steps == nil || s.report != nil && s.report.Steps.Last == report.Steps.Last {
		return
	}
	s.report, s.told = report, s.watch.now
	s.send(protocol.Message{Type: protocol.Progressed, Epoch: report.Epoch, Report: report})
}
