/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// byIntent reports whether the group assembles because somebody wants it to be another one, and not because something
// failed (P101a). A first start is not one: nothing ran before that it could keep.
func (v *view) byIntent() bool {
	c := v.trueCondition(jobset.JobSetRestarting)
	failed := c != nil && c.Reason != constants.MovedOffNodesReason
	return v.synced > 0 && !failed
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

// savesFirst says how long the workers of a planned break have, "" if they have no time of their own.
func (v *view) savesFirst() string {
	if seconds := workerpod.PlannedStopSeconds(v.JobSet.Spec.FailurePolicy); seconds > 0 {
		return fmt.Sprintf("; planned: workers have %d s to save their state", seconds)
	}
	return ""
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

// plannedLift announces the end of a planned restart, which no condition tells of. The ledger was written with its break.
func (v *view) plannedLift() result {
	if !v.JobSet.Status.PlannedBreak || v.JobSet.Status.Time == nil || v.isTrue(jobset.JobSetRestarting) {
		return result{}
	}
	return tell(normal(constants.InPlaceRestartCompletedReason, v.completed(max(0, v.Now.Sub(v.JobSet.Status.Time.At.Time)))))
}

// completed says how a group came back.
func (v *view) completed(took time.Duration) string {
	return fmt.Sprintf("%d workers restarted in place: epoch %d, %.1f seconds", v.group.size, v.synced+1, took.Seconds())
}

// whyItWaits says who keeps a change by intent from coming together.
func (v *view) whyItWaits() string {
	message := fmt.Sprintf("%s: %s. No worker failed before, so this is not charged and the group waits",
		v.notReportedWithin(v.lastDeadline()), v.whoIsMissing())
	if changes := v.sizeChanges(); len(changes) > 0 {
		message += fmt.Sprintf("; it was resized (%s) and runs again if it gets its earlier size back", strings.Join(changes, ", "))
	}
	return message
}
