/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

const inProcessMode = "when failurePolicy.inPlaceRestart.mode is Process"

var (
	inPlacePath = failurePolicyPath.Child("inPlaceRestart")
	modePath    = inPlacePath.Child("mode")
)

// inPlaceMode refuses a mode that is not possible, and settings that it does not read.
func inPlaceMode(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	policy := js.Spec.FailurePolicy.InPlaceRestart
	if workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ProcessMode {
		return processMode(js)
	}
	if policy == nil || policy.StopGracePeriodSeconds == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(inPlacePath.Child("stopGracePeriodSeconds"), fmt.Sprintf(
		"is read only %s: with %s the kubelet stops the containers, and always gives them 2 seconds; remove it, or set mode: %s",
		inProcessMode, jobset.ContainerMode, jobset.ProcessMode))}
}

func processMode(js *jobset.JobSet) (errs field.ErrorList) {
	for _, o := range workerpod.Obstacles(js) {
		message := fmt.Sprintf("%s, %s: %s, or use mode %s", o.Reason, inProcessMode, o.Fix, jobset.ContainerMode)
		if o.Value == nil {
			errs = append(errs, field.Required(o.Path, message))
		} else {
			errs = append(errs, field.Invalid(o.Path, o.Value, message))
		}
	}
	return errs
}

// DefaultWarnings says of a new JobSet, as its author wrote it, why containers restart and not
// just processes. An author who brings an agent has chosen that.
func DefaultWarnings(js *jobset.JobSet, g gates.Set) []string {
	if !workerpod.RestartsInPlace(js, g) || js.Spec.FailurePolicy.InPlaceRestart != nil && js.Spec.FailurePolicy.InPlaceRestart.Mode != "" {
		return nil
	}
	mode, obstacles := workerpod.DefaultMode(js)
	if slices.ContainsFunc(obstacles, func(o workerpod.Obstacle) bool { return o.OwnAgent }) {
		return nil
	}
	var out []string
	for _, o := range obstacles {
		out = append(out, fmt.Sprintf("%s: is %s, with which a restart takes seconds longer than with %s: %s; %s, or set mode: %s",
			modePath, mode, jobset.ProcessMode, obstacle(o), o.Fix, mode))
	}
	return out
}

// firstProcessWarnings are about mode Process where its author wrote it.
func firstProcessWarnings(js *jobset.JobSet) []string {
	if workerpod.ModeOf(js.Spec.FailurePolicy) != jobset.ProcessMode {
		return nil
	}
	var out []string
	for _, o := range workerpod.FirstProcesses(js) {
		out = append(out, fmt.Sprintf("%s; %s, or set mode: %s", obstacle(o), o.Fix, jobset.ContainerMode))
	}
	return out
}

func obstacle(o workerpod.Obstacle) string {
	if o.Container == "" {
		return fmt.Sprintf("%s %s", o.Path, o.Reason)
	}
	return fmt.Sprintf("%s of container %s %s", o.Path, o.Container, o.Reason)
}
