/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"sigs.k8s.io/jobset/supervisor"
)

// standbyProcess is a second copy of the program.
type standbyProcess int8

const (
	noStandby standbyProcess = iota
	// comes: it has not reached its gate; waits: it has.
	comes
	atGate
)

func (s standbyProcess) String() string { return []string{"", "+standby", "+gate"}[s] }

// standbySteps are what can happen next to the gates of a container.
func (w *world) standbySteps(c *container) []stepKind {
	if !w.sc.warm {
		return nil
	}
	var kinds []stepKind
	if c.sup.Runs() && c.sup.Phase == supervisor.Running && !c.opened {
		kinds = append(kinds, gateOpens)
	}
	if c.sup.Standby.Life == supervisor.Due {
		kinds = append(kinds, standbyStarts)
	}
	if c.standby == comes {
		kinds = append(kinds, gateReached)
	}
	return kinds
}

func (w *world) standbyStep(at, n int, kind stepKind) error {
	c := &w.pods[at].sup.containers[n]
	switch kind {
	case gateOpens:
		c.opened = true
		return w.supervise(at, n, supervisor.Event{Gate: supervisor.ProgramPassed})
	case standbyStarts:
		return w.supervise(at, n, supervisor.Event{StandbyDue: true})
	default:
		c.standby = atGate
	}
	return nil
}

// checkStandby checks property 9 when a supervisor acts.
func (c *container) checkStandby(before supervisor.State, a supervisor.Action) error {
	switch {
	case a.Drop && c.standby != noStandby && before.Standby.Life != supervisor.Passing && !c.sup.Run.Bypass:
		return violates(9, "a standby that could wait is killed")
	case a.Prepare && c.standby != noStandby:
		return violates(9, "a second standby is started")
	case a.Prepare && !before.Runs():
		return violates(9, "a standby is started where no worker runs")
	}
	return nil
}

// actOnStandby does what a supervisor decided about its standby.
func (w *world) actOnStandby(at, n int, before supervisor.State, a supervisor.Action) error {
	p := &w.pods[at]
	c := &p.sup.containers[n]
	switch {
	case a.Open != nil && int8(a.Open.Epoch) <= c.ran:
		return violates(9, "a gate is opened for epoch %d, which has run in this container", a.Open.Epoch)
	case a.Open != nil && c.standby != atGate:
		return w.supervise(at, n, supervisor.Event{Gate: supervisor.StandbyAbsent})
	case a.Open != nil:
		if c.left || before.Runs() {
			return violates(1, "a gate is opened while processes of the worker before exist")
		}
		c.standby, c.ran, c.left, c.opened = noStandby, int8(a.Open.Epoch), true, true
		if err := w.startedIn(p, n); err != nil {
			return err
		}
		return w.supervise(at, n, supervisor.Event{Gate: supervisor.StandbyPassed})
	case a.Drop:
		c.standby = noStandby
	case a.Prepare:
		c.standby = comes
	}
	return nil
}
