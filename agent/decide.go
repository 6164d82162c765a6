/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"fmt"
	"math"
)

// Lifted says whether, and why, this process has let its worker start.
type Lifted string

const (
	// Held: the worker has not been let go. The zero value, so that forgetting to set it holds.
	Held Lifted = ""
	// ByEpoch: the whole group stood at the epoch of this process.
	ByEpoch Lifted = "epoch"
	// ByBypass: in-place restart was off for this JobSet.
	ByBypass Lifted = "bypass"
)

// Self is what an agent process knows of itself. Nothing of it outlives the
// process: a new agent process means that no older worker runs in this Pod.
type Self struct {
	// UID of the JobSet that this Pod belongs to; empty while unknown.
	UID string
	// Epoch that this process chose; 0 while it has chosen none.
	Epoch int32
	// Reported is true once the API server has accepted Epoch.
	Reported bool
	// Lifted is what became of the barrier.
	Lifted Lifted
}

// JobSet is what the agent reads of its JobSet. The zero value is a JobSet that does not exist.
type JobSet struct {
	Exists bool
	UID    string
	// Deleting: it has a deletion timestamp.
	Deleting bool
	// InPlace: its restart strategy is InPlaceRestart.
	InPlace bool
	// DisabledByAnnotation: it carries the annotation that makes agents pass straight through.
	DisabledByAnnotation bool
	// DisabledByGate: condition InPlaceRestartDisabled is True.
	DisabledByGate bool
	// Deprecated is D, Synced is S. Neither is negative.
	Deprecated, Synced int32
}

// View is all that a decision is made on.
type View struct {
	Self   Self
	JobSet JobSet
}

// Kind names what an agent does next.
type Kind string

const (
	// Wait: nothing to do. A held worker stays held, a running one runs on.
	Wait Kind = "Wait"
	// Report: choose Action.Epoch and write it to the Pod.
	Report Kind = "Report"
	// Lift: let the worker start, because the group is complete.
	Lift Kind = "Lift"
	// Bypass: let the worker start without reporting, because in-place restart is off.
	Bypass Kind = "Bypass"
	// Restart: end the process with the restart exit code.
	Restart Kind = "Restart"
)

// Action is a decision and its reason, fit for a log line.
type Action struct {
	Kind Kind
	// Epoch to report; set with Report only.
	Epoch   int32
	Because string
}

// Decide says what an agent does on a view. The order of the questions is the protocol:
// whose JobSet is it, does it restart in place at all, and only then the epochs.
func Decide(v View) Action {
	self, js := v.Self, v.JobSet
	switch {
	// A JobSet that is not ours, or no longer there, says nothing about our worker:
	// no reason to start it and none to stop it. Its Pods are about to be deleted.
	case !js.Exists:
		return wait("the JobSet does not exist")
	case self.UID != "" && js.UID != self.UID:
		return wait("the JobSet has UID %s, this Pod belongs to %s", js.UID, self.UID)
	case js.Deleting:
		return wait("the JobSet is being deleted")
	}
	if off := bypass(js); off != "" {
		if self.Lifted != Held {
			return wait("%s", off)
		}
		return Action{Kind: Bypass, Because: off}
	}
	if self.Lifted == ByBypass {
		// The worker runs in no epoch at all, so it cannot join the group as it is.
		return Action{Kind: Restart, Because: "the worker was started while in-place restart was off, which it no longer is"}
	}
	if self.Epoch == 0 {
		return choose(js)
	}
	return compare(self, js)
}

// bypass is P34: why the barrier does not apply to this JobSet, or "".
func bypass(js JobSet) string {
	switch {
	case !js.InPlace:
		return "the JobSet's restart strategy is not InPlaceRestart"
	case js.DisabledByAnnotation:
		return "in-place restart is disabled by annotation"
	case js.DisabledByGate:
		return "in-place restart is disabled by condition InPlaceRestartDisabled"
	}
	return ""
}

// choose is P31, step 2 of the picture.
func choose(js JobSet) Action {
	switch {
	case js.Synced == math.MaxInt32:
		return wait("synced epoch %d has no successor", js.Synced)
	case js.Synced < js.Deprecated:
		// No controller writes this. Reporting S+1 <= D would end in a restart at once,
		// and RestartAllContainers has no backoff; so hold until the status is mended.
		return wait("deprecated epoch %d is above synced epoch %d", js.Deprecated, js.Synced)
	}
	return Action{
		Kind:    Report,
		Epoch:   js.Synced + 1,
		Because: fmt.Sprintf("the group last stood at epoch %d", js.Synced),
	}
}

// compare is P32, then P33: steps 4 and 5 of the picture. The order matters: after a break
// D == S, and a worker of that very epoch must restart, not start.
func compare(self Self, js JobSet) Action {
	epoch, deprecated, synced := int64(self.Epoch), int64(js.Deprecated), int64(js.Synced)
	switch {
	case epoch <= deprecated:
		return restart("epoch %d is deprecated (deprecated epoch %d)", epoch, deprecated)
	case epoch < synced:
		return restart("epoch %d was left behind (synced epoch %d)", epoch, synced)
	case epoch > synced+1, epoch > synced && self.Lifted != Held:
		// Nothing is lifted above S, so a worker that was lifted sees a smaller S only if the status went back.
		return restart("epoch %d is ahead of the JobSet, whose status was lost or restored (synced epoch %d)", epoch, synced)
	case self.Lifted != Held:
		return wait("running at epoch %d", epoch)
	case !self.Reported:
		// S can reach this epoch without our report: an earlier process of this Pod may
		// have reported it and died. The worker starts only when this process is counted.
		return wait("the report of epoch %d is not accepted yet", epoch)
	case epoch == synced:
		return Action{Kind: Lift, Because: fmt.Sprintf("the whole group stands at epoch %d", epoch)}
	}
	return wait("waiting for the group to reach epoch %d", epoch)
}

func wait(format string, args ...any) Action {
	return Action{Kind: Wait, Because: fmt.Sprintf(format, args...)}
}

func restart(format string, args ...any) Action {
	return Action{Kind: Restart, Because: fmt.Sprintf(format, args...)}
}
