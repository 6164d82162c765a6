/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// view is what every step looks at: the input and what it adds up to. No step changes it.
type view struct {
	Input
	observed Observed
	// steps is what the steps did so far, if Trace asks for that.
	steps []Step
	// end is the condition that ended the JobSet, if it is finished.
	end      metav1.Condition
	finished bool
	// turn are the ReplicatedJobs whose Jobs may be created or resumed now.
	turn []*jobset.ReplicatedJob

	// inPlace: the group protocol applies. watched: the group may be lifted or broken now (P20).
	inPlace, watched bool
	// deprecated and synced are D and S.
	deprecated, synced int32
	// tolerant: spec.faultTolerance holds, and tolerance is what it says (P80 to P89).
	tolerant  bool
	tolerance tolerance.Settings
	// group is empty unless it is watched.
	group groupState
	// preparation is which Pods of the group are being prepared (P48a).
	preparation preparation
	// back is how many Jobs of each ReplicatedJob have all workers back; nil if others wait for readiness (P126).
	back map[string]int64
	// move are the Pods that have to leave their nodes.
	move move
}

// step decides one thing. It looks at the view, and at what the steps before it decided.
type step func(v *view, before result) result

// move are the Pods of the current attempt that run on nodes where a resource that they use is sick.
type move struct {
	// pods are in the order of their names.
	pods []*facts.Member
	// nodes are those that they run on, by name, with the first mark of each.
	nodes map[string]nodehealth.Mark
	// byReset is why they cannot be moved in place, "" if they can.
	byReset string
	// queued are the nodes that Pods would have to leave if a queue had not placed them there (P90a).
	queued map[string]nodehealth.Mark
}

// running reports whether the group runs, D < S; else it assembles.
func (v *view) running() bool { return v.deprecated < v.synced }

// terminal reports whether the JobSet is finished once these results are written.
func (r *result) terminal(v *view) bool {
	return v.JobSet.Status.TerminalState != "" || r.changes.any(completesJobSet|failsJobSet)
}

// staysRunning reports whether the group runs, and goes on to run once these results are written.
func (r *result) staysRunning(v *view) bool { return v.running() && !r.changes.any(deprecate) }

// isBack reports whether the worker of a slot has reached the epoch of its group.
func (v *view) isBack(slot Slot) bool {
	want := int64(v.synced)
	if !v.running() {
		want++
	}
	return slot.State == SlotMember && !slot.Crowded && int64(slot.Epoch) == want
}

func (v *view) suspendWanted() bool { return ptr.Deref(v.JobSet.Spec.Suspend, false) }

func (v *view) restartStrategy() jobset.JobSetRestartStrategy {
	if v.JobSet.Spec.FailurePolicy == nil {
		return jobset.Recreate
	}
	return v.JobSet.Spec.FailurePolicy.RestartStrategy
}

func (v *view) anyTerminating() bool { return slices.ContainsFunc(v.Jobs, isTerminating) }

// until returns how long it takes from now to a moment.
func (v *view) until(moment time.Time) time.Duration { return moment.Sub(v.Now) }

// left returns how much is left of a period that began at a moment.
func (v *view) left(of time.Duration, began time.Time) time.Duration {
	return of - v.Now.Sub(v.counted(began))
}

// counted returns from when on the time since a moment counts: what the clock jumped over did not pass (P21a).
func (v *view) counted(began time.Time) time.Time {
	if v.Clock.SteadySince.After(began) {
		return v.Clock.SteadySince
	}
	return began
}

// trueCondition returns a condition that is True in the stored status, nil if it is not.
func (v *view) trueCondition(conditionType jobset.JobSetConditionType) *metav1.Condition {
	return IfTrue(v.JobSet, conditionType)
}

func (v *view) isTrue(conditionType jobset.JobSetConditionType) bool {
	return v.trueCondition(conditionType) != nil
}

// restartingInPlace reports whether a group restart is under way.
func (v *view) restartingInPlace() bool {
	c := v.trueCondition(jobset.JobSetRestarting)
	return c != nil && c.Reason == constants.InPlaceRestartReason
}

// syncedWorkers returns how many workers each ReplicatedJob has in the epoch that was lifted last, as far as that is known.
func (v *view) syncedWorkers() map[string]int32 {
	workers := make(map[string]int32, len(v.JobSet.Status.ReplicatedJobsStatus))
	for i := range v.JobSet.Status.ReplicatedJobsStatus {
		workers[v.JobSet.Status.ReplicatedJobsStatus[i].Name] = v.JobSet.Status.ReplicatedJobsStatus[i].SyncedWorkers
	}
	return workers
}

// brokenAt returns when the group broke, zero if it is not restarting. Managers before status.breakTime wrote only the
// condition, which knows whole seconds.
func (v *view) brokenAt() time.Time {
	if at := v.JobSet.Status.BreakTime; at != nil {
		return at.Time
	}
	if condition := v.trueCondition(jobset.JobSetRestarting); condition != nil {
		return condition.LastTransitionTime.Time
	}
	return time.Time{}
}

func (v *view) resetUnderWay() *jobset.ResetStatus {
	if !v.tolerant || v.JobSet.Status.FaultTolerance == nil {
		return nil
	}
	return v.JobSet.Status.FaultTolerance.Reset
}

// forces reports whether this JobSet wants what is overdue to be deleted by force, and may.
func (v *view) forces() bool { return v.tolerant && !v.Tolerance.NoForce }
