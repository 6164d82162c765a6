/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"cmp"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// State is what a JobSet does now.
type State struct {
	Name StateName `json:"name"`
	// Since is nil if nothing tells.
	Since *metav1.Time `json:"since,omitempty"`
	// Message says why, as the controller reported it.
	Message string `json:"message,omitempty"`
}

// StateName is one of the states below.
type StateName string

const (
	// Running: the group runs at the synced epoch; with another strategy, no restart is under way.
	Running StateName = "Running"
	// Assembling: the workers are held until all of them are back.
	Assembling StateName = "Assembling"
	// Recreating: with another strategy, Jobs are being recreated.
	Recreating StateName = "Recreating"
	// JobsBlocked: Jobs cannot be created, or do not end.
	JobsBlocked StateName = "Blocked"
	// Suspended by spec.suspend.
	Suspended StateName = "Suspended"
	// Bypassed: by an annotation, workers start at once and are not restarted in place.
	Bypassed StateName = "Bypassed"
	// GateDisabled: the same because the feature gate of the manager is off.
	GateDisabled StateName = "GateDisabled"
	// Completed: the success policy is satisfied.
	Completed StateName = "Completed"
	// Failed: the failure policy ended it.
	Failed StateName = "Failed"
	// Deleting: it has a deletion timestamp.
	Deleting StateName = "Deleting"
)

func strategyOf(js *jobset.JobSet) jobset.JobSetRestartStrategy {
	if js.Spec.FailurePolicy == nil {
		return jobset.Recreate
	}
	return cmp.Or(js.Spec.FailurePolicy.RestartStrategy, jobset.Recreate)
}

func stateOf(js *jobset.JobSet) State {
	deprecated, synced := ptr.Deref(js.Status.DeprecatedEpoch, 0), ptr.Deref(js.Status.SyncedEpoch, 0)
	restarting := condition(js, jobset.JobSetRestarting)
	inPlace := strategyOf(js) == jobset.InPlaceRestart
	bypass := policy.BypassOf(js)
	completed, failed := policy.IfTrue(js, jobset.JobSetCompleted), policy.IfTrue(js, jobset.JobSetFailed)
	blocked := policy.IfTrue(js, jobset.JobSetJobsBlocked)
	switch {
	case js.DeletionTimestamp != nil:
		return State{Name: Deleting, Since: js.DeletionTimestamp.DeepCopy()}
	case completed != nil:
		return fromCondition(Completed, completed)
	case failed != nil:
		return fromCondition(Failed, failed)
	case ptr.Deref(js.Spec.Suspend, false):
		if suspended := policy.IfTrue(js, jobset.JobSetSuspended); suspended != nil {
			return State{Name: Suspended, Since: &suspended.LastTransitionTime}
		}
		return State{Name: Suspended}
	case !inPlace && isTrue(restarting):
		return fromCondition(Recreating, restarting)
	case !inPlace && blocked != nil:
		return fromCondition(JobsBlocked, blocked)
	case !inPlace:
		return State{Name: Running}
	case bypass == policy.BypassedByAnnotation:
		if disabled := policy.IfTrue(js, jobset.JobSetInPlaceRestartDisabled); disabled != nil {
			return fromCondition(Bypassed, disabled)
		}
		return State{Name: Bypassed, Message: "annotation " + jobset.DisableInPlaceRestartKey + " is set: workers start once the manager has set condition InPlaceRestartDisabled"}
	case bypass == policy.BypassedByGate:
		return fromCondition(GateDisabled, condition(js, jobset.JobSetInPlaceRestartDisabled))
	case deprecated >= synced:
		return assembling(js, synced)
	}
	running := State{Name: Running}
	if restarting != nil && !isTrue(restarting) && restarting.Reason == constants.WorkersSyncedReason {
		running.Since = &restarting.LastTransitionTime
	}
	return running
}

// assembling says since when, and why. Without a restart that is announced, the
// group starts for the first time or comes back from what does not count: it
// was suspended, resized or joined by Jobs.
func assembling(js *jobset.JobSet, synced int32) State {
	state := State{Name: Assembling}
	restarting, suspended := condition(js, jobset.JobSetRestarting), condition(js, jobset.JobSetSuspended)
	switch {
	case isTrue(restarting):
		return fromCondition(Assembling, restarting)
	case js.Status.AssemblingSince != nil:
		state.Since = js.Status.AssemblingSince
	case suspended != nil && !isTrue(suspended):
		state.Since = &suspended.LastTransitionTime
	case synced == 0:
		state.Since = js.CreationTimestamp.DeepCopy()
	}
	switch {
	case synced == 0:
		state.Message = "first start"
	case js.Status.PlannedBreak && js.Spec.FailurePolicy.InPlaceRestart != nil:
		state.Message = fmt.Sprintf("a planned restart, no worker failed: they have %d s to save their state",
			ptr.Deref(js.Spec.FailurePolicy.InPlaceRestart.PlannedStopGracePeriodSeconds, 0))
	}
	return state
}

// LastingOf returns the phase of the ledger that a JobSet with InPlaceRestart is in (P140). What the controller
// does not report of pauses is that of the default configuration.
func LastingOf(js *jobset.JobSet) policy.Lasting {
	longest := configapi.DefaultQuickFailureMaxPause
	if until := pauseOf(js); !until.IsZero() && js.Status.BreakTime != nil {
		// The time is cut to the second, and pauses are whole seconds.
		longest = (until.Sub(js.Status.BreakTime.Time) + time.Second - 1).Truncate(time.Second)
	}
	return policy.LastingOf(js, longest, tolerance.Builtin())
}

func condition(js *jobset.JobSet, conditionType jobset.JobSetConditionType) *metav1.Condition {
	return apimeta.FindStatusCondition(js.Status.Conditions, string(conditionType))
}

func isTrue(c *metav1.Condition) bool { return c != nil && c.Status == metav1.ConditionTrue }

func fromCondition(name StateName, c *metav1.Condition) State {
	message := c.Message
	if name == Failed || name == JobsBlocked {
		message = c.Reason + ": " + message
	}
	return State{Name: name, Since: &c.LastTransitionTime, Message: message}
}
