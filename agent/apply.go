/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"slices"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// longRun is how long a worker must run during a bypass for its next failure to count as the first.
	longRun = time.Minute
	// longestPause bounds the pause before a worker that fails again and again during a bypass is started.
	longestPause = 5 * time.Minute
)

// Send is a message for the supervisor of a container.
type Send struct {
	Container string
	Message   protocol.Message
	// AtOnce: a stop has no grace period.
	AtOnce bool
}

// Apply returns what the agent knows once it has begun an action in process mode, and the messages of
// that action. A message that gets lost makes no difference: it may have arrived. With
// Report the agent writes Self.Epoch and Self.Tell to the Pod. With Leave the file of
// P70 comes before the messages, and Self.Tell after them.
func (v View) Apply(action Action) (View, []Send) {
	v.Workers = slices.Clone(v.Workers)
	switch action.Kind {
	case Report:
		v.report(action.Epoch)
	case Lift, Bypass:
		v.release(action)
		start := protocol.Message{Type: protocol.Start, Epoch: action.Epoch, Bypass: action.Kind == Bypass, Restarts: v.JobSet.Restarts}
		world := v.JobSet.World
		if action.Kind == Bypass {
			world = v.JobSet.Outside
		}
		if world.Size > 0 {
			start.World = &world
		}
		if action.Kind == Lift {
			start.Progress = v.JobSet.Progress
		}
		return v, v.tell(canStart, start)
	case StopWorkers:
		if !v.Self.Ending {
			quick, pause := v.quickFailures()
			v.Self = Self{UID: v.Self.UID, Ending: true, Tell: v.Self.Tell, Progress: v.Self.Progress, Quick: quick, Pause: pause}
		}
		sends := v.tell(mustStop, protocol.Message{Type: protocol.Stop})
		for i := range sends {
			epoch := worker(v.Workers, sends[i].Container).Epoch
			sends[i].Message.Planned, sends[i].AtOnce = v.JobSet.plannedStop(epoch), v.JobSet.replaced(epoch)
		}
		return v, sends
	case Unwatch:
		return v, v.tell(isWatched, protocol.Message{Type: protocol.Start, Unwatched: true})
	case Leave:
		if v.Self.Leaving == "" {
			v.Self.Tell = leavingExit(v, action)
		}
		v.Self.Leaving = action.Because
		return v, v.tell(mustLeave, protocol.Message{Type: protocol.Leave, Because: action.Because})
	}
	return v, nil
}

// Accepted is the answer of the API server to the report of an epoch.
func (s Self) Accepted(epoch int32) Self {
	if epoch == s.Epoch { // else it is of an earlier round
		s.Reported, s.Tell, s.Progress = true, nil, nil
	}
	return s
}

func (v *View) tell(whom func(Worker) bool, m protocol.Message) []Send {
	var sends []Send
	for i, w := range v.Workers {
		if whom(w) {
			if m.Unwatched {
				m.Epoch = w.Epoch
			}
			v.Workers[i] = w.Sent(m)
			sends = append(sends, Send{Container: w.Container, Message: m})
		}
	}
	return sends
}

// report begins a round, or tells that all workers have finished.
func (v *View) report(epoch int32) {
	if progress := furthest(v.Workers); progress != nil {
		v.Self.Progress = progress // else that of a report that was not accepted
	}
	if find(*v, isOpen) == nil {
		v.Self.EndReported, v.Self.Tell = true, finished(*v)
		return
	}
	if exit := firstExit(v.Workers); exit != nil {
		v.Self.Tell = exit // else that of a report that was not accepted
	}
	v.Self.Epoch, v.Self.Ending, v.Self.Pause = epoch, false, time.Time{}
	v.nextRound()
}

func (v *View) release(action Action) {
	if v.Self.Lifted == Held {
		v.nextRound()
		v.Self.LiftedAt = v.Now
	}
	v.Self.Ending, v.Self.Pause, v.Self.Lifted = false, time.Time{}, ByBypass
	if action.Kind == Lift {
		v.Self.Epoch, v.Self.Reported, v.Self.Lifted = action.Epoch, true, ByEpoch
	}
}

func (v *View) nextRound() {
	for i, w := range v.Workers {
		v.Workers[i] = w.NextRound()
	}
}

// quickFailures counts the failures in a row of workers that ran for a short time during a bypass, where no
// controller slows them down. From the second on, the n-th delays the next start by 2^(n-2) s.
func (v *View) quickFailures() (count int, pause time.Time) {
	if v.Self.Lifted != ByBypass || bypass(v.JobSet) == "" {
		return 0, time.Time{}
	}
	if v.Now.Sub(v.Self.LiftedAt) >= longRun {
		return 1, time.Time{}
	}
	if count = v.Self.Quick + 1; count < 2 {
		return count, time.Time{}
	}
	return count, v.Now.Add(min(time.Second<<min(count-2, 16), longestPause))
}

// firstExit returns the exit that came first of those in this round, and those of workers that the agent did not
// had stopped before the others; nil if none is known, or if the workers ran in no epoch.
func firstExit(workers []Worker) *protocol.WorkerExit {
	var first *protocol.WorkerExit
	for _, w := range workers {
		if w.State == Ended && w.Exit != nil && w.Epoch != 0 && (first == nil || cmpExits(w.Exit, &first.Exit) < 0) {
			first = &protocol.WorkerExit{Container: w.Container, Epoch: w.Epoch, Exit: *w.Exit}
		}
	}
	return first
}

// furthest returns what signs the worker gave that got furthest of those that have ended: a Pod of several
// containers has one report, and by most of them none is given.
func furthest(workers []Worker) *protocol.ProgressReport {
	var best *protocol.ProgressReport
	for _, w := range workers {
		if r := w.Report; r != nil && (w.State == Ended || w.State == Done) && r.Epoch > 0 && (best == nil || further(r, best)) {
			best = r
		}
	}
	return best
}

// further prefers what has the higher step, then what gave a sign at all.
func further(a, b *protocol.ProgressReport) bool {
	highest := func(r *protocol.ProgressReport) int64 {
		if r.Steps == nil {
			return -1
		}
		return r.Steps.Highest
	}
	if highest(a) != highest(b) {
		return highest(a) > highest(b)
	}
	return a.Signed() && !b.Signed()
}

func cmpExits(a, b *protocol.Exit) int {
	switch {
	case a.Stopped == b.Stopped:
		return a.Time.Compare(b.Time)
	case b.Stopped:
		return -1
	}
	return 1
}

// finished returns the exit of the worker that finished last.
func finished(v View) *protocol.WorkerExit {
	last := &protocol.WorkerExit{Epoch: v.Self.Epoch, Done: true}
	for _, w := range v.Workers {
		exit := protocol.Exit{Time: v.Now}
		if w.Exit != nil {
			exit = *w.Exit
		}
		if last.Container == "" || exit.Time.After(last.Time) {
			last.Container, last.Exit = w.Container, exit
		}
	}
	return last
}

// leavingExit says why the Pod must be replaced; nil if its workers have run in no epoch.
func leavingExit(v View, action Action) *protocol.WorkerExit {
	exit := &protocol.WorkerExit{
		Container: action.Container, Epoch: v.Self.Epoch, Exit: protocol.Exit{Time: v.Now},
		Leave: action.Because, LeaveReason: action.Reason,
	}
	for _, w := range v.Workers {
		exit.Epoch = max(exit.Epoch, w.Epoch)
		if w.Container == action.Container && w.Exit != nil {
			exit.Exit = *w.Exit
		}
	}
	if exit.Epoch == 0 {
		return nil
	}
	return exit
}
