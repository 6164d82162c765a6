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
			s.state.Seen = s.Host.Processes(examineTimeout).state() // a stopped one may end when one for which it waits is killed
		}
	}
	return hang
}

// examine looks at the processes of the worker before it is ended, if it has given no sign for half its limit (P134). A process that
// writes a file is in state D for moments, so only one that was in it at both looks counts, and none of a worker that ended by itself.
func (s *Supervisor) examine(e *Event) {
	if e.Timeout == Killing && s.state.Phase == Killing {
		left := s.Host.Processes(readTimeout) // P70b
		e.Left = left[:min(len(left), maxNamed)].String()
	}
	if e.Exited != nil && s.noted && s.state.Watched() {
		if s.look(); s.state.Seen == uninterruptible { // it may have given a sign since
			s.state.Seen = ""
		}
	}
	told := e.Message != nil && (e.Message.Type == protocol.Stop || e.Message.Type == protocol.Leave)
	if s.state.Watched() && (e.Hung != nil || told && s.watch.silent()) {
		found := s.Host.Processes(examineTimeout)
		s.Log.Info("the worker gives no sign", "processes", found.String())
		if state := found.state(); state == stoppedState || s.state.Seen == uninterruptible {
			s.state.Seen = state
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
