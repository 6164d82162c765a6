/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"sigs.k8s.io/jobset/agent"
)

// startAgent is a new agent process and its first look, which is fresh (P30).
func (w *world) startAgent(at, ago int) error {
	p := &w.pods[at]
	p.agent = process{looked: true, view: int8(len(w.views) - 1 - ago)}
	return w.agentDecides(at)
}

// agentLooks is an agent that sees the next version of the JobSet. Versions that make no
// difference to it pass by in the same step; so do all, unseen, if its watch broke.
func (w *world) agentLooks(at int, anew bool) error {
	if anew {
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
		if *p != was || p.agent.sending || int(p.agent.view) == len(w.views)-1 {
			return nil
		}
	}
}

// agentReports is the report as it reaches the API server.
func (w *world) agentReports(at int) {
	p := &w.pods[at]
	p.epoch, p.agent.sending = p.agent.epoch, false
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
	j := w.jobOf(p.job)
	if j == nil {
		return nil
	}
	action := agent.Decide(agent.View{Self: p.self(j.owner), JobSet: w.views[p.agent.view]})
	switch action.Kind {
	case agent.Report:
		p.agent.epoch, p.agent.sending, p.agent.era = int8(action.Epoch), true, w.era
	case agent.Lift:
		p.agent.lifted, p.worker = byEpoch, p.agent.epoch
		return w.started(p)
	case agent.Bypass:
		p.agent.lifted, p.agent.sending, p.worker = byBypass, false, -1
		w.book.pending = true // a worker that runs in no epoch has to join one later
	case agent.Restart:
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
	if p.deleting {
		p.agent = process{gone: true, era: p.agent.era} // the era is the worker's too
		return
	}
	p.restart()
}

// restart ends all that runs in a Pod. The kubelet starts an agent again.
func (p *pod) restart() { p.agent, p.worker = process{}, 0 }

// stop is the end of a Pod: nothing runs in it any more.
func (w *world) stop(at int, phase podPhase) {
	p := &w.pods[at]
	p.phase, p.agent, p.worker = phase, process{gone: true}, 0
	w.publish(p.job)
}

// graceEnds is the moment at which a Pod has to be gone. It is a matter of the clock, so
// that old versions of the Pod show it too.
func (w *world) graceEnds(uid int16) {
	at := w.podAt(uid)
	w.pods[at].overdue = true
	c := w.cacheOf(w.pods[at].job)
	versions := make([][]podObject, len(c.versions))
	for i, version := range c.versions {
		for _, p := range version {
			p.overdue = p.overdue || p.uid == uid && p.deleting
			versions[i] = append(versions[i], p)
		}
	}
	c2 := *c
	c2.versions = versions
	w.replaceCache(c2)
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
