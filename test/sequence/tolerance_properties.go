/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// What has to hold of fault tolerance, computed from the spec and from what happened, never from the code under test.

// pauseOwed is what is left of the pause after a reset.
type pauseOwed uint8

const (
	noPauseOwed pauseOwed = iota
	pauseNotBegun
	pauseBegun // with all Jobs of earlier attempts gone
)

// judgeReset checks when a status is written that resets come for a reason and not over a suspend, that what
// they cost is charged and moves are not, and keeps the book of the pause.
func (w *world) judgeReset(on basis, was, next status) error {
	if w.sc.ft == nil {
		return nil
	}
	js := w.jobSet.live()
	resets, charged := next.restarts != was.restarts, next.inPlace != was.inPlace || next.counted != was.counted
	overdue := was.unhealthy == troubledLong && on.lacks
	spent := int(was.inPlace)+int(was.counted) >= int(w.sc.maxRestarts)
	switch {
	case resets && js.suspend && on.action == "":
		return violates(4, "the JobSet is suspended, and is reset")
	case resets && charged && w.sc.recreates() && on.action == "" && !overdue:
		return violates(4, "a reset is charged, and no Pods have lacked for so long")
	case resets && !charged && w.sc.recreates() && on.action == "" && overdue && !next.givesUp():
		return violates(4, "nobody is charged, and Pods have lacked for so long that a reset is due")
	case was.deployed == isTrue && next.deployed != isTrue && next.phase == unfinished && !js.suspend:
		return violates(7, "ResourcesDeployed is not True any more, and the JobSet has neither ended nor is it suspended")
	case !charged && on.moves && on.action == "" && spent && (resets || next.d != was.d && !on.differs) && !w.freeOtherwise(was):
		return violates(4, "Pods are moved by a restart, and the budget is spent")
	case next.s > was.s && on.moves && !w.sc.ft.bare:
		return violates(4, "epoch %d begins over Pods that have to leave their nodes, which costs another restart", next.s)
	}
	switch {
	case next.phase != unfinished:
		w.book.pauseOwed = noPauseOwed
	case resets && !js.suspend && !w.sc.ft.noPause:
		w.book.pauseOwed = pauseNotBegun
	case next.reset == retryPause && was.reset != retryPause && w.book.pauseOwed != noPauseOwed:
		w.book.pauseOwed = pauseNotBegun
		if !w.anyBefore(next.restarts) {
			w.book.pauseOwed = pauseBegun
		}
	}
	if resets {
		w.book.expired, w.book.deleted = nil, false
	}
	if w.sc.recreates() && next.unhealthy == healthy && was.unhealthy != healthy && !resets && next.phase == unfinished {
		w.book.pending = false // healthy in time is forgotten
	}
	return nil
}

// free reports whether all Jobs may restart although nobody is charged.
func (w *world) free(on basis, was status) bool { return on.moves || w.freeOtherwise(was) }

// freeOtherwise leaves out moves: the break before was charged (P80), or a worker ran to its end.
func (w *world) freeOtherwise(was status) bool {
	late := w.sc.ft != nil && was.restarting == restartingInPlace && was.since == 3
	return late || w.anyRanOut(was.s) || w.anyDone(was.restarts)
}

func (w *world) anyBefore(attempt int8) bool {
	js := w.jobSet.live()
	for _, j := range w.jobs.live() {
		if j.owner == js.uid && j.attempt < attempt {
			return true
		}
	}
	return false
}

// checkTolerance checks property 7, and the pause after a reset, in the world as it is.
func (w *world) checkTolerance(js *jobSet) error {
	if w.sc.ft == nil {
		return nil
	}
	for _, j := range w.jobs.live() {
		if j.owner != js.uid {
			continue
		}
		switch {
		case w.book.pauseOwed != noPauseOwed && j.attempt >= js.restarts && !j.suspend:
			return violates(3, "Job %s is created after a reset, and nobody paused", jobName(w.sc, &j))
		case js.deployed != isTrue && !j.deleting && !j.finished() && (!j.suspend || j.awake):
			return violates(7, "Job %s may start Pods, and ResourcesDeployed is not True", jobName(w.sc, &j))
		}
	}
	for i := range w.pods {
		if p := &w.pods[i]; p.phase == running && js.deployed != isTrue {
			return violates(7, "%s has not ended, and ResourcesDeployed is not True", w.podText(p))
		}
	}
	return nil
}

// mustLeave reports whether a Pod runs on a node that it has to leave and can.
func (w *world) mustLeave(js *jobSet) bool {
	if w.sc.ft == nil || int(js.inPlace)+int(js.counted) >= int(w.sc.maxRestarts) {
		return false
	}
	v := w.now()
	return v.moves(w.sc)
}

// moves reports whether Pods of the current attempt run on nodes that they have to leave.
func (v *view) moves(sc *scenario) bool {
	if sc.ft == nil || v.js.suspend || v.js.phase != unfinished {
		return false
	}
	for i := range v.jobs {
		j := &v.jobs[i]
		if j.deleting || j.finished() || j.attempt < v.js.restarts {
			continue
		}
		for _, p := range v.pods[i] {
			if p.sick && p.live() && !p.ended {
				return true
			}
		}
	}
	return false
}

// inUse reports whether the Pods of a Job are to run.
func (j *job) inUse() bool {
	return j.awake && !j.suspend && !j.deleting && !j.finished() && !j.failing && !j.criteriaMet
}

// lacks reports whether Pods of the current attempt lack whose time is up (P80).
func (v *view) lacks() bool {
	for i := range v.jobs {
		if j := &v.jobs[i]; j.attempt >= v.js.restarts && j.inUse() && lackingOf(j, v.pods[i], false) {
			return true
		}
	}
	return false
}

// lackingOf reports whether Pods of a Job lack: those whose time is up, or at any time.
func lackingOf(j *job, pods []podObject, anyTime bool) bool {
	failed, missing, idle := false, false, false
	for index := range j.size {
		exists, runs := j.isDone(index), j.isDone(index)
		for _, p := range pods {
			if p.index != index {
				continue
			}
			failed = failed || p.phase == podFailed
			exists = exists || p.live() || p.phase == podSucceeded
			runs = runs || p.live() && p.started || p.phase == podSucceeded
		}
		missing, idle = missing || !exists, idle || !runs
	}
	switch {
	case anyTime:
		return idle
	case missing && (failed || j.age >= pastAdmission):
		return true
	}
	return idle && j.age >= pastWarmup
}
