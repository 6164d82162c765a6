/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "slices"

// The Job controller of Kubernetes and the garbage collector, in steps of one write each,
// which happen in any order and at any time. Indexed Jobs with podReplacementPolicy Failed:
// a Pod that stops is replaced when it has ended, one that Failed at once, or after a back-off where the scenario has them. Jobs
// with backoffLimitPerIndex keep the finalizer of a Failed Pod until another has its index (P170).

// counts is what the Job controller does about a Pod that ended: the Job is told first, then
// the Pod loses the finalizer. A Failed Pod without it means nothing to anybody, and one that
// was deleted is gone.
func (w *world) counts(at int) {
	p := w.pods[at]
	j := w.jobOf(p.job)
	if p.phase == podFailed {
		if p.fatal && w.sc.avoids() { // it stays as long as its Job does, and shows why that failed
			w.pods[at].tracked = false
			w.publish(p.job)
			return
		}
		w.removePod(at)
		return
	}
	if j != nil && !j.isDone(p.index) && p.index < j.size {
		w.changeJob(p.job, func(j *job) { j.done |= 1 << p.index })
		return
	}
	if p.deleting {
		w.removePod(at)
		return
	}
	w.pods[at].tracked = false
	w.publish(p.job)
}

// sees reports whether the Job controller has not yet written how many Pods of a Job have not ended, and whether one that Failed fails
// the Job; both are one write.
func (w *world) sees(j *job, write bool) bool {
	if !w.sc.failsJobs || j.deleting || j.failing || j.finished() {
		return false
	}
	var runs int8
	fails := false
	for i := range w.pods {
		p := &w.pods[i]
		switch {
		case p.job != j.uid:
		case p.phase == running:
			runs++
		case p.fatal && !j.criteriaMet:
			fails = true
		}
	}
	if runs == j.runs && !fails {
		return false
	}
	if write {
		w.changeJob(j.uid, func(j *job) { j.runs, j.failing = runs, fails })
	}
	return true
}

// canCount reports whether the Job controller does anything about a Pod that ended.
func (w *world) canCount(p *pod) bool {
	j := w.jobOf(p.job)
	if p.phase != podFailed || j == nil {
		return true
	}
	if w.sees(j, false) {
		return false
	}
	if !w.sc.countsEachIndex(j.rjob) || j.suspend || j.deleting || j.failing || j.criteriaMet || j.finished() || j.isDone(p.index) || p.index >= j.size {
		return true
	}
	return slices.ContainsFunc(w.pods, func(q pod) bool { // which takes its place
		return q.job == p.job && q.index == p.index && (q.live() || q.empty || q.phase == podSucceeded || q.phase == podFailed && q.uid > p.uid)
	})
}

// countsEachIndex reports whether the Jobs of a ReplicatedJob count the failures of each index by itself.
func (sc *scenario) countsEachIndex(rjob int8) bool {
	return !sc.recreates() && !has(sc.older, int(rjob))
}

// canCreate reports whether the Job controller creates a Pod for an index.
func (w *world) canCreate(j *job, index int8) bool {
	asleep := j.suspend
	if w.sc.ft != nil {
		asleep = !j.awake // it may not have seen yet that the Job is suspended
	}
	if asleep || j.deleting || j.failing || j.criteriaMet || j.finished() || j.isDone(index) {
		return false
	}
	for i := range w.pods {
		p := &w.pods[i]
		if p.job != j.uid {
			continue
		}
		if p.fatal || p.index == index && (p.phase != podFailed || p.backoff) {
			return false
		}
	}
	return true
}

func (w *world) createPod(uid int16, index, node int8) {
	p := pod{podObject: podObject{uid: w.newUID(), job: uid, index: index, epoch: w.sc.annotated, tracked: true, node: node, born: w.moment}}
	if n := w.sc.containers[w.jobOf(uid).rjob]; n > 0 {
		p.sup = &supervised{count: n}
	}
	w.addPod(p)
	if !w.sc.failsJobs {
		return
	}
	// The Job controller has written that a Pod exists long before that fails: this is no write of its own.
	jobs := slices.Clone(w.jobs.live())
	jobs[slices.IndexFunc(jobs, func(j job) bool { return j.uid == uid })].runs++
	versions := slices.Clone(w.jobs.versions)
	versions[len(versions)-1] = jobs
	w.jobs.versions = versions
}

// unwanted reports whether the Job controller, or the garbage collector, deletes a Pod.
func (j *job) unwanted(p *pod) bool {
	if p.phase != running {
		return j.deleting && !p.tracked
	}
	return !p.deleting && (j.suspend && !j.awake || j.failing || j.criteriaMet || j.deleting || p.index >= j.size)
}

// forgetSucceeded removes the Pods that succeeded at indexes which a Job no longer has, as if
// they were collected at once: what the Job controller makes of them when the Job grows again
// is not modelled.
func (w *world) forgetSucceeded(uid int16, size int8) {
	w.pods = slices.DeleteFunc(w.pods, func(p pod) bool {
		return p.job == uid && p.index >= size && p.phase == podSucceeded
	})
	w.publish(uid)
}

// surplus reports whether a Pod stands in the slot of an older one, which the Job controller corrects.
func (w *world) surplus(p *pod) bool {
	for i := range w.pods {
		if q := &w.pods[i]; q.job == p.job && q.index == p.index && q.uid < p.uid && q.live() && p.live() {
			return true
		}
	}
	return false
}

func (w *world) deletePod(at int) {
	p := &w.pods[at]
	if p.phase != running {
		w.removePod(at)
		return
	}
	p.deleting = true
	w.publish(p.job)
}

// canFinish reports whether a Job has come to its end.
func (w *world) canFinish(j *job) bool {
	if j.finished() || j.deleting {
		return false
	}
	for i := range w.pods {
		if p := &w.pods[i]; p.job == j.uid && (p.phase == running || p.tracked) {
			return false
		}
	}
	return j.failing || j.criteriaMet || j.done == 1<<j.size-1
}

func (w *world) finish(uid int16) {
	w.changeJob(uid, func(j *job) {
		if j.failing {
			j.broken = true
		} else {
			j.complete, j.completed = true, w.jobSet.live().s
		}
	})
}

func (w *world) hasPods(uid int16) bool {
	for i := range w.pods {
		if w.pods[i].job == uid {
			return true
		}
	}
	return false
}

// remove is the end of a Job that was deleted, after all its Pods.
func (w *world) remove(uid int16) {
	var jobs []job
	for _, j := range w.jobs.live() {
		if j.uid != uid {
			jobs = append(jobs, j)
		}
	}
	w.writeJobs(jobs)
}
