/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"errors"
	"fmt"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// violation is a property that does not hold.
type violation struct {
	property int
	text     string
}

func (v *violation) Error() string { return fmt.Sprintf("property %d: %s", v.property, v.text) }

func violates(property int, format string, args ...any) error {
	return &violation{property, fmt.Sprintf(format, args...)}
}

// propertyOf is which property an error violates, 0 if none.
func propertyOf(err error) int {
	var v *violation
	if errors.As(err, &v) {
		return v.property
	}
	return 0
}

// check looks for property 1, and for Jobs that run again, in the world as it is. Workers of Pods that stop, and of Pods that
// a resize took out of the group, count too.
func (w *world) check() error {
	js := w.jobSet.live()
	for _, e := range w.book.expired {
		if j := w.jobNamed(e.rjob, e.index); j != nil && j.owner == js.uid && !j.deleting && j.attempt == e.attempt {
			return violates(6, "Job %s, which completed, is created again", jobName(w.sc, j))
		}
	}
	if err := w.checkTolerance(&js); err != nil {
		return err
	}
	if err := w.checkWorld(&js); err != nil {
		return err
	}
	if err := w.checkSteps(); err != nil {
		return err
	}
	if err := w.checkExecutions(&js); err != nil {
		return err
	}
	if w.book.hasty {
		return violates(4, "a Pod is deleted for being late, but only others were")
	}
	if w.book.stood {
		return violates(5, "the clock of an assembly stands still for longer than any back-off")
	}
	var runs, era int8
	for i := range w.pods {
		p := &w.pods[i]
		if p.worker <= 0 && p.sup == nil {
			continue
		}
		j := w.jobOf(p.job)
		if j == nil || j.owner != js.uid {
			continue
		}
		for _, epoch := range p.epochs() {
			if runs != 0 && epoch != runs {
				return violates(1, "workers run in epochs %d and %d", runs, epoch)
			}
			if runs != 0 && p.sup == nil && p.agent.era != era {
				return violates(1, "workers run in epoch %d of before and of after the status was lost", runs)
			}
			runs, era = epoch, p.agent.era
		}
	}
	return nil
}

// started checks property 2 when a worker starts in an epoch.
func (w *world) started(p *pod) error { return w.startedAt(p, 0, p.worker) }

// startedIn is the same for a container of a Pod in process mode.
func (w *world) startedIn(p *pod, container int) error {
	if epoch := p.sup.containers[container].epoch(); epoch > 0 {
		for _, c := range p.sup.all() {
			if c.done && c.doneIn != epoch {
				return violates(3, "a worker starts in epoch %d, and another one of its Pod has finished in epoch %d", epoch, c.doneIn)
			}
		}
		return w.startedAt(p, int8(container), epoch)
	}
	return nil
}

func (w *world) startedAt(p *pod, container, epoch int8) error {
	j := w.jobOf(p.job)
	if j == nil {
		return nil
	}
	for _, f := range w.book.failedAt {
		if f.rjob == j.rjob && f.job == j.index && f.index == p.index && f.container == container && f.epoch >= epoch {
			return violates(2, "the worker of %s-%d runs again in epoch %d, in which it failed", jobName(w.sc, j), p.index, epoch)
		}
	}
	return nil
}

// judge checks properties 3 and 4 when a status is written, and keeps the book.
func (w *world) judge(on basis, next status) error {
	was := w.jobSet.live().status
	if next.d < was.d || next.s < was.s || next.d > next.s {
		return violates(3, "D goes from %d to %d, S from %d to %d", was.d, next.d, was.s, next.s)
	}
	if endsBypass(was, next) {
		return w.judgeBypass(was, next)
	}
	if next.d != was.d && next.s != was.s {
		return violates(3, "one write makes the group restart and start: D goes from %d to %d, S from %d to %d", was.d, next.d, was.s, next.s)
	}
	if next.s != was.s {
		if next.s != was.s+1 {
			return violates(3, "S goes from %d to %d", was.s, next.s)
		}
		if reason := on.notWhole; reason != "" {
			return violates(3, "S becomes %d, but not the whole group stands there: %s", next.s, reason)
		}
		if outside := w.outside(); outside != "" {
			return violates(11, "S becomes %d while the worker of %s runs outside of all epochs", next.s, outside)
		}
		if left := w.leftOut(was.s); left != "" {
			return violates(3, "S becomes %d without %s, which ran to its end in epoch %d and was not recreated", next.s, left, was.s)
		}
	}
	for _, judge := range []func(basis, status, status) error{w.judgePause, w.judgeReset, w.judgeNodes, w.judgeWorld, w.judgePlanned, w.judgeSteps, w.judgeDeleted, w.judgeExecutions} {
		if err := judge(on, was, next); err != nil {
			return err
		}
	}
	if err := w.judgeEnd(on, was, next); err != nil {
		return err
	}
	return w.judgeCharge(on, was, next)
}

// judgeCharge checks property 4.
func (w *world) judgeCharge(on basis, was, next status) error {
	charge := int(next.inPlace) - int(was.inPlace) + int(next.counted) - int(was.counted)
	restartsAll := next.restarts != was.restarts
	justified := w.book.pending || w.book.pendingJob && restartsAll
	if charge == 1 && !justified && w.book.disturbed > 0 {
		w.book.disturbed--
		justified = true
	}
	switch {
	case charge < 0 || charge > 1:
		return violates(4, "one write charges %d restarts", charge)
	case charge == 1 && !justified:
		return violates(4, "a restart is charged, but nothing failed since the last")
	case charge == 1 && restartsAll && on.action == jobset.RestartJobSetAndIgnoreMaxRestarts:
		return violates(4, "a restart is charged that a rule exempts")
	case charge == 1 && int(was.inPlace)+int(was.counted) >= int(w.sc.maxRestarts):
		return violates(4, "restart %d of %d is charged", int(was.inPlace)+int(was.counted)+1, w.sc.maxRestarts)
	case charge == 0 && next.d != was.d && !restartsAll && !on.differs && !on.moves:
		return violates(4, "the group breaks and nobody is charged, though the Jobs are those that are wanted")
	case charge == 0 && restartsAll && on.action != jobset.RestartJobSetAndIgnoreMaxRestarts && !w.anyRanOut(was.s) && !w.anyDone(was.restarts) && !w.free(on, was) && !next.givesUp():
		return violates(4, "all Jobs restart and nobody is charged, though no worker succeeded")
	}
	if next.d != was.d || restartsAll {
		w.book.pending = false
	}
	if restartsAll {
		w.book.pendingJob = false
	}
	if next.s != was.s && w.sc.annotated == 0 && w.hollow(next.s) {
		// The corners of property 4: a report of a process or a Pod that is gone was counted.
		w.book.pending = true
	}
	return nil
}

// failing notes, before it happens, that something fails in a Pod.
func (w *world) failing(p *pod) {
	js := w.jobSet.live()
	j := w.jobOf(p.job)
	if j == nil || j.owner != js.uid {
		return
	}
	switch {
	case p.sup != nil:
		for i := range p.sup.all() {
			if c := &p.sup.containers[i]; c.up && c.sup.Runs() && c.epoch() > 0 {
				w.failedIn(j, p, int8(i), c.epoch())
				w.book.pending = w.book.pending || js.d < js.s && c.epoch() == js.s
			}
		}
	case p.worker > 0 && p.agent.era == w.era:
		w.failedIn(j, p, 0, p.worker)
	}
	if js.d < js.s && (p.agent.epoch == js.s || p.reports() == js.s) {
		w.book.pending = true
	}
}

// failedIn notes that the worker of a slot failed. If the Job controller made two Pods for the
// slot, the other one holds a worker of its own, which did not fail: the slot tells nothing then.
func (w *world) failedIn(j *job, p *pod, container, epoch int8) {
	for i := range w.pods {
		if q := &w.pods[i]; q.job == p.job && q.index == p.index && q.uid != p.uid && q.phase == running {
			return
		}
	}
	entry := slotEpoch{j.rjob, j.index, p.index, container, epoch}
	book := make([]slotEpoch, 0, len(w.book.failedAt)+1)
	for _, f := range w.book.failedAt {
		if f.rjob != entry.rjob || f.job != entry.job || f.index != entry.index || f.container != container {
			book = append(book, f)
		}
	}
	w.book.failedAt = append(book, entry)
}

// hollow reports whether a slot of the group lacks a process that chose the epoch.
func (w *world) hollow(epoch int8) bool {
	js := w.jobSet.live()
	for _, j := range w.jobs.live() {
		if j.owner != js.uid || j.finished() || j.criteriaMet {
			continue
		}
		for index := range j.size {
			if !j.isDone(index) && !w.stands(&j, index, epoch) {
				return true
			}
		}
	}
	return false
}

func (w *world) stands(j *job, index, epoch int8) bool {
	for i := range w.pods {
		p := &w.pods[i]
		if p.job == j.uid && p.index == index && (p.phase == podSucceeded || p.live() && p.agent.epoch == epoch && !p.agent.gone) {
			return true
		}
	}
	return false
}

// notWhole says why a view does not show the whole group at S+1, "" if it does: every Job
// that the spec wants now is there, as it is wanted and no other, and in every slot stands
// one live Pod that reports S+1.
func (v *view) notWhole(sc *scenario) string {
	if v.js.suspend || v.js.disabled || v.js.gateOff == isTrue || !v.gate {
		return "it is suspended or disabled"
	}
	slots, wanted := 0, 0
	for i := range sc.rjobs {
		if !v.hasTurn(sc, i) {
			continue
		}
		for index := range sc.rjobs[i].replicas {
			at := v.find(int8(i), index)
			if at < 0 {
				return fmt.Sprintf("Job %s-%d is not there", sc.rjobs[i].name, index)
			}
			wanted++
			n, reason := v.standing(at)
			if reason != "" {
				return fmt.Sprintf("Job %s-%d: %s", sc.rjobs[i].name, index, reason)
			}
			slots += n
		}
	}
	switch {
	case wanted != len(v.jobs):
		return "there are other Jobs too"
	case slots == 0:
		return "it has no slots"
	}
	return ""
}

// standing counts the slots of a Job, or says why its part of the group is not complete.
func (v *view) standing(at int) (slots int, reason string) {
	j := &v.jobs[at]
	switch {
	case j.attempt < v.js.restarts:
		return 0, "it is of an older attempt"
	case j.broken || j.failing:
		return 0, "it fails"
	case j.deleting:
		return 0, "it is being deleted"
	case j.complete || j.criteriaMet:
		return 0, ""
	case j.suspend:
		return 0, "it is suspended"
	case j.size != v.js.size[j.rjob]:
		return 0, "it has another size"
	}
	for index := range j.size {
		if j.isDone(index) {
			continue
		}
		members, succeeded := 0, false
		for _, p := range v.pods[at] {
			if p.index != index || p.job != j.uid {
				continue
			}
			succeeded = succeeded || p.phase == podSucceeded
			if p.live() {
				if p.reports() != v.js.s+1 {
					return 0, fmt.Sprintf("the Pod of index %d does not report", index)
				}
				members++
			}
		}
		if succeeded {
			continue
		}
		if members != 1 {
			return 0, fmt.Sprintf("index %d has %d Pods", index, members)
		}
		slots++
	}
	return slots, ""
}

// hasTurn reports whether the Jobs of a ReplicatedJob are to be there at a lift. Those that wait for others to be ready are:
// all start at one lift (P126).
func (v *view) hasTurn(sc *scenario, rjob int) bool {
	first := sc.rjobs[rjob].after
	if first < 0 || v.find(int8(rjob), 0) >= 0 || sc.order != complete {
		return true
	}
	for index := range sc.rjobs[first].replicas {
		if at := v.find(first, index); at < 0 || !v.jobs[at].complete || v.jobs[at].attempt < v.js.restarts {
			return false
		}
	}
	return true
}

func (v *view) find(rjob, index int8) int {
	for i := range v.jobs {
		if v.jobs[i].rjob == rjob && v.jobs[i].index == index {
			return i
		}
	}
	return -1
}

// differs reports whether the Jobs of a view are not those that the spec wants, so that the
// controller has something to change.
func (v *view) differs(sc *scenario) bool {
	for i := range v.jobs {
		j := &v.jobs[i]
		if j.attempt < v.js.restarts {
			return true
		}
		if !j.finished() && (j.suspend != v.js.suspend || j.size != v.js.size[j.rjob]) {
			return true
		}
	}
	for i := range sc.rjobs {
		if !v.hasTurn(sc, i) {
			continue
		}
		for index := range sc.rjobs[i].replicas {
			if v.find(int8(i), index) < 0 {
				return true
			}
		}
	}
	return false
}
