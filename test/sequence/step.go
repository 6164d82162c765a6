/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// stepKind is who does what.
type stepKind uint8

const (
	// The controller: its caches catch up, and it makes passes.
	cacheJobSet stepKind = iota
	cacheJobs
	cachePods // of Job uid
	begin
	confirm // after the Pods of a Job, read the Job past the cache
	perform // n: which of the writes under way
	writeStatus
	ghostPerform // the same of a former leader
	ghostWriteStatus

	// Agents and kubelets, of Pod uid.
	agentStart // n: how old the first look is
	agentLook  // n: 1: its watch broke, and it reads what is now
	agentReport
	agentAck
	podStops
	podGraceEnds

	// The Job controller and the garbage collector.
	podCounted   // Pod uid
	podCreated   // Job uid, index n
	podUnwanted  // Pod uid
	jobFinished  // Job uid
	jobRemoved   // Job uid
	jobCollected // Job uid: its JobSet is gone

	// From here on: what costs a budget.
	firstTrouble
	workerExits   // Pod uid
	workerExits0  // Pod uid
	agentCrashes  // Pod uid
	podIsDeleted  // Pod uid
	podFails      // Pod uid
	jobFails      // Pod uid: a Pod fails so that its Job does
	leaderChange  // n: bit 0: caches as old as they may be, bit 1: the former leader's writes are still under way
	suspendJobSet // until resumed
	resize        // ReplicatedJob uid to n workers

	// What a user may do in random schedules only.
	toggleDisabled
	toggleGate
	wipeStatus
	recreateJobSet
	forgeEpoch // Pod uid
	doublePod  // Pod uid: the Job controller makes a second one for its index

	resumeJobSet // costs nothing
)

// step is one thing that happens.
type step struct {
	kind stepKind
	uid  int16
	n    int8
}

// trouble tells whether a step stops when failures stop.
func (s step) trouble() bool { return s.kind > firstTrouble }

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
	switch {
	case w.pass == nil:
		steps = append(steps, step{kind: begin})
	case w.pass.closer != nil:
		steps = append(steps, step{kind: confirm})
	default:
		steps = w.pass.steps(steps, perform, writeStatus)
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
	if p.phase != running {
		if p.tracked {
			add(podCounted)
		}
	} else {
		a := &p.agent
		switch {
		case a.gone:
		case !a.looked:
			if !p.deleting {
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
			} else if a.epoch > 0 && !a.reported && a.lifted == held {
				add(agentAck)
			}
		}
		if p.deleting {
			add(podStops)
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
	for index := range j.size {
		if w.canCreate(j, index) {
			steps = append(steps, step{kind: podCreated, uid: j.uid, n: index})
		}
	}
	if w.canFinish(j) {
		steps = append(steps, step{kind: jobFinished, uid: j.uid})
	}
	js := w.jobSet.live()
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

// lagsTooMuch tells whether a step is one that the bound on the lag of all caches leaves out.
func (w *world) lagsTooMuch(before *world, s step) bool {
	lag := w.lagInAll()
	return w.sc.lagInAll > 0 && lag > w.sc.lagInAll && lag > before.lagInAll() && s.kind != leaderChange
}

func (w *world) take(s step, d *decider) (changed bool, err error) {
	switch {
	case s.kind > firstTrouble:
		w.trouble(s)
		return true, nil
	case s.kind >= agentStart && s.kind <= podGraceEnds:
		return true, w.nodeStep(s)
	case s.kind >= podCounted:
		w.jobStep(s)
		return true, nil
	}
	switch s.kind {
	case cacheJobSet:
		w.jobSet = w.jobSet.advance()
	case cacheJobs:
		w.jobs = w.jobs.advance()
	case cachePods:
		c := *w.cacheOf(s.uid)
		c.history = c.advance()
		w.replaceCache(c)
	case begin:
		return w.begin(d)
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
	at := w.podAt(s.uid)
	switch s.kind {
	case agentStart:
		return w.startAgent(at, int(s.n))
	case agentLook:
		return w.agentLooks(at, s.n == 1)
	case agentReport:
		w.agentReports(at)
		if !w.sc.splitReport {
			return w.agentReported(at)
		}
	case agentAck:
		return w.agentReported(at)
	case podStops:
		w.stop(at, podFailed)
	case podGraceEnds:
		w.graceEnds(s.uid)
	}
	return nil
}

func (w *world) jobStep(s step) {
	switch s.kind {
	case podCounted:
		w.counts(w.podAt(s.uid))
	case podCreated:
		w.createPod(s.uid, s.n)
	case podUnwanted:
		w.deletePod(w.podAt(s.uid))
	case jobFinished:
		w.finish(s.uid)
	case jobRemoved:
		w.remove(s.uid)
	case jobCollected:
		w.changeJob(s.uid, func(j *job) { j.deleting = true })
	}
}
