/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "slices"

// book is what the properties remember of the past.
type book struct {
	// failedAt is the last epoch in which the worker of a slot failed.
	failedAt []slotEpoch
	// pending: something failed that a group restart has not been charged for. pendingJob: a Job did.
	pending, pendingJob bool
	// disturbed is how often an agent, a supervisor or their connection failed in process mode while their Pod did not
	// run: each may cost a restart of its own, since nobody can know whether a worker was started.
	disturbed int8
	// ranOut are the workers of the current attempt that exited 0.
	ranOut []ranOut
	// expired are Jobs that completed and were deleted, by name and attempt.
	expired []expiredJob
	// hasty: a Pod was deleted for being late that would have come.
	hasty bool
	// stood: the clock of an assembly stood still for longer than the longest back-off.
	stood bool
	// mustWait: the group broke by a quick failure that was not the first in a row (P71).
	mustWait bool
	// pauseOwed: after a reset no Job may be created before a pause (P82).
	pauseOwed pauseOwed
	// came is how far the workers have come by what they told, and how many restarts led nowhere (P136).
	came came
	// deleted: a user deleted a Job.
	deleted bool
	// blamed are the nodes, as bits, on which a Pod failed since the last restart; counts are the restarts within a day that began
	// on each.
	blamed int8
	counts [maxNodes]int8
	// won: the success policy was met before anything failed that would restart the group.
	won bool
}

type expiredJob struct{ rjob, index, attempt int8 }

// ranOut is a worker that exited 0 in an epoch.
type ranOut struct {
	job          int16
	index, epoch int8
}

// slotEpoch is an epoch of a container of a slot.
type slotEpoch struct{ rjob, job, index, container, epoch int8 }

// tidyBook drops failures in epochs that no process has, and none can choose again as long as
// S does not decrease, and workers whose Job is gone, or whose group was judged already.
func (w *world) tidyBook() {
	js := w.jobSet.live()
	if w.book.disturbed > 0 && w.good() && !slices.ContainsFunc(w.pods, func(p pod) bool { return p.sup != nil && !p.steady() }) {
		w.book.disturbed = 0
	}
	w.book.ranOut = slices.DeleteFunc(slices.Clone(w.book.ranOut), func(r ranOut) bool {
		j := w.jobOf(r.job)
		return j == nil || j.owner != js.uid || j.attempt < js.restarts || r.epoch < js.s
	})
	w.book.failedAt = slices.DeleteFunc(slices.Clone(w.book.failedAt), func(f slotEpoch) bool {
		if f.epoch >= w.jobSet.live().s {
			return false
		}
		j := w.jobNamed(f.rjob, f.job)
		return j == nil || !slices.ContainsFunc(w.pods, func(p pod) bool {
			return p.job == j.uid && p.index == f.index && (p.sup != nil || p.agent.epoch > 0 && p.agent.epoch <= f.epoch)
		})
	})
}
