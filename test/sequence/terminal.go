/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"

// success is a success policy: all Jobs of the targets, as bits, or any of them. No target
// stands for all ReplicatedJobs.
type success struct {
	any     bool
	targets int8
}

// rule is a rule of the failure policy for Jobs of the targets, as bits.
type rule struct {
	action  jobset.FailurePolicyAction
	targets int8
}

func has(bits int8, rjob int) bool { return bits&(1<<rjob) != 0 }

// judgeEnd checks property 6 when a status is written: what became of the JobSet has to be
// what its workers did.
func (w *world) judgeEnd(on basis, was, next status) error {
	restartsAll, fails := next.restarts != was.restarts, next.phase == failed && was.phase != failed
	charged := next.inPlace != was.inPlace || next.counted != was.counted
	switch {
	case next.phase == completed && was.phase != completed && !on.succeeded:
		return violates(6, "the JobSet is Completed, but its success policy is not met")
	case fails && !next.came.failed && !w.mayFail(on, was):
		return violates(6, "the JobSet is Failed, but no rule says so and its budget is not spent")
	case restartsAll && on.action == jobset.FailJobSet:
		return violates(6, "all Jobs restart, but a rule says that the JobSet fails")
	case on.action != "":
	case on.winning && (restartsAll || fails || charged):
		return violates(6, "%s, but the controller sees that the success policy is met once the Pods that succeeded are counted", consequence(restartsAll, fails))
	case w.book.won && !w.book.pendingJob && (restartsAll || fails) && w.now().succeeds(w.sc, true):
		return violates(6, "%s, but the workers met the success policy before anything failed", consequence(restartsAll, fails))
	}
	if restartsAll {
		w.book.won = false
	}
	return nil
}

func consequence(restartsAll, fails bool) string {
	switch {
	case fails:
		return "the JobSet is Failed"
	case restartsAll:
		return "all Jobs restart"
	}
	return "a restart is charged"
}

// mayFail reports whether a rule fails the JobSet, or its budget is spent when something failed.
func (w *world) mayFail(on basis, was status) bool {
	if on.action == jobset.FailJobSet {
		return true
	}
	spent := int(was.inPlace)+int(was.counted) >= int(w.sc.maxRestarts)
	return spent && on.action != jobset.RestartJobSetAndIgnoreMaxRestarts && (w.book.pending || w.book.disturbed > 0 || w.book.pendingJob) || w.book.deleted
}

// noteWin remembers that the success policy was met before anything failed, and before the
// controller wanted a break for another reason (P17).
func (w *world) noteWin() {
	if w.held == notWaiting && !w.book.pending && !w.book.pendingJob && w.now().succeeds(w.sc, true) {
		w.book.won = true
	}
}

// now is the view of somebody whose caches do not lag.
func (w *world) now() *view {
	v := view{js: w.jobSet.live(), confirmed: -1, gate: w.gate}
	for _, j := range w.jobs.live() {
		if j.owner == v.js.uid {
			v.jobs = append(v.jobs, j)
			v.pods = append(v.pods, w.podsNow(j.uid))
		}
	}
	return &v
}

// succeeds reports whether the success policy is met: by Jobs that are Complete or, if workers
// are counted, by Jobs that will be once the Job controller has counted who exited 0.
func (v *view) succeeds(sc *scenario, counting bool) bool {
	for i, rjob := range sc.rjobs {
		if sc.success.targets != 0 && !has(sc.success.targets, i) {
			continue
		}
		for index := range rjob.replicas {
			at := v.find(int8(i), index)
			done := at >= 0 && v.jobs[at].attempt >= v.js.restarts && (v.jobs[at].complete || counting && v.willComplete(sc, at))
			if done == sc.success.any {
				return done
			}
		}
	}
	return !sc.success.any
}

// willComplete reports whether a Job is about to be Complete.
func (v *view) willComplete(sc *scenario, at int) bool {
	j := &v.jobs[at]
	switch {
	case j.deleting || j.failing || j.broken:
		return false
	case j.criteriaMet:
		return true
	}
	if has(sc.leaders, int(j.rjob)) && v.exited0(at, 0) {
		return true
	}
	for index := range j.size {
		if !v.exited0(at, index) {
			return false
		}
	}
	return true
}

// exited0 reports whether the worker of an index ran to its end. A late report may have set the epoch of its Pod
// back; one that reports S+1 waits for the next round.
func (v *view) exited0(at int, index int8) bool {
	if v.jobs[at].isDone(index) {
		return true
	}
	for _, p := range v.pods[at] {
		if p.index == index && v.js.s > 0 && p.reports() != v.js.s+1 && !p.overdue && (p.phase == podSucceeded || p.phase == running && p.ended) {
			return true
		}
	}
	return false
}

// actionOf is what the failure policy says about the Jobs that failed, "" if none did.
func (v *view) actionOf(sc *scenario) jobset.FailurePolicyAction {
	var action jobset.FailurePolicyAction
	broken := func(targets int8) bool {
		for i := range v.jobs {
			if j := &v.jobs[i]; j.broken && j.attempt >= v.js.restarts && (targets == 0 || has(targets, int(j.rjob))) {
				return true
			}
		}
		return false
	}
	if broken(0) {
		action = jobset.RestartJobSet
	}
	for _, r := range sc.rules {
		if broken(r.targets) {
			return r.action
		}
	}
	return action
}
