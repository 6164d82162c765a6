/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// compose makes a plan of what all steps decided.
func (r *result) compose(v *view) Plan {
	plan := Plan{
		Questions: r.ask, Writes: r.writes, Remembered: r.remember, Reports: r.reports, Pace: r.pace, Verdict: r.verdict, Steps: v.steps,
	}
	slices.SortStableFunc(plan.Ops, func(a, b Op) int { return cmp.Compare(a.Kind, b.Kind) })
	plan.Foreign, plan.Prepared = v.observed.Foreign, v.preparation.pods
	v.JobSet.Status.DeepCopyInto(&plan.Status)
	plan.Status.ReplicatedJobsStatus = keepRest(v.observed.Statuses, plan.Status.ReplicatedJobsStatus)
	r.apply(v, &plan.Status)
	if plan.Verdict != nil {
		plan.Verdict.WriteTo(&plan.Status, v.JobSet, v.Now)
	}
	if v.tolerant && r.changes.any(restartAllJobs) {
		plan.Outcomes = join(plan.Outcomes, []Outcome{WasReset})
	}
	for _, n := range r.notices {
		if n.apply(&plan.Status.Conditions, v.Now) {
			plan.Events = append(plan.Events, n.event)
		}
	}
	r.writeHistory(v, &plan.Status)
	v.keepActive(&plan.Status)
	v.keepTime(r.changes.any(liftBarrier) || r.progress != nil, &plan.Status) // all workers have reported then
	return plan
}

// apply changes the next status.
func (r *result) apply(v *view, status *jobset.JobSetStatus) {
	if r.changes.any(deprecate) && v.inPlace && v.running() {
		status.DeprecatedEpoch = ptr.To(v.synced)
		status.PlannedBreak = r.changes.any(planned) && workerpod.PlannedStopSeconds(v.JobSet.Spec.FailurePolicy) > 0
		status.QuickFailures = v.quickFailuresAfter(r.changes)
		if status.BreakTime = nil; r.changes.any(breaksGroup) {
			status.BreakTime = ptr.To(metav1.NewMicroTime(v.Now))
		}
	}
	if r.changes.any(spendEpoch) {
		v.skipEpoch(status)
	}
	switch {
	case v.inPlace && v.suspendWanted():
		status.BreakTime = nil // whoever resumes the JobSet wants it to run
	case v.breakIsAhead():
		status.BreakTime = ptr.To(metav1.NewMicroTime(v.Now))
	}
	if r.changes.any(liftBarrier) {
		status.BreakTime = nil
		status.SyncedEpoch, status.LastSyncTime = ptr.To(v.synced+1), ptr.To(metav1.NewTime(v.Now))
		v.setSyncedWorkers(status.ReplicatedJobsStatus)
	}
	if !v.finished { // one that has ended keeps the sizes of its end
		v.setElastic(status.ReplicatedJobsStatus)
	}
	if r.changes.any(restartAllJobs) { // even if the status was lost and counts fewer restarts than the Jobs do
		status.Restarts = max(status.Restarts, v.observed.newest) + 1
	}
	if r.restartJob != nil {
		r.restartJob.apply(status.ReplicatedJobsStatus)
	}
	v.keepExecution(r.changes, status)
	status.RestartsCountTowardsMax += oneIf(r.changes.any(chargeAllJobs))
	status.InPlaceRestarts += oneIf(r.changes.any(chargeGroup))
	if r.changes.any(disrupted) && r.changes.any(chargeGroup) && status.Progress != nil {
		status.Progress.InPlaceRestarts++ // it is no restart without progress (P71b)
	}
	switch {
	case r.changes.any(completesJobSet):
		status.TerminalState = string(jobset.JobSetCompleted)
	case r.changes.any(failsJobSet):
		status.TerminalState = string(jobset.JobSetFailed)
	}
	if r.progress != nil {
		status.Progress = r.progress.ProgressStatus
	}
	if r.clock != nil {
		status.AssemblingSince = r.clock.Time
	}
	if r.lostNodes != nil {
		status.LostNodes = r.lostNodes.list
	}
	r.applyTolerance(v, status)
}

// Interrupted is what may be written and reported when only a part of the changes was
// made. What was decided follows from what was seen, and stands. But that the JobSet
// is suspended or resumed, or since when a group is waited for again, is true only
// once all of the changes are made; then nothing but the counts may be written.
func (p *Plan) Interrupted(stored *jobset.JobSetStatus) Plan {
	part := *p
	if p.Does(DeletePod | SuspendJob | ResumeJob) {
		part = Plan{Pace: Pace{CountsInterval: p.CountsInterval}, Reports: Reports{InvalidEpochs: p.InvalidEpochs, Replaced: p.Replaced}}
		stored.DeepCopyInto(&part.Status)
		part.Status.ReplicatedJobsStatus = OnlyCounts(p.Status.ReplicatedJobsStatus, stored.ReplicatedJobsStatus)
	}
	return part
}
