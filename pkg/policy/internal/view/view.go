/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// View is what every step looks at: the input and what it adds up to. No step changes it.
type View struct {
	pass.Input
	Observed Observed
	// Steps is what the steps did so far, if Trace asks for that.
	Steps []pass.Step
	// End is the condition that ended the JobSet, if it is finished.
	End      metav1.Condition
	Finished bool
	// Turn are the ReplicatedJobs whose Jobs may be created or resumed now.
	Turn []*jobset.ReplicatedJob

	// InPlace: the group protocol applies. Watched: the group may be lifted or broken now (P20).
	InPlace, Watched bool
	// Deprecated and Synced are D and S.
	Deprecated, Synced int32
	// Tolerant: spec.faultTolerance holds, and Settings are what it says (P80 to P89).
	Tolerant bool
	Settings tolerance.Settings
	// Group is empty unless it is watched.
	Group GroupState
	// Preparation is which Pods of the group are being prepared (P48a).
	Preparation Preparation
	// Back is how many Jobs of each ReplicatedJob have all workers back; nil if others wait for readiness (P126).
	Back map[string]int64
	// Move are the Pods that have to leave their nodes.
	Move Move
}

// Running reports whether the group runs, D < S; else it assembles.
func (v *View) Running() bool { return v.Deprecated < v.Synced }

// Terminal reports whether the JobSet is finished once these results are written.
func (v *View) Terminal(r *pass.Result) bool {
	return v.JobSet.Status.TerminalState != "" || r.Changes.Any(pass.CompletesJobSet|pass.FailsJobSet)
}

// StaysRunning reports whether the group runs, and goes on to run once these results are written.
func (v *View) StaysRunning(r *pass.Result) bool {
	return v.Running() && !r.Changes.Any(pass.Deprecate)
}

// IsBack reports whether the worker of a slot has reached the epoch of its group.
func (v *View) IsBack(slot Slot) bool {
	want := int64(v.Synced)
	if !v.Running() {
		want++
	}
	return slot.State == SlotMember && !slot.Crowded && int64(slot.Epoch) == want
}

// SuspendWanted reports whether the JobSet is to be suspended.
func (v *View) SuspendWanted() bool { return ptr.Deref(v.JobSet.Spec.Suspend, false) }

// RestartStrategy returns what the failure policy says, Recreate if there is none.
func (v *View) RestartStrategy() jobset.JobSetRestartStrategy {
	if v.JobSet.Spec.FailurePolicy == nil {
		return jobset.Recreate
	}
	return v.JobSet.Spec.FailurePolicy.RestartStrategy
}

// AnyTerminating reports whether a Job of the JobSet is being deleted.
func (v *View) AnyTerminating() bool { return slices.ContainsFunc(v.Jobs, pass.IsTerminating) }

// Until returns how long it takes from now to a moment.
func (v *View) Until(moment time.Time) time.Duration { return moment.Sub(v.Now) }

// Left returns how much is left of a period that began at a moment.
func (v *View) Left(of time.Duration, began time.Time) time.Duration {
	return of - v.Now.Sub(v.Counted(began))
}

// Counted returns from when on the time since a moment counts: what the clock jumped over did not pass (P21a).
func (v *View) Counted(began time.Time) time.Time {
	if v.Clock.SteadySince.After(began) {
		return v.Clock.SteadySince
	}
	return began
}

// TrueCondition returns a condition that is True in the stored status, nil if it is not.
func (v *View) TrueCondition(conditionType jobset.JobSetConditionType) *metav1.Condition {
	return pass.IfTrue(v.JobSet, conditionType)
}

// IsTrue reports whether a condition is True in the stored status.
func (v *View) IsTrue(conditionType jobset.JobSetConditionType) bool {
	return v.TrueCondition(conditionType) != nil
}

// RestartingInPlace reports whether a group restart is under way.
func (v *View) RestartingInPlace() bool {
	c := v.TrueCondition(jobset.JobSetRestarting)
	return c != nil && c.Reason == constants.InPlaceRestartReason
}

// SyncedWorkers returns how many workers each ReplicatedJob has in the epoch that was lifted last, as far as that is known.
func (v *View) SyncedWorkers() map[string]int32 {
	workers := make(map[string]int32, len(v.JobSet.Status.ReplicatedJobsStatus))
	for i := range v.JobSet.Status.ReplicatedJobsStatus {
		workers[v.JobSet.Status.ReplicatedJobsStatus[i].Name] = v.JobSet.Status.ReplicatedJobsStatus[i].SyncedWorkers
	}
	return workers
}

// BrokenAt returns when the group broke, zero if it is not restarting. Managers before status.breakTime wrote only the
// condition, which knows whole seconds.
func (v *View) BrokenAt() time.Time {
	if at := v.JobSet.Status.BreakTime; at != nil {
		return at.Time
	}
	if condition := v.TrueCondition(jobset.JobSetRestarting); condition != nil {
		return condition.LastTransitionTime.Time
	}
	return time.Time{}
}

// ResetUnderWay returns the reset of spec.faultTolerance that is not over, nil if there is none.
func (v *View) ResetUnderWay() *jobset.ResetStatus {
	if !v.Tolerant || v.JobSet.Status.FaultTolerance == nil {
		return nil
	}
	return v.JobSet.Status.FaultTolerance.Reset
}

// Forces reports whether this JobSet wants what is overdue to be deleted by force, and may.
func (v *View) Forces() bool { return v.Tolerant && !v.Tolerance.NoForce }

// IsLimited reports whether spec.activeDeadlineSeconds of the JobSet holds.
func (v *View) IsLimited() bool {
	return v.Gates.JobSetActiveDeadlineSeconds && v.JobSet.Spec.ActiveDeadlineSeconds != nil
}
