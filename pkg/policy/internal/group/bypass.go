/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// In a bypass agents start their workers without asking, and outside of all epochs (P34). They obey condition
// InPlaceRestartDisabled alone, so it begins and ends with a write of the status. That of its end spends an epoch (P34b):
//
//	                 D  S
//	True             1  1   two of three Pods report 2; workers run, whatever their Pods report
//	True -> False    2  2   who reports 2 may run outside of all epochs, and counts for nothing
//	lift             2  3   all have come back, and reported 3
//
// Agents from before P34b obey the annotation, too. A manager that sees it neither lifts nor breaks, and admission refuses to
// remove it before the condition is True: they never stop obeying unseen.

// Bypass keeps the condition that tells agents whether the controller looks after the group. What changes is said before
// anything else is done, so that no agent is judged by what it did meanwhile.
func Bypass(v *view.View, _ pass.Result) pass.Result {
	const condition = jobset.JobSetInPlaceRestartDisabled
	is := v.TrueCondition(condition)
	switch {
	case v.RestartStrategy() != jobset.InPlaceRestart:
		return pass.Result{}
	case !v.Gates.InPlaceRestart:
		return pass.Tell(pass.Silently(condition, metav1.ConditionTrue, constants.InPlaceRestartDisabledReason, constants.InPlaceRestartDisabledMessage))
	case pass.DisabledByAnnotation(v.JobSet):
		r := pass.Tell(pass.Silently(condition, metav1.ConditionTrue, constants.DisabledByAnnotationReason, constants.DisabledByAnnotationMessage))
		r.Ends = is == nil
		return r
	case is == nil:
		return pass.Result{}
	}
	r := pass.Tell(pass.Silently(condition, metav1.ConditionFalse, constants.InPlaceRestartEnabledReason, constants.InPlaceRestartEnabledMessage))
	if is.Reason == constants.DisabledByAnnotationReason {
		r = pass.Tell(pass.Silently(condition, metav1.ConditionFalse, constants.AnnotationRemovedReason, constants.AnnotationRemovedMessage))
	}
	r.Ends, r.Changes = true, pass.Deprecate|pass.SpendEpoch
	return r
}

// SkipEpoch makes S+1 an epoch that has ended and never ran. There is none after the last.
func SkipEpoch(v *view.View, status *jobset.JobSetStatus) {
	next := min(v.Synced, math.MaxInt32-1) + 1
	status.DeprecatedEpoch, status.SyncedEpoch, status.PlannedBreak = ptr.To(next), ptr.To(next), false
}

// mayBeStopping reports whether the worker of a Pod in a group that assembles may still have to stop (P24a): its Pod shows an
// epoch that has ended, or none, and a bypass may have let it run.
func mayBeStopping(v *view.View, m *facts.Member) bool {
	if m.Reported.Epoch > 0 || v.Synced == 0 {
		return m.Reported.Epoch <= v.Deprecated
	}
	return m.Created().Before(v.BypassEnded())
}
