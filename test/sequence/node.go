/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"

	"sigs.k8s.io/jobset/agent"
)

// startAgent is a new agent process and its first look, which is fresh (P30).
func (w *world) startAgent(at, ago int) error {
	p := &w.pods[at]
	p.agent = process{looked: true, view: int8(len(w.views) - 1 - ago)}
	if p.sup != nil {
		p.change().leaving = p.sup.leaveFile
	}
	if w.sc.recreates() && !p.started {
		p.started = true
		w.publish(p.job)
	}
	return w.agentDecides(at)
}

// agentLooks is an agent that sees the next version of the JobSet. Versions that make no
// difference to it pass by in the same step; so do all, unseen, if its watch broke.
func (w *world) agentLooks(at int, again bool) error {
	if again {
		w.pods[at].agent.view = int8(len(w.views) - 2)
	}
	for {
		p := &w.pods[at]
		p.agent.view++
		was := *p
		if err := w.agentDecides(at); err != nil {
			return err
		}
		p = &w.pods[at]
		if p.differs(&was) || p.agent.sending || int(p.agent.view) == len(w.views)-1 {
			return nil
		}
	}
}

// differs reports whether anything about a Pod is different.
func (p *pod) differs(was *pod) bool {
	if p.sup == nil {
		return *p != *was
	}
	a, b := *p, *was
	a.sup, b.sup = nil, nil
	return a != b || *p.sup != *was.sup
}

// agentReports is the report as it reaches the API server.
func (w *world) agentReports(at int, refused bool) {
	p := &w.pods[at]
	if p.agent.sending = false; w.inLease(p) && !refused {
		p.lease = p.agent.epoch
	} else {
		p.epoch = p.agent.epoch
	}
	w.tellsSteps(p)
	w.publish(p.job)
}

// giveUp ends a report that is under way. It may arrive at any later time all the same.
func (p *pod) giveUp() {
	if p.agent.sending {
		p.late, p.agent.sending = p.agent.epoch, false
	}
}

// waitsForLift reports whether the report of an agent in container mode, which is made once, was made, and all wait for
// the lift. A late report that overwrites it then is the deadline's matter (P24).
func (p *pod) waitsForLift() bool {
	a := &p.agent
	return p.sup == nil && p.phase == running && a.epoch > 0 && !a.sending && !a.gone && a.lifted == held
}

// reportsLate is such a report that arrives, whatever the Pod has reported, or run, since.
func (w *world) reportsLate(at int) {
	p := &w.pods[at]
	if w.inLease(p) {
		p.lease = p.late
	} else {
		p.epoch = p.late
	}
	p.late = 0
	w.publish(p.job)
}

// agentReported is the answer to the report as it reaches the agent.
func (w *world) agentReported(at int) error {
	w.pods[at].agent.reported = true
	return w.agentDecides(at)
}

// agentDecides lets an agent decide on what it sees, and does what it says.
func (w *world) agentDecides(at int) error {
	p := &w.pods[at]
	if p.sup != nil {
		return w.roundDecides(at)
	}
	j := w.jobOf(p.job)
	if j == nil {
		return nil
	}
	self, seen := p.self(j.owner), w.views[p.agent.view]
	if w.sc.noUID && !p.agent.reported { // the answer to the report tells it
		self.UID = ""
	}
	action := agent.Decide(agent.View{Self: self, JobSet: seen})
	switch action.Kind {
	case agent.Report:
		p.agent.epoch, p.agent.sending, p.agent.era = int8(action.Epoch), true, w.era
	case agent.Lift:
		if seen.UID != uidText(j.owner) {
			return violates(1, "a worker of a JobSet that is gone starts in epoch %d of the next of its name", p.agent.epoch)
		}
		p.agent.lifted = byEpoch
		if !w.sc.splitNode {
			return w.workerStarts(at)
		}
	case agent.Bypass:
		p.giveUp()
		p.agent.lifted, p.worker = byBypass, -1
	case agent.Restart:
		if seen.Suspended && p.worker != 0 {
			return violates(8, "an agent that sees that its Pod will be deleted restarts it")
		}
		w.agentEnds(at)
	}
	return nil
}

func (p *pod) self(owner int16) agent.Self {
	self := agent.Self{UID: uidText(owner), Epoch: int32(p.agent.epoch), Reported: p.agent.reported}
	switch p.agent.lifted {
	case byEpoch:
		self.Lifted = agent.ByEpoch
	case byBypass:
		self.Lifted = agent.ByBypass
	}
	return self
}

// agentEnds is an agent that asks for a restart of its Pod. The kubelet restarts all
// containers, or, if it is stopping the Pod anyway, nothing: then the worker has its grace.
func (w *world) agentEnds(at int) {
	p := &w.pods[at]
	p.giveUp()
	if p.deleting {
		p.agent = process{gone: true, era: p.agent.era} // the era is the worker's too
		return
	}
	if w.sc.splitNode {
		p.agent, p.restarting = process{gone: true, era: p.agent.era}, true
		return
	}
	p.restart()
}

// workerStarts is the kubelet that saw the barrier open.
func (w *world) workerStarts(at int) error {
	p := &w.pods[at]
	p.worker = p.agent.epoch
	return w.started(p)
}

// canStart reports whether the barrier of a Pod is open and its worker still to be started.
func (p *pod) canStart() bool {
	return p.sup == nil && p.agent.lifted == byEpoch && p.worker == 0 && !p.restarting && !p.ended && !p.deleting
}

// workerEnds is a worker that exits with anything but 0.
func (w *world) workerEnds(p *pod) {
	if w.sc.splitNode {
		p.worker, p.restarting = 0, true
		return
	}
	p.restart()
}

// exits0 is a worker that ran to its end. What the kubelet does then nothing in the Pod can
// change: it stops the agent, whatever code that exits with, and the Pod is Succeeded.
func (w *world) exits0(at int) {
	p := &w.pods[at]
	if j := w.jobOf(p.job); j != nil && j.owner == w.jobSet.live().uid && p.worker > 0 && p.agent.era == w.era {
		w.book.ranOut = append(slices.Clip(w.book.ranOut), ranOut{p.job, p.index, p.worker})
	}
	if w.sc.splitEnd {
		p.ended, p.agent, p.worker = true, process{gone: true}, 0
		w.publish(p.job)
	} else {
		w.stop(at, podSucceeded)
	}
	w.noteWin()
}

// restart ends all that runs in a Pod. The kubelet starts an agent again.
func (p *pod) restart() {
	p.giveUp()
	p.agent, p.worker, p.restarting = process{}, 0, false
}

// empties is the end of a sandbox: nothing runs in the Pod any more, and the kubelet starts nothing in it, but the
// Pod does not end. Files in its volumes stay, and nobody reads them.
func (w *world) empties(at int) {
	p := &w.pods[at]
	p.giveUp()
	p.agent, p.worker, p.restarting, p.empty = process{gone: true}, 0, false, true
	p.sup = &supervised{count: p.sup.count}
	w.publish(p.job)
}

// stop is the end of a Pod: nothing runs in it any more.
func (w *world) stop(at int, phase podPhase) {
	p := &w.pods[at]
	p.giveUp()
	p.phase, p.agent, p.worker, p.restarting, p.ended = phase, process{gone: true}, 0, false, false
	p.backoff = phase == podFailed && w.sc.backoffs && !p.fatal
	if p.sup != nil {
		p.sup = &supervised{count: p.sup.count}
	}
	w.publish(p.job)
}

// graceEnds is the moment at which a Pod has to be gone. It is a matter of the clock, so
// that old versions of the Pod show it too.
func (w *world) graceEnds(uid int16) {
	at := w.podAt(uid)
	w.pods[at].overdue = true
	w.inAllVersions(at, func(p *podObject) { p.overdue = p.overdue || p.deleting })
}

// backoffEnds is the moment from which on the Job controller may replace a Failed Pod, which is a matter of the clock, too.
func (w *world) backoffEnds(uid int16) {
	at := w.podAt(uid)
	w.pods[at].backoff = false
	w.inAllVersions(at, func(p *podObject) { p.backoff = false })
}

// inAllVersions changes a Pod in all versions that the cache may still see.
func (w *world) inAllVersions(at int, change func(*podObject)) {
	c := *w.cacheOf(w.pods[at].job)
	versions := make([][]podObject, len(c.versions))
	for i, version := range c.versions {
		for _, p := range version {
			if p.uid == w.pods[at].uid {
				change(&p)
			}
			versions[i] = append(versions[i], p)
		}
	}
	c.versions = versions
	w.replaceCache(c)
}

func (w *world) replaceCache(c podsOfJob) {
	caches := make([]podsOfJob, len(w.podCache))
	copy(caches, w.podCache)
	for i := range caches {
		if caches[i].job == c.job {
			caches[i] = c
		}
	}
	w.podCache = caches
}
