/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"fmt"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// WorkerState is what the agent knows of a worker in process mode.
type WorkerState string

const (
	// Unseen: its supervisor has not said hello to this agent.
	Unseen WorkerState = ""
	// Idle: no worker runs, and none has run in this round. It may be started.
	Idle WorkerState = "idle"
	// Starting: start was sent and not answered. It counts as running (P62).
	Starting WorkerState = "starting"
	// Running: it runs.
	Running WorkerState = "running"
	// Stopping: stop was sent and not answered.
	Stopping WorkerState = "stopping"
	// Ended: it ran in this round and has left no process.
	Ended WorkerState = "ended"
	// Done: it has finished, and is never started again (P67).
	Done WorkerState = "done"
	// Stuck: a process of it has outlived SIGKILL (P63), and may still end (P70b).
	Stuck WorkerState = "stuck"
	// Leaving: its supervisor was told to leave (P70).
	Leaving WorkerState = "leaving"
)

// Worker is the worker of one container in process mode, as far as the agent knows.
// Its methods return what the agent knows next and change nothing.
type Worker struct {
	// Container is the name of its container.
	Container string
	State     WorkerState
	// Epoch is that of the run that State is about. 0 is a run outside of all epochs (P34).
	Epoch int32
	// Exit is how that run ended; nil if it has not, or if that is unknown.
	Exit *protocol.Exit
	// Report is what signs of life that run gave (P137); nil if it is not watched, or if that is unknown.
	Report *protocol.ProgressReport
	// Unwatched: on this connection its supervisor was told that the run is not watched any longer (P131a).
	Unwatched bool
	// Problem is what its supervisor said is wrong.
	Problem string
	// Outlived is when its supervisor said so of a process, as Problem says; zero if there is none.
	Outlived time.Time
	// Seen is when its supervisor first said hello to this agent.
	Seen time.Time
	// Lost is when the connection to its supervisor ended; zero while it is connected.
	Lost time.Time
}

// Connected reports whether the supervisor can receive messages.
func (w Worker) Connected() bool {
	return w.State != Unseen && w.State != Done && w.Lost.IsZero()
}

// Runs reports whether processes of the worker may exist.
func (w Worker) Runs() bool {
	return w.State == Starting || w.State == Running || w.State == Stopping || w.State == Stuck
}

// Hello is a supervisor that connects. What was on its way on an earlier connection is lost.
func (w Worker) Hello(m protocol.Message, now time.Time) (Worker, error) {
	before := w
	if w.Seen.IsZero() {
		w.Seen = now
	}
	w.Lost, w.Unwatched = time.Time{}, false
	switch m.State {
	case protocol.Runs:
		w.State, w.Epoch, w.Exit, w.Report = Running, m.Epoch, nil, nil
	case protocol.Held:
		switch {
		case before.Runs():
			// The supervisor has been restarted, and its worker is gone with it. Whether it had
			// received the start is not known, so the epoch has run (P62).
			w = w.ended(nil, nil)
		case before.State != Ended:
			w.State = Idle
		}
	case protocol.Ended:
		switch {
		case before.State == Starting && before.Epoch != m.Epoch:
			// It still remembers the run before, so it never received the start.
			w.State = Idle
		case before.State != Idle && before.State != Ended:
			w.Epoch = m.Epoch
			w = w.ended(m.Exit, reportIn(m))
		}
	default:
		return before, fmt.Errorf("hello has the unknown state %q", m.State)
	}
	if before.State == Done {
		// Its file says so, and a supervisor that has written it starts nothing again.
		w.State = Done
	}
	return w, nil
}

// ended is a worker that has left no process.
func (w Worker) ended(exit *protocol.Exit, report *protocol.ProgressReport) Worker {
	if !w.Outlived.IsZero() {
		w.Outlived, w.Problem = time.Time{}, ""
	}
	w.State, w.Exit, w.Report = Ended, exit, report
	return w
}

// Heard is any other message of a supervisor. After an error the connection must end: the next hello tells
// what is true.
func (w Worker) Heard(m protocol.Message, now time.Time) (Worker, error) {
	switch m.Type {
	case protocol.Running:
		switch {
		case w.State == Starting && m.Epoch == w.Epoch:
			w.State = Running
		case !w.Runs() && w.State != Leaving, w.Runs() && m.Epoch != w.Epoch:
			return w, fmt.Errorf("it reports that its worker runs at epoch %d, which was never requested", m.Epoch)
		}
	case protocol.Ready:
		// Of another epoch it is the second answer of a worker that ended while its stop was on the way.
		if w.Runs() && m.Epoch == w.Epoch {
			w = w.ended(m.Exit, reportIn(m))
		}
	case protocol.Done:
		w.State, w.Exit, w.Report = Done, m.Exit, reportIn(m)
	case protocol.Progressed:
		if w.State == Running && m.Epoch == w.Epoch {
			w.Report = m.Report
		}
	case protocol.Stuck:
		if w.State != Leaving {
			if w.State, w.Problem = Stuck, m.Because; w.Outlived.IsZero() {
				w.Outlived = now
			}
		}
	case protocol.Refused:
		switch w.State {
		case Starting:
			w.State, w.Exit, w.Report, w.Problem = Ended, nil, nil, m.Because
		case Stopping:
			return w, fmt.Errorf("it refused to start: %s", m.Because)
		}
	default:
		return w, fmt.Errorf("message %s was not expected", m.Type)
	}
	return w, nil
}

// Sent is the worker after a message that is about to be written to the supervisor: from then on it may have received it.
func (w Worker) Sent(m protocol.Message) Worker {
	switch m.Type {
	case protocol.Start:
		if m.Unwatched {
			w.Unwatched = true
			return w
		}
		w.State, w.Epoch, w.Exit, w.Report, w.Unwatched, w.Problem = Starting, m.Epoch, nil, nil, false, ""
	case protocol.Stop:
		w.State = Stopping
	case protocol.Leave:
		w.State = Leaving
	}
	return w
}

// Disconnected is the end of the connection.
func (w Worker) Disconnected(now time.Time) Worker {
	w.Lost = now
	return w
}

// Finished is a worker whose file says that it is done.
func (w Worker) Finished() Worker {
	w.State = Done
	return w
}

// NextRound is a worker that may be started again.
func (w Worker) NextRound() Worker {
	if w.State == Ended {
		w.State, w.Exit, w.Report, w.Problem = Idle, nil, nil, ""
	}
	return w
}

// reportIn returns what a message says of the signs of a worker, and of how it was started (P165).
func reportIn(m protocol.Message) *protocol.ProgressReport {
	if m.Warm == nil {
		return m.Report
	}
	report := protocol.ProgressReport{Epoch: m.Epoch}
	if m.Report != nil {
		report = *m.Report
	}
	report.Warm = m.Warm
	return &report
}
