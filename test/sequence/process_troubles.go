/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// containerTroubles appends what may go wrong in the containers of a Pod in process mode.
func (w *world) containerTroubles(steps []step, p *pod) []step {
	if w.sc.kinds&sandboxGone != 0 && p.agent.looked {
		steps = append(steps, step{kind: sandboxDies, uid: p.uid})
	}
	for i := range p.sup.all() {
		c := &p.sup.containers[i]
		add := func(of failures, can bool, kind stepKind) {
			if w.sc.kinds&of != 0 && can {
				steps = append(steps, step{kind: kind, uid: p.uid, n: int8(i)})
			}
		}
		runs := c.up && c.sup.Runs() && !c.sup.Stopping && !c.sup.Terminated
		add(workerExit, runs, workerExits)
		add(exitZero, runs, workerExits0)
		add(containerDeath, c.up, containerDies)
		add(brokenLink, c.talks, linkBreaks)
		add(earlyEnd, c.standby != noStandby, standbyEnds)
		add(stuckProcess, c.up && c.left && (c.sup.Phase == supervisor.Killing || c.sup.Stopping && !c.sup.Terminated), processStays)
		add(lateContainer, c.knows.lost && !c.knows.late && c.knows.state != agent.Done, containerAway)
	}
	return steps
}

// containerTrouble takes a step of the kinds above, or reports that it is of another kind.
func (w *world) containerTrouble(s step, at int) (is bool, err error) {
	p, n := &w.pods[at], int(s.n)
	c := &p.change().containers[n]
	switch s.kind {
	case workerExits, workerExits0:
		err = w.childEnds(at, n, s.kind == workerExits0)
	case containerDies:
		w.containerDies(at, n)
	case linkBreaks:
		w.disturb(p)
		err = w.breakLink(at, n)
	case processStays:
		w.disturb(p)
		err = w.supervise(at, n, supervisor.Event{Timeout: c.sup.Phase})
	case standbyEnds:
		c.standby = noStandby
		err = w.supervise(at, n, supervisor.Event{StandbyEnded: &protocol.Exit{Code: 1}})
	case containerAway:
		w.disturb(p)
		c.knows.late = true
		err = w.agentDecides(at)
	case agentCrashes:
		w.agentDies(p)
	case sandboxDies:
		w.failing(p)
		w.empties(at)
		return true, nil
	default:
		return false, nil
	}
	p.worker = p.sup.worker()
	return true, err
}
