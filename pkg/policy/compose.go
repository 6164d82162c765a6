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
	"sigs.k8s.io/jobset/pkg/policy/internal/elastic"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/tolerance"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// compose makes a plan of what all steps decided.
func compose(v *view.View, r *pass.Result) pass.Plan {
	plan := pass.Plan{
		Questions: r.Ask, Writes: r.Writes, Remembered: r.Remember, Reports: r.Reports, Pace: r.Pace, Verdict: r.Verdict, Steps: v.Steps,
	}
	slices.SortStableFunc(plan.Ops, func(a, b pass.Op) int { return cmp.Compare(a.Kind, b.Kind) })
	plan.Foreign, plan.Prepared = v.Observed.Foreign, v.Preparation.Pods
	v.JobSet.Status.DeepCopyInto(&plan.Status)
	plan.Status.ReplicatedJobsStatus = pass.KeepRest(v.Observed.Statuses, plan.Status.ReplicatedJobsStatus)
	apply(v, r, &plan.Status)
	if plan.Verdict != nil {
		plan.Verdict.WriteTo(&plan.Status, v.JobSet, v.Now)
	}
	if v.Tolerant && r.Changes.Any(pass.RestartAllJobs) {
		plan.Outcomes = pass.Join(plan.Outcomes, []pass.Outcome{pass.WasReset})
	}
	for _, n := range r.Notices {
		if n.Apply(&plan.Status.Conditions, v.Now) {
			plan.Events = append(plan.Events, n.Event)
		}
	}
	v.WriteHistory(r, &plan.Status)
	tolerance.KeepActive(v, &plan.Status)
	group.KeepTime(v, r.Changes.Any(pass.LiftBarrier) || r.Progress != nil, &plan.Status) // all workers have reported then
	return plan
}

// apply changes the next status.
func apply(v *view.View, r *pass.Result, status *jobset.JobSetStatus) {
	if r.Changes.Any(pass.Deprecate) && v.InPlace && v.Running() {
		status.DeprecatedEpoch = ptr.To(v.Synced)
		status.PlannedBreak = r.Changes.Any(pass.Planned) && workerpod.PlannedStopSeconds(v.JobSet.Spec.FailurePolicy) > 0
		status.QuickFailures = group.QuickFailuresAfter(v, r.Changes)
		if status.BreakTime = nil; r.Changes.Any(pass.BreaksGroup) {
			status.BreakTime = ptr.To(metav1.NewMicroTime(v.Now))
		}
	}
	if r.Changes.Any(pass.SpendEpoch) {
		group.SkipEpoch(v, status)
	}
	switch {
	case v.InPlace && v.SuspendWanted():
		status.BreakTime = nil // whoever resumes the JobSet wants it to run
	case group.BreakIsAhead(v):
		status.BreakTime = ptr.To(metav1.NewMicroTime(v.Now))
	}
	if r.Changes.Any(pass.LiftBarrier) {
		status.BreakTime = nil
		status.SyncedEpoch, status.LastSyncTime = ptr.To(v.Synced+1), ptr.To(metav1.NewTime(v.Now))
		elastic.SetSyncedWorkers(v, status.ReplicatedJobsStatus)
	}
	if !v.Finished { // one that has ended keeps the sizes of its end
		elastic.SetSizes(v, status.ReplicatedJobsStatus)
	}
	if r.Changes.Any(pass.RestartAllJobs) { // even if the status was lost and counts fewer restarts than the Jobs do
		status.Restarts = max(status.Restarts, v.Observed.Newest) + 1
	}
	if r.RestartJob != nil {
		jobs.CountRestart(r.RestartJob, status.ReplicatedJobsStatus)
	}
	jobs.KeepExecution(v, r.Changes, status)
	status.RestartsCountTowardsMax += view.OneIf(r.Changes.Any(pass.ChargeAllJobs))
	status.InPlaceRestarts += view.OneIf(r.Changes.Any(pass.ChargeGroup))
	if r.Changes.Any(pass.Disrupted) && r.Changes.Any(pass.ChargeGroup) && status.Progress != nil {
		status.Progress.InPlaceRestarts++ // it is no restart without progress (P71b)
	}
	switch {
	case r.Changes.Any(pass.CompletesJobSet):
		status.TerminalState = string(jobset.JobSetCompleted)
	case r.Changes.Any(pass.FailsJobSet):
		status.TerminalState = string(jobset.JobSetFailed)
	}
	if r.Progress != nil {
		status.Progress = r.Progress.ProgressStatus
	}
	if r.Clock != nil {
		status.AssemblingSince = r.Clock.Time
	}
	if r.LostNodes != nil {
		status.LostNodes = r.LostNodes.List
	}
	tolerance.Remember(v, r, status)
}
