/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"

	"sigs.k8s.io/jobset/pkg/constants"
)

// waitsForIntent reports whether Jobs are to change while the group runs, D < S. Then D := S is
// written instead, and a later pass, which reads D == S, makes the changes (P16). So whatever
// crashes in between, Pods that go or come by our own hand are never mistaken for failures.
func (v *view) waitsForIntent(sum *result) bool {
	return v.inPlace && !v.finished && v.running() && (sum.writes.Does(ChangeJobs) || sum.writes.Unresumed > 0)
}

// onlyIntent puts D := S instead of changing Jobs. If no step ended the pass, what is
// reported is about these changes, and has to wait with them.
func (v *view) onlyIntent(r result) result {
	var announced result
	if r.changes |= deprecate; v.changesAsPlanned(&r.writes) {
		announced = v.planBreak(&r.writes)
	}
	r.writes.drop(ChangeJobs)
	r.writes.Uncreated, r.writes.Unresumed = 0, 0
	if !r.ends {
		r.notices = nil
	}
	return r.and(announced)
}

// changesAsPlanned reports whether the group has to stop only to become another one, by another size of its Jobs or by
// Jobs that join it, so that its workers may save their state (P142). They may not if one of them has failed, which the
// others may wait for in vain, or if somebody deleted a Job of the epoch that runs.
func (v *view) changesAsPlanned(writes *Writes) bool {
	if !v.watched || v.failureComesFirst() || writes.Unresumed > 0 || writes.Does(DeleteJob|SuspendJob|ResumeJob) {
		return false
	}
	ran := v.syncedWorkers()
	return !slices.ContainsFunc(writes.Of(CreateJob), func(op Op) bool { return ran[replicatedJobOf(op.Job)] > 0 })
}

// planBreak lets the workers stop as planned, and announces it where they have time to save their state.
func (v *view) planBreak(writes *Writes) result {
	why := firstOf(changesOfJobs(writes))
	r := result{changes: planned, began: v.record(otherCause(why), 0)}
	r.began.Planned = true
	if saves := v.savesFirst(); saves != "" {
		r.notices = append(r.notices, normal(constants.InPlaceRestartPlannedReason,
			fmt.Sprintf("%s%s; all workers of epoch %d restart in place", why, saves, v.synced)))
	}
	return r
}

// changesOfJobs says once for each ReplicatedJob how its Jobs are to change.
func changesOfJobs(writes *Writes) (changes []string) {
	told := map[string]bool{}
	add := func(change string) {
		if !told[change] {
			told[change], changes = true, append(changes, change)
		}
	}
	for _, op := range writes.Of(ScaleJob) {
		add(fmt.Sprintf("ReplicatedJob %s from %d to %d Pods", replicatedJobOf(op.Job), sizeOf(op.Job), op.Workers))
	}
	for _, op := range writes.Of(CreateJob) {
		add(fmt.Sprintf("ReplicatedJob %s joins", replicatedJobOf(op.Job)))
	}
	return changes
}
