/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/supervisor"
)

// Restarts that lead nowhere (P136). How far the workers of an epoch come is a matter of the scenario: each worker that ran in
// an epoch and ended under its supervisor tells the step of that epoch, with the report of the next one.

// came is status.progress, as far as it is kept. The book has one too, made of what workers told.
type came struct {
	known                     bool
	highest, without, inPlace int8
	// failed: the JobSet failed since its restarts lead nowhere.
	failed bool
}

// stepOf is the highest step that workers tell of an epoch, 0 if they tell none.
func (sc *scenario) stepOf(epoch int8) int8 {
	if epoch < 1 || int(epoch) > len(sc.steps) {
		return 0
	}
	return sc.steps[epoch-1]
}

// tellsSteps adds to a report the epoch whose steps it tells.
func (w *world) tellsSteps(p *pod) {
	if w.sc.fruitless == 0 || p.sup == nil {
		return
	}
	for _, c := range p.sup.all() {
		if c.sup.Phase == supervisor.Ended {
			p.told = c.epoch()
		}
	}
}

// told is the highest step that the Pods of a view tell of epoch S.
func (v *view) told(sc *scenario) (highest int8) {
	for i := range v.pods {
		for _, p := range v.pods[i] {
			if p.live() && p.told == v.js.s {
				highest = max(highest, sc.stepOf(p.told))
			}
		}
	}
	return highest
}

// judgeSteps checks that the JobSet fails for its restarts that lead nowhere exactly when as many as are allowed, in a row, were
// charged and told no step above the highest.
func (w *world) judgeSteps(on basis, was, next status) error {
	lifts, fails := next.s != was.s, next.came.failed && !was.came.failed
	if w.sc.fruitless == 0 || !lifts && !fails {
		return nil
	}
	b := &w.book.came
	switch {
	case on.told == 0:
	case on.told > b.highest:
		b.highest, b.without = on.told, 0
	case was.inPlace > b.inPlace:
		b.without++
	}
	b.inPlace = was.inPlace
	switch reached := b.without >= w.sc.fruitless; {
	case fails && !reached:
		return violates(6, "the JobSet fails after %d restarts that led nowhere, and %d are allowed", b.without, w.sc.fruitless)
	case lifts && reached:
		return violates(6, "the group starts again after %d restarts that led nowhere", b.without)
	}
	return nil
}

// setSteps gives a JobSet its limit, and how far it has come.
func (o *objects) setSteps(js *jobset.JobSet, c came) {
	if o.sc.fruitless == 0 {
		return
	}
	js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{
		Mode: jobset.ProcessMode, Progress: &jobset.ProgressPolicy{MaxRestartsWithoutProgress: ptr.To(int32(o.sc.fruitless))},
	}
	if c.known {
		js.Status.Progress = &jobset.ProgressStatus{HighestStep: int64(c.highest), RestartsWithoutProgress: int32(c.without), InPlaceRestarts: int32(c.inPlace)}
	}
}

// cameOf is the other way round.
func (o *objects) cameOf(s *jobset.JobSetStatus) (c came) {
	if o.sc.fruitless == 0 {
		return c
	}
	if p := s.Progress; p != nil {
		c = came{known: true, highest: int8(p.HighestStep), without: int8(p.RestartsWithoutProgress), inPlace: int8(p.InPlaceRestarts)}
	}
	failed := apimeta.FindStatusCondition(s.Conditions, string(jobset.JobSetFailed))
	c.failed = failed != nil && failed.Reason == constants.NoProgressReason
	return c
}

// setTold gives a Pod the steps that it tells.
func (o *objects) setTold(pod *corev1.Pod, epoch int8) {
	if step := o.sc.stepOf(epoch); step > 0 {
		pod.Annotations[jobset.ProgressKey] = fmt.Sprintf(`{"epoch":%d,"steps":{"first":1,"last":%[2]d,"highest":%[2]d},"startMs":1}`, epoch, step)
	}
}

// stepCases are those of groups in process mode whose restarts may lead nowhere.
func stepCases() []searched {
	group := []replicatedJob{{"w", 1, 2, -1}}
	one := [maxReplicatedJobs]int8{1}
	return []searched{
		{scenario{name: "process mode, no progress, 2 failures", rjobs: group, containers: one, fruitless: 1, steps: []int8{3, 3, 3}, kinds: workerExit | exitZero, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, progress, 2 failures", rjobs: group, containers: one, fruitless: 1, steps: []int8{3, 4, 5}, kinds: workerExit | containerDeath, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, no progress after an epoch without steps, 3 failures", rjobs: []replicatedJob{{"w", 1, 1, -1}}, containers: one, fruitless: 1, steps: []int8{3, 0, 2, 9}, kinds: workerExit, left: budgets{failures: 3, leaders: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, no progress, resize, 1 failure", rjobs: group, containers: one, fruitless: 1, steps: []int8{3, 3, 3}, kinds: workerExit, left: budgets{failures: 1, resizes: 1}, hasResizes: true, lag: 1, lagInAll: 1, running: true}, bounded},
	}
}
