/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// becauseLimit bounds a reason to leave, so that it fits into a message whatever its characters.
	becauseLimit = 512
	// strayAfter is for how long a worker may run beside one whose supervisor has not said hello (P65).
	strayAfter = 5 * time.Second
	// stuckAfter is for how long a process that has outlived SIGKILL may still end (P70b): it takes a while to free pinned memory.
	stuckAfter = time.Minute
	// lostAfter is for how long a supervisor that was connected, to this agent or an earlier one, may be away (P70).
	lostAfter = time.Minute
)

// decideRound returns the next action in process mode. An agent lives through many rounds: it
// holds all workers, reports, starts them, and stops them when the round is over.
func decideRound(v View) Action {
	for _, w := range v.Workers {
		switch {
		case isStuck(w) && v.Now.Sub(w.Outlived) >= stuckAfter:
			return leave(protocol.ProcessStuck, w.Container, cannotStop, w.Container, w.Problem)
		case w.State != Done && !w.Lost.IsZero() && v.Now.Sub(w.Lost) >= lostAfter:
			return leave(protocol.ContainerLost, w.Container, "container %s has not come back for %s", w.Container, lostAfter)
		case w.State == Unseen && find(v, ranEarlier(v.Now)) != nil:
			return leave(protocol.ContainerLost, w.Container, "container %s has not connected for %s, and was there in an earlier epoch", w.Container, lostAfter)
		}
	}
	switch self := v.Self; {
	case self.Lifted != Held:
		return afterLift(v)
	case self.Epoch == 0 && !self.Ending:
		return takeOver(v)
	}
	return assemble(v)
}

// takeOver decides for an agent that has just started and finds out what runs (P65).
func takeOver(v View) Action {
	unseen, idle, running := find(v, unseen), find(v, isIdle), find(v, Worker.Runs)
	switch {
	case running == nil, find(v, isStuck) != nil:
		return assemble(v)
	case unseen != nil && v.Now.Sub(running.Seen) >= strayAfter:
		return stopWorkers("container %s runs, and container %s has not connected within %s", running.Container, unseen.Container, strayAfter)
	case unseen != nil:
		return wait("container %s has not connected", unseen.Container)
	case idle != nil:
		return stopWorkers("container %s runs, and container %s does not", running.Container, idle.Container)
	}
	if other := find(v, func(w Worker) bool { return w.Runs() && w.Epoch != running.Epoch }); other != nil {
		return stopWorkers("container %s runs at epoch %d, and container %s at epoch %d",
			running.Container, running.Epoch, other.Container, other.Epoch)
	}
	off := bypass(v.JobSet)
	if running.Epoch == 0 {
		if off == "" {
			return stopWorkers(bypassEnded)
		}
		return Action{Kind: Bypass, Because: off}
	}
	self := Self{UID: v.Self.UID, Epoch: running.Epoch, Reported: true, Lifted: ByEpoch}
	if action := compare(self, v.JobSet); off == "" && action.Kind == Restart {
		return stopWorkers("%s", action.Because)
	}
	return Action{Kind: Lift, Epoch: running.Epoch, Because: fmt.Sprintf("the worker has been running at epoch %d", running.Epoch)}
}

// assemble decides while no worker may run.
func assemble(v View) Action {
	self := v.Self
	if w := find(v, Worker.Runs); w != nil {
		if find(v, mustStop) != nil || !self.Ending {
			return stopWorkers("container %s runs", w.Container)
		}
		if stuck := find(v, isStuck); stuck != nil {
			return wait(cannotStop, stuck.Container, stuck.Problem)
		}
		return wait("the worker of container %s is being stopped", w.Container)
	}
	unseen, done, open := find(v, unseen), find(v, isDone), find(v, isOpen)
	off := bypass(v.JobSet)
	switch {
	case open == nil:
		return wait("all containers are done")
	case done != nil && unseen != nil && !self.Ending:
		// It may be running.
		return wait("container %s has not connected", unseen.Container)
	case done != nil:
		return leave(protocol.ContainerDone, open.Container, "container %s is done, and container %s has to run again", done.Container, open.Container)
	case off != "":
		return startOutside(v, off)
	}
	if self.Epoch == 0 {
		if w := find(v, isAway); w != nil {
			return wait("container %s is not connected", w.Container)
		}
		return choose(v.JobSet)
	}
	action := compare(self, v.JobSet)
	switch action.Kind {
	case Restart:
		return stopWorkers("%s", action.Because)
	case Lift:
		action.Epoch = self.Epoch
	}
	return action
}

// afterLift decides while the workers run.
func afterLift(v View) Action {
	self, off := v.Self, bypass(v.JobSet)
	if self.Lifted == ByBypass && off == "" {
		return stopWorkers(bypassEnded)
	}
	if w := find(v, func(w Worker) bool { return w.State == Ended }); w != nil {
		return stopWorkers("the worker of container %s has ended: %s", w.Container, w.ending())
	}
	if w := find(v, isStuck); w != nil {
		return stopWorkers(cannotStop, w.Container, w.Problem)
	}
	if off == "" {
		if w := find(v, func(w Worker) bool { return w.Runs() && w.Epoch != self.Epoch }); w != nil {
			return stopWorkers("container %s runs at epoch %d, not at %d", w.Container, w.Epoch, self.Epoch)
		}
		if action := compare(self, v.JobSet); action.Kind == Restart {
			return stopWorkers("%s", action.Because)
		}
	}
	switch waiting := find(v, canStart); {
	case waiting != nil && off != "":
		return Action{Kind: Bypass, Because: off}
	case waiting != nil:
		return Action{Kind: Lift, Epoch: self.Epoch, Because: fmt.Sprintf("container %s is back", waiting.Container)}
	case off != "" && find(v, isWatched) != nil:
		return Action{Kind: Unwatch, Because: off}
	case find(v, isOpen) == nil && self.Lifted == ByEpoch && !self.EndReported:
		return Action{Kind: Report, Epoch: self.Epoch, Because: "all containers are done"}
	}
	return wait("running at epoch %d", self.Epoch)
}

// startOutside starts whoever is there (P34).
func startOutside(v View, off string) Action {
	switch {
	case v.Now.Before(v.Self.Pause):
		return wait("the worker ended soon after its start")
	case find(v, func(w Worker) bool { return w.Connected() }) == nil:
		return wait("no container has connected")
	}
	return Action{Kind: Bypass, Because: off}
}

// leaveAgain tells those who have not been told (P70).
func leaveAgain(v View) Action {
	if find(v, mustLeave) != nil {
		return leave("", "", "%s", v.Self.Leaving)
	}
	return wait("leaving: %s", v.Self.Leaving)
}

// find returns the first worker that is as asked for, nil if none is.
func find(v View, is func(Worker) bool) *Worker {
	for i := range v.Workers {
		if is(v.Workers[i]) {
			return &v.Workers[i]
		}
	}
	return nil
}

// ranEarlier: its supervisor said so long ago that it ran in an epoch, before which those of all containers had connected.
func ranEarlier(now time.Time) func(Worker) bool {
	return func(w Worker) bool { return w.Epoch > 0 && now.Sub(w.Seen) >= lostAfter }
}

func unseen(w Worker) bool   { return w.State == Unseen }
func isDone(w Worker) bool   { return w.State == Done }
func isOpen(w Worker) bool   { return w.State != Done }
func isStuck(w Worker) bool  { return w.State == Stuck }
func isAway(w Worker) bool   { return w.State != Done && !w.Connected() }
func isIdle(w Worker) bool   { return w.State == Idle || w.State == Ended }
func canStart(w Worker) bool { return w.State == Idle && w.Connected() }
func mustStop(w Worker) bool {
	return (w.State == Starting || w.State == Running) && w.Connected()
}

// isWatched: it may hang by the limits of its start, and was not told that a bypass has begun.
func isWatched(w Worker) bool { return mustStop(w) && w.Epoch > 0 && !w.Unwatched }

func mustLeave(w Worker) bool { return w.Connected() && w.State != Leaving }

// ending says how a worker ended.
func (w Worker) ending() string {
	switch {
	case w.Problem != "":
		return w.Problem
	case w.Exit == nil:
		return "its container was restarted"
	case w.Exit.Hung.Hung():
		return fmt.Sprintf("it hung: %s", w.Exit.Hung)
	case w.Exit.OOMKilled:
		return "out of memory"
	case w.Exit.Signal != 0:
		return fmt.Sprintf("signal %d", w.Exit.Signal)
	}
	return fmt.Sprintf("exit code %d", w.Exit.Code)
}

// plannedStop returns how a worker of an epoch is stopped that may save its state first; nil if it may not (P142). The
// status says so of the last break, and only as long as the group waits for those that it stopped.
func (js *JobSet) plannedStop(epoch int32) *protocol.PlannedStop {
	if epoch != js.Deprecated || js.Deprecated != js.Synced || js.PlannedStop == (protocol.PlannedStop{}) || bypass(*js) != "" {
		return nil
	}
	stop := js.PlannedStop
	return &stop
}

// replaced reports whether the workers of an epoch were replaced by force while their node was silent: their successors may run, so
// that what they would save at a stop would come too late (P175).
func (js *JobSet) replaced(epoch int32) bool {
	return epoch > 0 && epoch <= min(js.LostIn, js.Deprecated) && bypass(*js) == ""
}

const cannotStop = "container %s cannot be stopped: %s"

const bypassEnded = "the worker was started while in-place restart was off, and it is on again"

func stopWorkers(format string, args ...any) Action {
	return Action{Kind: StopWorkers, Because: fmt.Sprintf(format, args...)}
}

func leave(reason protocol.LeaveReason, container, format string, args ...any) Action {
	because := fmt.Sprintf(format, args...)
	if len(because) > becauseLimit {
		because = strings.ToValidUTF8(because[:becauseLimit], "")
	}
	return Action{Kind: Leave, Reason: reason, Container: container, Because: because}
}
