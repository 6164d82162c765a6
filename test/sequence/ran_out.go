/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"fmt"
	"slices"
)

// leftOut names a worker that ran to its end in an epoch and that a group of the next epoch
// lacks (P17), "" if there is none. Others waited for the targets of dependsOn to end, and when they join, whole Jobs
// that completed by themselves stay out.
func (w *world) leftOut(epoch int8) string {
	for _, r := range w.book.ranOut {
		// An index that a resize took away, and gave back, has to be run again.
		if j := w.jobOf(r.job); j != nil && r.epoch == epoch && r.index < j.size && w.isThrough(j, r.index) && !w.awaited(j) && (!j.complete || !w.isJoined()) {
			return fmt.Sprintf("%s-%d", jobName(w.sc, j), r.index)
		}
	}
	return ""
}

// isJoined reports whether the group assembles with others whose turn it is because what they waited for is complete, and not
// because it broke or was suspended.
func (w *world) isJoined() bool {
	js := w.jobSet.live()
	return js.restarting != restartingInPlace && js.pause == noPause && js.suspended == absent && w.sc.order == complete &&
		slices.ContainsFunc(w.sc.rjobs, func(r replicatedJob) bool { return r.after >= 0 && w.allComplete(r.after) })
}

// isThrough reports whether an index is done, or will be when its Pod is counted.
func (w *world) isThrough(j *job, index int8) bool {
	return j.isDone(index) || slices.ContainsFunc(w.pods, func(p pod) bool {
		return p.job == j.uid && p.index == index && (p.ended || p.phase == podSucceeded)
	})
}

// awaited reports whether a Job is complete and another ReplicatedJob waited for that.
func (w *world) awaited(j *job) bool {
	return j.complete && slices.ContainsFunc(w.sc.rjobs, func(r replicatedJob) bool { return r.after == j.rjob })
}

// allComplete reports whether all Jobs of a ReplicatedJob are complete, so that those who waited for that go on.
func (w *world) allComplete(rjob int8) bool {
	for index := range w.sc.rjobs[rjob].replicas {
		if j := w.jobNamed(rjob, index); j == nil || !j.complete {
			return false
		}
	}
	return true
}

// anyRanOut reports whether a worker of the current attempt ran to its end in an epoch.
func (w *world) anyRanOut(epoch int8) bool {
	return slices.ContainsFunc(w.book.ranOut, func(r ranOut) bool { return r.epoch == epoch })
}

// anyDone reports whether an index is done, or a whole Job for which nobody waited, also by a worker
// that ran while its agent let it through: the group would run without it.
func (w *world) anyDone(attempt int8) bool {
	for _, j := range w.jobs.live() {
		if j.broken || j.deleting || j.attempt != attempt || w.awaited(&j) && w.allComplete(j.rjob) {
			continue
		}
		if j.complete || j.done&(1<<j.size-1) != 0 || slices.ContainsFunc(w.podsNow(j.uid), func(p podObject) bool { return p.phase == podSucceeded && p.index < j.size }) {
			return true
		}
	}
	return false
}
