/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "slices"

// The Job controller of Kubernetes and the garbage collector, in steps of one write each,
// which happen in any order and at any time. Indexed Jobs with podReplacementPolicy Failed:
// a Pod that stops is replaced when it has ended, one that Failed at once.

// counts is what the Job controller does about a Pod that ended: the Job is told first, then
// the Pod loses the finalizer. A Failed Pod without it means nothing to anybody, and one that
// was deleted is gone.
func (w *world) counts(at int) {
	p := w.pods[at]
	j := w.jobOf(p.job)
	if p.phase == podFailed {
		if p.fatal && j != nil && !j.failing && !j.deleting && !j.criteriaMet {
			w.changeJob(p.job, func(j *job) { j.failing = true })
			return
		}
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
		if p.fatal || p.index == index && p.phase != podFailed {
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
