/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
)

// EpochsOf reads D and S.
func EpochsOf(js *jobset.JobSet) (deprecated, synced int32) {
	return ptr.Deref(js.Status.DeprecatedEpoch, 0), ptr.Deref(js.Status.SyncedEpoch, 0)
}

// Runs reports whether the group of a JobSet runs, according to its status.
func Runs(js *jobset.JobSet) bool {
	deprecated, synced := EpochsOf(js)
	return deprecated < synced
}

// FinishedBy returns the condition that ended the JobSet.
func FinishedBy(js *jobset.JobSet) (end metav1.Condition, finished bool) {
	for _, c := range js.Status.Conditions {
		ends := c.Type == string(jobset.JobSetCompleted) || c.Type == string(jobset.JobSetFailed)
		if ends && c.Status == metav1.ConditionTrue {
			return c, true
		}
	}
	return metav1.Condition{}, false
}

// Tolerates reports whether spec.faultTolerance of a JobSet holds.
func Tolerates(js *jobset.JobSet, g gates.Set) bool {
	return g.FaultTolerance && js.Spec.FaultTolerance != nil
}

// Bypass is why the agents of a JobSet let their workers run without asking, if they do.
type Bypass uint8

const (
	// NotBypassed: agents hold their workers at the barrier.
	NotBypassed Bypass = iota
	// BypassedByAnnotation: a user said so (P20).
	BypassedByAnnotation
	// BypassedByGate: the gate was off, and the mark was not removed yet (P34).
	BypassedByGate
)

// IfTrue returns a condition that is True in the stored status, nil if it is not.
func IfTrue(js *jobset.JobSet, conditionType jobset.JobSetConditionType) *metav1.Condition {
	if c := apimeta.FindStatusCondition(js.Status.Conditions, string(conditionType)); c != nil && c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

// BypassOf returns whether the agents of a JobSet let their workers run without asking, and why.
func BypassOf(js *jobset.JobSet) Bypass {
	c := IfTrue(js, jobset.JobSetInPlaceRestartDisabled)
	switch {
	case DisabledByAnnotation(js), c != nil && c.Reason == constants.DisabledByAnnotationReason:
		return BypassedByAnnotation
	case c != nil:
		return BypassedByGate
	}
	return NotBypassed
}

// Bypassed reports whether the agents of a JobSet let their workers run without asking.
func Bypassed(js *jobset.JobSet) bool { return BypassOf(js) != NotBypassed }

// DisabledByAnnotation reports whether a user switched in-place restart off for a JobSet (P20).
func DisabledByAnnotation(js *jobset.JobSet) bool {
	_, disabled := js.Annotations[jobset.DisableInPlaceRestartKey]
	return disabled
}
