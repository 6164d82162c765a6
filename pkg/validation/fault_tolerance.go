/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

var tolerancePath = specPath.Child("faultTolerance")

// faultToleranceGate refuses a field that no controller would act upon.
func faultToleranceGate(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if g.FaultTolerance || js.Spec.FaultTolerance == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(tolerancePath, "cannot be set when FaultTolerance feature gate is disabled: start the manager with "+
		"--feature-gates=FaultTolerance=true, or set featureGates: {FaultTolerance: true} in its configuration")}
}

// oneLimit refuses a limit under two names (P82). maxRestarts is always there if there is a failure policy: 0 is its default.
func oneLimit(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	asked := js.Spec.FaultTolerance
	if asked == nil || asked.RetryLimit == nil || js.Spec.FailurePolicy == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(tolerancePath.Child("retryLimit"), fmt.Sprintf(
		"must not be set beside failurePolicy, whose maxRestarts is the same limit and is %d: remove retryLimit, and say in %s how many restarts are allowed",
		js.Spec.FailurePolicy.MaxRestarts, failurePolicyPath.Child("maxRestarts")))}
}

// faultToleranceIfChanged: it may change at any time, to what a new JobSet may have. With the gate off
// it may change where it is, and not come in.
func faultToleranceIfChanged(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	if apiequality.Semantic.DeepEqual(old.Spec.FaultTolerance, new.Spec.FaultTolerance) {
		return nil
	}
	var errs field.ErrorList
	if old.Spec.FaultTolerance == nil {
		errs = faultToleranceGate(new, g)
	}
	return append(errs, oneLimit(new, g)...)
}

// ToleranceWarnings says what faultTolerance asks for and does not get. old is nil for a new JobSet.
func ToleranceWarnings(old, js *jobset.JobSet, g gates.Set, limits tolerance.Limits) []string {
	asked := js.Spec.FaultTolerance
	if !g.FaultTolerance || asked == nil || old != nil && apiequality.Semantic.DeepEqual(old.Spec.FaultTolerance, asked) {
		return nil
	}
	var out []string
	_, capped := limits.Of(asked)
	for _, c := range capped {
		out = append(out, fmt.Sprintf("%s: %s is more than the manager's configuration faultTolerance.gracePeriodMaximum allows, and counts as %s",
			tolerancePath.Child(c.Field), c.Asked, c.Got))
	}
	if restartsInPlace(js, g) {
		out = append(out, unreadPeriod(asked)...)
	}
	if p := js.Spec.FailurePolicy; p != nil && p.MaxRestarts == 0 && !restartsInPlace(js, g) { // else there is that warning already
		out = append(out, fmt.Sprintf("%s: is 0, which is also the default, and is the limit of faultTolerance too: the first reset fails the JobSet; "+
			"set how many restarts it may have", failurePolicyPath.Child("maxRestarts")))
	}
	return out
}

// unreadPeriod names the period that a group that restarts in place does not read (P80).
func unreadPeriod(asked *jobset.FaultTolerance) []string {
	if asked.AdmissionGracePeriodSeconds == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: is not read, because the group restarts in place: remove it, and set how long the group may take to assemble in %s",
		tolerancePath.Child("admissionGracePeriodSeconds"), tolerancePath.Child("warmupGracePeriodSeconds"))}
}
