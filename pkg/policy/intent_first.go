/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/tolerance"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// waitsForIntent reports whether Jobs are to change while the group runs, D < S. Then D := S is
// written instead, and a later pass, which reads D == S, makes the changes (P16). So whatever
// crashes in between, Pods that go or come by our own hand are never mistaken for failures.
func waitsForIntent(v *view.View, sum *pass.Result) bool {
	return v.InPlace && !v.Finished && v.Running() && (sum.Writes.Does(pass.ChangeJobs) || sum.Writes.Unresumed > 0)
}

// onlyIntent puts D := S instead of changing Jobs. If no step ended the pass, what is
// reported is about these changes, and has to wait with them.
func onlyIntent(v *view.View, r pass.Result) pass.Result {
	var announced pass.Result
	if r.Changes |= pass.Deprecate; changesAsPlanned(v, &r.Writes) {
		announced = planBreak(v, &r.Writes)
	}
	r.Writes.Drop(pass.ChangeJobs)
	r.Writes.Uncreated, r.Writes.Unresumed = 0, 0
	if !r.Ends {
		r.Notices = nil
	}
	return r.And(announced)
}

// changesAsPlanned reports whether the group has to stop only to become another one, by another size of its Jobs or by
// Jobs that join it, so that its workers may save their state (P142). They may not if one of them has failed, which the
// others may wait for in vain, or if somebody deleted a Job of the epoch that runs.
func changesAsPlanned(v *view.View, writes *pass.Writes) bool {
	if !v.Watched || tolerance.FailureComesFirst(v) || writes.Unresumed > 0 || writes.Does(pass.DeleteJob|pass.SuspendJob|pass.ResumeJob) {
		return false
	}
	ran := v.SyncedWorkers()
	return !slices.ContainsFunc(writes.Of(pass.CreateJob), func(op pass.Op) bool { return ran[view.ReplicatedJobOf(op.Job)] > 0 })
}

// planBreak lets the workers stop as planned, and announces it where they have time to save their state.
func planBreak(v *view.View, writes *pass.Writes) pass.Result {
	why := view.FirstOf(changesOfJobs(writes))
	r := pass.Result{Changes: pass.Planned, Began: group.RestartRecord(v, pass.OtherCause(why), 0)}
	r.Began.Planned = true
	if saves := group.SavesFirst(v); saves != "" {
		r.Notices = append(r.Notices, pass.Normal(constants.InPlaceRestartPlannedReason,
			fmt.Sprintf("%s%s; all workers of epoch %d restart in place", why, saves, v.Synced)))
	}
	return r
}

// changesOfJobs says once for each ReplicatedJob how its Jobs are to change.
func changesOfJobs(writes *pass.Writes) (changes []string) {
	told := map[string]bool{}
	add := func(change string) {
		if !told[change] {
			told[change], changes = true, append(changes, change)
		}
	}
	for _, op := range writes.Of(pass.ScaleJob) {
		add(fmt.Sprintf("ReplicatedJob %s from %d to %d Pods", view.ReplicatedJobOf(op.Job), view.SizeOf(op.Job), op.Workers))
	}
	for _, op := range writes.Of(pass.CreateJob) {
		add(fmt.Sprintf("ReplicatedJob %s joins", view.ReplicatedJobOf(op.Job)))
	}
	return changes
}
