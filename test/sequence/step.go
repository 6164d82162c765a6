/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "slices"

// enabled appends the steps that can happen now. A pass that would come to nothing may be among them.
func (w *world) enabled(steps []step) []step {
	steps = w.controllerSteps(steps)
	for i := range w.pods {
		steps = w.podSteps(steps, i)
	}
	live := w.jobs.live()
	for i := range live {
		steps = w.jobSteps(steps, &live[i])
	}
	return w.troubles(steps)
}

func (w *world) controllerSteps(steps []step) []step {
	if w.jobSet.lag() > 0 {
		steps = append(steps, step{kind: cacheJobSet})
	}
	if w.jobs.lag() > 0 {
		steps = append(steps, step{kind: cacheJobs})
	}
	for i := range w.podCache {
		if w.podCache[i].lag() > 0 {
			steps = append(steps, step{kind: cachePods, uid: w.podCache[i].job})
		}
	}
	for i := range w.leaseCache {
		if w.leaseCache[i].lag() > 0 {
			steps = append(steps, step{kind: cacheLeases, uid: w.leaseCache[i].job})
		}
	}
	switch {
	case w.pass == nil:
		steps = append(steps, step{kind: begin})
	case w.pass.closer != nil:
		steps = append(steps, step{kind: confirm})
	default:
		steps = w.pass.steps(steps, perform, writeStatus)
	}
	if w.held == waits {
		steps = append(steps, step{kind: waitEnds})
	}
	if w.sc.clock && w.pass == nil && w.ghost == nil && (w.lagInAll() == 0 || w.sc.inFlight && w.lagOfOthers() == 0) {
		steps = append(steps, step{kind: periodPasses})
	}
	if w.sc.pauses {
		steps = w.pauseSteps(steps)
	}
	if w.sc.ft != nil {
		steps = w.toleranceSteps(steps)
	}
	if w.sc.lost {
		steps = w.lostSteps(steps)
	}
	if w.claim == claimLeaves && !w.claimInUse() {
		steps = append(steps, step{kind: claimGone})
	}
	if w.ghost != nil {
		steps = w.ghost.steps(steps, ghostPerform, ghostWriteStatus)
	}
	return steps
}

func (p *pass) steps(steps []step, perform, write stepKind) []step {
	if len(p.ops) == 0 {
		return append(steps, step{kind: write})
	}
	for at := range p.underWay() {
		steps = append(steps, step{kind: perform, n: int8(at)})
	}
	return steps
}

func (w *world) podSteps(steps []step, at int) []step {
	p := &w.pods[at]
	add := func(kind stepKind) { steps = append(steps, step{kind: kind, uid: p.uid}) }
	if p.late != 0 && !p.waitsForLift() {
		add(lateReport)
	}
	if p.phase != running {
		if p.tracked && w.canCount(p) {
			add(podCounted)
		}
		if p.backoff {
			add(backoffEnds)
		}
	} else {
		a := &p.agent
		switch {
		case a.gone || w.isCut(p):
		case !a.looked:
			if !p.deleting && !p.hung && p.node != nowhere {
				add(agentStart)
				if w.sc.twist == staleFirstRead && len(w.views) > 1 {
					steps = append(steps, step{kind: agentStart, uid: p.uid, n: 1})
				}
			}
		default:
			if int(a.view) < len(w.views)-1 {
				add(agentLook)
			}
			if int(a.view) < len(w.views)-2 {
				steps = append(steps, step{kind: agentLook, uid: p.uid, n: 1})
			}
			if a.sending {
				add(agentReport)
				if w.sc.refusals && w.inLease(p) {
					steps = append(steps, step{kind: agentReport, uid: p.uid, n: 1})
				}
			} else if a.epoch > 0 && !a.reported && a.lifted == held {
				add(agentAck)
			}
		}
		switch {
		case p.ended:
			add(podSucceeds)
		case p.sup != nil:
		case p.canStart():
			add(workerStart)
		case p.restarting && !p.deleting:
			add(podRestarts)
		}
		if p.sup != nil && !p.ended {
			steps = w.containerSteps(steps, p)
		}
		if p.deleting {
			if !p.ended && !p.lost && !w.isCut(p) {
				add(podStops)
			}
			if w.sc.graces && !p.overdue {
				add(podGraceEnds)
			}
		}
	}
	if j := w.jobOf(p.job); j != nil && (j.unwanted(p) || w.surplus(p)) {
		add(podUnwanted)
	}
	return steps
}

func (w *world) jobSteps(steps []step, j *job) []step {
	if w.sc.ft != nil && !j.deleting && !j.finished() && j.awake == j.suspend {
		steps = append(steps, step{kind: map[bool]stepKind{true: jobSleeps, false: jobWakes}[j.awake], uid: j.uid})
	}
	if w.sees(j, false) {
		steps = append(steps, step{kind: jobSees, uid: j.uid})
	}
	for index := range j.size {
		if w.canCreate(j, index) {
			steps = append(steps, step{kind: podCreated, uid: j.uid, n: index})
		}
	}
	if has(w.sc.leaders, int(j.rjob)) && j.isDone(0) && !j.criteriaMet && !j.failing && !j.finished() {
		steps = append(steps, step{kind: jobSucceeds, uid: j.uid})
	}
	if w.canFinish(j) {
		steps = append(steps, step{kind: jobFinished, uid: j.uid})
	}
	js := w.jobSet.live()
	if w.sc.expires && j.complete && !j.deleting {
		steps = append(steps, step{kind: jobExpires, uid: j.uid})
	}
	switch {
	case j.deleting && !w.hasPods(j.uid):
		steps = append(steps, step{kind: jobRemoved, uid: j.uid})
	case !j.deleting && (!js.exists || j.owner != js.uid):
		steps = append(steps, step{kind: jobCollected, uid: j.uid})
	}
	return steps
}

// after returns the world after a step, nil if nothing changed. An error is a property violated.
func (w *world) after(s step, d *decider) (*world, error) {
	next := w.clone()
	changed, err := next.take(s, d)
	if err == nil && changed {
		next.tidy()
		err = next.check()
	}
	if err == nil && (!changed || next.lagsTooMuch(w, s)) {
		return nil, nil
	}
	return next, err
}

// lagsTooMuch reports whether a step is one that the bound on the lag of all caches leaves out.
func (w *world) lagsTooMuch(before *world, s step) bool {
	lag := w.lagInAll()
	return w.sc.lagInAll > 0 && lag > w.sc.lagInAll && lag > before.lagInAll() && s.kind != leaderChange
}

func (w *world) take(s step, d *decider) (changed bool, err error) {
	switch {
	case s.kind > firstTrouble:
		return true, w.trouble(s)
	case s.kind >= agentStart && s.kind <= podGraceEnds:
		return true, w.nodeStep(s)
	case s.kind >= podCounted:
		return true, w.jobStep(s, d)
	}
	switch s.kind {
	case cacheJobSet:
		w.jobSet = w.jobSet.advance()
	case cacheJobs:
		w.jobs = w.jobs.advance()
	case cachePods:
		c := *w.cacheOf(s.uid)
		before := c.cached()
		c.history = c.advance()
		w.notice(before, c.cached())
		w.replaceCache(c)
	case cacheLeases:
		w.seeLeases(s.uid)
	case begin:
		return w.begin(d)
	case waitEnds:
		return w.waitEnds(), nil
	case periodPasses:
		return w.periodPasses(d), nil
	case minutePasses:
		w.ages(func(s *status) { s.young = false })
	case pauseEnds:
		w.ages(func(s *status) { s.pause = s.pause.end() })
	case retryPauseEnds, jobAges, troubleLasts, moveEnds, placeIsLate, dayPasses:
		w.timePasses(s)
	case ticks, timeIsUp, nodeReturns, remnantEnds, peerFails:
		return true, w.lostStep(s)
	case confirm:
		return w.confirm(d, *w.pass.closer)
	case perform:
		w.pass = w.perform(w.pass, int(s.n))
	case ghostPerform:
		w.ghost = w.perform(w.ghost, int(s.n))
	case writeStatus:
		p := w.pass
		w.pass = nil
		if p.fresh {
			return true, w.writeStatus(p.basis, p.next)
		}
	case ghostWriteStatus:
		p := w.ghost
		w.ghost = nil
		if p.fresh {
			return true, w.writeStatus(p.basis, p.next)
		}
	}
	return true, nil
}

func (w *world) nodeStep(s step) error {
	if s.kind >= containerStarts && s.kind <= containersOver {
		return w.containerStep(s)
	}
	at := w.podAt(s.uid)
	switch s.kind {
	case agentStart:
		return w.startAgent(at, int(s.n))
	case agentLook:
		return w.agentLooks(at, s.n == 1)
	case agentReport:
		w.agentReports(at, s.n == 1)
		if !w.sc.splitReport {
			return w.agentReported(at)
		}
	case agentAck:
		return w.agentReported(at)
	case lateReport:
		w.reportsLate(at)
	case claimGone:
		w.claim = noClaim
	case podStops:
		w.stop(at, podFailed)
	case workerStart:
		return w.workerStarts(at)
	case podRestarts:
		w.pods[at].restart()
	case podSucceeds:
		w.stop(at, podSucceeded)
	case podGraceEnds:
		w.graceEnds(s.uid)
	}
	return nil
}

func (w *world) jobStep(s step, d *decider) error {
	switch s.kind {
	case podCounted:
		w.counts(w.podAt(s.uid))
	case podCreated:
		node, err := w.place(d)
		if err != nil {
			return err
		}
		if w.sc.lost {
			node = w.placeOff(d, s.n)
		}
		w.createPod(s.uid, s.n, node)
	case backoffEnds:
		w.backoffEnds(s.uid)
	case podUnwanted:
		w.deletePod(w.podAt(s.uid))
	case jobWakes, jobSleeps:
		w.changeJob(s.uid, func(j *job) { j.awake, j.age = s.kind == jobWakes, onTime })
	case jobSees:
		w.sees(w.jobOf(s.uid), true)
	case jobSucceeds:
		w.changeJob(s.uid, func(j *job) { j.criteriaMet = true })
	case jobFinished:
		w.finish(s.uid)
	case jobExpires:
		j := w.jobOf(s.uid)
		w.book.expired = append(slices.Clip(w.book.expired), expiredJob{j.rjob, j.index, j.attempt})
		w.changeJob(s.uid, func(j *job) { j.deleting = true })
	case jobRemoved:
		w.remove(s.uid)
	case jobCollected:
		w.changeJob(s.uid, func(j *job) { j.deleting = true })
	}
	return nil
}
