/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "slices"

// Fault tolerance (P80 to P92): what time does, and what goes wrong. The controllers of the model remember
// nothing of it, as if each pass were the first of a new leader.
//
// Nodes are not modelled, but Pods whose node is marked as sick, or dies. The Pod that comes in the place of
// one that was moved stands elsewhere.

func (w *world) toleranceSteps(steps []step) []step {
	if w.pass != nil || w.ghost != nil {
		return steps // the times of a pass are those of its beginning
	}
	js := w.jobSet.live()
	if w.moving == waits {
		steps = append(steps, step{kind: moveEnds})
	}
	if js.reset == retryPause {
		steps = append(steps, step{kind: retryPauseEnds})
	}
	if js.unhealthy == troubled {
		steps = append(steps, step{kind: troubleLasts})
	}
	if w.sc.avoids() {
		steps = w.avoidanceSteps(steps)
	}
	if !w.sc.recreates() || js.phase != unfinished {
		return steps
	}
	for _, j := range w.jobs.live() {
		// As long as all Pods run, and are seen to, it does not matter how late it is.
		if c := w.cacheOf(j.uid); j.inUse() && j.age < pastWarmup && (lackingOf(&j, w.podsNow(j.uid), true) || c != nil && lackingOf(&j, c.cached(), true)) {
			steps = append(steps, step{kind: jobAges, uid: j.uid})
		}
	}
	return steps
}

// timePasses lets time pass for all versions of an object alike.
func (w *world) timePasses(s step) {
	switch s.kind {
	case moveEnds:
		w.moving = waited
	case retryPauseEnds:
		w.ages(func(s *status) {
			if s.reset == retryPause {
				s.reset = retryPaused
			}
		})
		if w.book.pauseOwed == pauseBegun {
			w.book.pauseOwed = noPauseOwed
		}
	case troubleLasts:
		w.ages(func(s *status) {
			if s.unhealthy == troubled {
				s.unhealthy = troubledLong
			}
		})
		w.book.pending = true
	case jobAges:
		w.jobsAge(s.uid)
	case placeIsLate, dayPasses:
		w.becomesOlder(s.kind == dayPasses)
	}
}

func (w *world) jobsAge(uid int16) {
	versions := slices.Clone(w.jobs.versions)
	for i := range versions {
		versions[i] = slices.Clone(versions[i])
		for k := range versions[i] {
			if j := &versions[i][k]; j.uid == uid && j.awake {
				j.age = min(j.age+1, pastWarmup)
			}
		}
	}
	w.jobs = history[[]job]{versions, w.jobs.place}
}

// move remembers whether Pods are to leave their nodes, and reports whether that is new.
func (w *world) move(moving bool) bool {
	was := w.moving
	switch {
	case !moving:
		w.moving = notWaiting
	case w.moving == notWaiting:
		w.moving = waits
	}
	return w.moving != was
}

// toleranceTroubles appends what may go wrong.
func (w *world) toleranceTroubles(steps []step) []step {
	for i := range w.pods {
		p := &w.pods[i]
		if p.phase != running {
			continue
		}
		if w.left.failures > 0 && w.sc.kinds&nodeDeath != 0 && !p.lost {
			steps = append(steps, step{kind: nodeDies, uid: p.uid})
		}
		switch {
		case p.sick:
			steps = append(steps, step{kind: unmarkNode, uid: p.uid})
		case w.left.marks > 0:
			steps = append(steps, step{kind: markNode, uid: p.uid})
		}
	}
	if w.left.failures > 0 && w.sc.kinds&jobDeletion != 0 {
		for _, j := range w.jobs.live() {
			if !j.deleting {
				steps = append(steps, step{kind: jobIsDeleted, uid: j.uid})
			}
		}
	}
	return steps
}

func (w *world) toleranceTrouble(s step) {
	js := w.jobSet.live()
	if s.kind == jobIsDeleted {
		w.left.failures--
		j := w.jobOf(s.uid)
		w.book.deleted = true
		w.book.pending = w.book.pending || js.d < js.s
		if !js.suspend && js.suspended != isTrue && js.complete == j.attempt+1 { // suspended until the manager has resumed it (P81)
			w.book.expired = append(slices.Clip(w.book.expired), expiredJob{j.rjob, j.index, j.attempt})
		}
		w.changeJob(s.uid, func(j *job) { j.deleting = true })
		return
	}
	p := &w.pods[w.podAt(s.uid)]
	switch s.kind {
	case nodeDies:
		w.left.failures--
		if !p.ended {
			w.failing(p)
		}
		p.deleting, p.lost, p.agent, p.worker, p.restarting = true, true, process{gone: true}, 0, false
	case markNode:
		w.left.marks--
		p.sick = true
	case unmarkNode:
		p.sick = false
	}
	w.publish(p.job)
}

// readJobs reads the Jobs past the cache. The Pods are read later, and then all is decided again.
func (w *world) readJobs(v view) bool {
	if w.jobSet.lag() > 0 {
		return false // what can come of it would be refused
	}
	v.jobs, v.pods, v.strays, v.childrenRead = nil, nil, nil, true
	for _, j := range w.jobs.live() {
		if j.owner == v.js.uid {
			v.jobs = append(v.jobs, j)
		}
	}
	w.pass = &pass{uid: v.js.uid, closer: &v}
	return true
}

func (w *world) readPods(d *decider, v view) (bool, error) {
	for _, j := range v.jobs {
		v.pods = append(slices.Clip(v.pods), w.podsNow(j.uid))
	}
	v.strays = w.straysOf(&v, w.podsNow)
	plan := d.decide(v)
	if plan.confirm >= 0 || plan.readChildren {
		return true, nil
	}
	_, err := w.follow(v, plan)
	return true, err
}

// straysOf are the Pods of Jobs that a view does not have.
func (w *world) straysOf(v *view, podsOf func(uid int16) []podObject) (strays []stray) {
	if w.sc.ft == nil {
		return nil
	}
	for i := range w.podCache {
		c := &w.podCache[i]
		if slices.ContainsFunc(v.jobs, func(j job) bool { return j.uid == c.job }) {
			continue
		}
		for _, p := range podsOf(c.job) {
			strays = append(strays, stray{p, job{uid: c.job, owner: v.js.uid, rjob: c.rjob, index: c.index, size: v.js.size[c.rjob]}})
		}
	}
	return strays
}

func (w *world) cachedPods(uid int16) []podObject { return w.cacheOf(uid).cached() }
