/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"fmt"
	"math"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Lifted says whether, and why, this process has released its worker.
type Lifted string

const (
	// Held: the worker has not been released. It is the zero value, so an unset field means held.
	Held Lifted = ""
	// ByEpoch: the whole group had reached the epoch of this process.
	ByEpoch Lifted = "epoch"
	// ByBypass: in-place restart was off for this JobSet.
	ByBypass Lifted = "bypass"
)

// Self is what an agent process knows about itself. None of it outlives the process. In container
// mode a new agent process means that no older worker runs in this Pod; in process mode
// the supervisors say whether one does, and Epoch, Reported and Lifted are those of a round.
type Self struct {
	// UID is that of the JobSet of this Pod; empty while unknown.
	UID string
	// Epoch is the one that this process chose; 0 if it has chosen none yet.
	Epoch int32
	// Reported is true once the API server has accepted Epoch.
	Reported bool
	// Lifted is the state of the barrier.
	Lifted Lifted

	// The rest is for process mode only.

	// Ending: the round is over. What still runs is to be stopped, and then a fresh round begins.
	Ending bool
	// EndReported is true once the end of all workers was reported (P66).
	EndReported bool
	// Leaving is why this Pod must be replaced, empty if it need not (P70).
	Leaving string
	// Tell is the exit that the next report tells, or the one that is not accepted yet (P66).
	Tell *protocol.WorkerExit
	// Progress is that of the workers that have ended, told with the same report (P137).
	Progress *protocol.ProgressReport
	// LiftedAt is when the workers of this round were released.
	LiftedAt time.Time
	// Quick counts the failures in a row of workers that ran for a short time during a bypass,
	// and Pause is until when such a worker is not started.
	Quick int
	Pause time.Time
}

// JobSet holds what the agent needs to know about its JobSet. The zero value is a JobSet that does not exist.
type JobSet struct {
	Exists bool
	UID    string
	// Deleting: it has a deletion timestamp.
	Deleting bool
	// Suspended: its specification says so, and its Pods are about to be deleted.
	Suspended bool
	// Ended: it has completed or failed, and its Pods may be kept for a while.
	Ended bool
	// InPlace: its restart strategy is InPlaceRestart.
	InPlace bool
	// Disabled: condition InPlaceRestartDisabled is True.
	Disabled bool
	// Deprecated is D, Synced is S. Neither is negative.
	Deprecated, Synced int32
	// Restarts counts those of all its Jobs and those in place; workers are told in process mode.
	Restarts int32
	// World is the place of our worker in the synced epoch; workers are told in process mode.
	World protocol.World
	// Outside is its place by the specification, which it is told during a bypass.
	Outside protocol.World
	// Progress is when a worker hangs (P131), nil if nobody watches it; workers are told in process mode.
	Progress *protocol.Progress
	// PlannedStop is how workers of epoch D are stopped, if that was deprecated as planned (P142); used in process mode.
	PlannedStop protocol.PlannedStop
	// LostIn is the last epoch whose workers on the node of this Pod were replaced by force, 0 if none were (P175).
	LostIn int32
	// Workers is how many Pods its specification asks for. No decision depends on it.
	Workers int
}

// View is everything that a decision depends on.
type View struct {
	Self   Self
	JobSet JobSet
	// Workers are all that this Pod should have, in process mode; nil in container mode.
	Workers []Worker
	// Now is needed in process mode only.
	Now time.Time
}

// Kind names what an agent does next.
type Kind string

const (
	// Wait: do nothing. A held worker stays held, a running one keeps running.
	Wait Kind = "Wait"
	// Report: choose Action.Epoch and write it to the Pod.
	Report Kind = "Report"
	// Lift: release the worker, because the group is complete.
	Lift Kind = "Lift"
	// Bypass: release the worker without reporting, because in-place restart is off.
	Bypass Kind = "Bypass"
	// Restart: end the process with the restart exit code. In container mode only.
	Restart Kind = "Restart"
	// Unwatch: let nobody end a worker of an epoch because it gives no sign: a bypass has begun. In process mode only (P131a).
	Unwatch Kind = "Unwatch"
	// StopWorkers: end the round and stop what runs of it. In process mode only, like Leave.
	StopWorkers Kind = "StopWorkers"
	// Leave: let the supervisors end, so that the Pod is replaced.
	Leave Kind = "Leave"
)

// Action is a decision and its reason, for the log.
type Action struct {
	Kind Kind
	// Epoch to report with Report. In process mode also the one to run at with Lift, which the
	// workers may be running at already: then this is that agent again (P65).
	Epoch int32
	// Reason and Container at fault are set with Leave only.
	Reason    protocol.LeaveReason
	Container string
	Because   string
}

// Decide returns the next action of an agent. The order of the checks matters:
// whose JobSet is it, does it restart in place at all, and only then the epochs.
func Decide(v View) Action {
	self, js := v.Self, v.JobSet
	keepsQuiet := quiet(self, js)
	switch {
	case self.Leaving != "":
		return leaveAgain(v)
	case keepsQuiet != "":
		return wait("%s", keepsQuiet)
	case v.Workers != nil:
		return decideRound(v)
	}
	if off := bypass(js); off != "" {
		if self.Lifted != Held {
			return wait("%s", off)
		}
		return Action{Kind: Bypass, Because: off}
	}
	if self.Lifted == ByBypass {
		// The worker runs in no epoch, so it must restart to join the group.
		return Action{Kind: Restart, Because: bypassEnded}
	}
	if self.Epoch == 0 {
		return choose(js)
	}
	return compare(self, js)
}

// quiet returns why an agent starts, stops and reports nothing, or "".
func quiet(self Self, js JobSet) string {
	switch {
	// A JobSet that is not ours, or no longer exists, is no reason to start our worker
	// and none to stop it. Our Pod is about to be deleted.
	case !js.Exists:
		return "the JobSet does not exist"
	case self.UID != "" && js.UID != self.UID:
		return fmt.Sprintf("the JobSet has UID %s, this Pod belongs to %s", js.UID, self.UID)
	case js.Deleting:
		return "the JobSet is being deleted"
	// The epochs say restart, but the Pod will be deleted: whoever saves its state has the grace of
	// the Pod for that, and only seconds before a restart (P32a).
	case js.Suspended:
		return "the JobSet is suspended"
	// What still runs of it may be looked at, and nothing starts again, also not by a bypass (P34a).
	case js.Ended:
		return "the JobSet has ended"
	}
	return ""
}

// bypass returns why the barrier does not apply to this JobSet, or "" (P34). The annotation that disables in-place restart is
// not obeyed but by the condition that the manager makes of it: only so can the manager tell what has run outside of epochs (P34b).
func bypass(js JobSet) string {
	switch {
	case !js.InPlace:
		return "the JobSet's restart strategy is not InPlaceRestart"
	case js.Disabled:
		return "in-place restart is disabled by condition InPlaceRestartDisabled"
	}
	return ""
}

// choose picks the epoch to report (P31), step 2 of the picture in doc.go.
func choose(js JobSet) Action {
	switch {
	case js.Synced == math.MaxInt32:
		return wait("synced epoch %d has no successor", js.Synced)
	case js.Synced < js.Deprecated:
		// No controller writes this. Reporting S+1 <= D would lead to a restart at once,
		// and RestartAllContainers has no backoff, so hold until the status is repaired.
		return wait("deprecated epoch %d is above synced epoch %d", js.Deprecated, js.Synced)
	}
	return Action{
		Kind:    Report,
		Epoch:   js.Synced + 1,
		Because: fmt.Sprintf("the group last reached epoch %d", js.Synced),
	}
}

// compare restarts (P32) or lifts (P33) by the epochs: steps 4 and 5 of the picture. The order
// matters: after a break D == S, and a worker of that epoch must restart, not start.
func compare(self Self, js JobSet) Action {
	epoch, deprecated, synced := int64(self.Epoch), int64(js.Deprecated), int64(js.Synced)
	switch {
	case epoch <= deprecated:
		return restart("epoch %d is deprecated (deprecated epoch %d)", epoch, deprecated)
	case epoch < synced:
		return restart("epoch %d was left behind (synced epoch %d)", epoch, synced)
	case epoch > synced+1, epoch > synced && self.Lifted != Held:
		// No worker is lifted above S, so a lifted worker sees a smaller S only if the status was reset.
		return restart("epoch %d is ahead of the JobSet, whose status was lost or restored (synced epoch %d)", epoch, synced)
	case self.Lifted != Held:
		return wait("running at epoch %d", epoch)
	case !self.Reported:
		// S can reach this epoch without our report: an earlier process of this Pod may
		// have reported it and died. The worker starts only after this process has reported.
		return wait("the report of epoch %d is not accepted yet", epoch)
	case epoch == synced:
		return Action{Kind: Lift, Because: fmt.Sprintf("the whole group has reached epoch %d", epoch)}
	}
	return wait("waiting for the group to reach epoch %d", epoch)
}

func wait(format string, args ...any) Action {
	return Action{Kind: Wait, Because: fmt.Sprintf(format, args...)}
}

func restart(format string, args ...any) Action {
	return Action{Kind: Restart, Because: fmt.Sprintf(format, args...)}
}
