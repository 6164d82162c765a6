/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

var (
	plannedGracePath  = inPlacePath.Child("plannedStopGracePeriodSeconds")
	plannedSignalPath = inPlacePath.Child("plannedStopSignal")
)

// plannedStop refuses a stop that no supervisor carries out (P142). How long it may take, and by which signal, is in the schema.
func plannedStop(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	policy := js.Spec.FailurePolicy.InPlaceRestart
	if policy == nil {
		return nil
	}
	var errs field.ErrorList
	grace, signal := policy.PlannedStopGracePeriodSeconds, policy.PlannedStopSignal
	if workerpod.ModeOf(js.Spec.FailurePolicy) != jobset.ProcessMode {
		const instead = "the kubelet stops the worker, not a supervisor"
		if grace != nil {
			errs = onlyInProcessMode(plannedGracePath, instead)
		}
		if signal != "" {
			errs = append(errs, onlyInProcessMode(plannedSignalPath, instead)...)
		}
		return errs
	}
	if signal != "" && grace == nil {
		errs = append(errs, field.Forbidden(plannedSignalPath, "is read only with plannedStopGracePeriodSeconds, at whose start it is sent; remove it, or set how long workers may take"))
	}
	return errs
}

// plannedStopWarnings say which workers a planned stop does not give their time.
func plannedStopWarnings(js *jobset.JobSet) []string {
	grace := workerpod.PlannedStopSeconds(js.Spec.FailurePolicy)
	if grace == 0 {
		return nil
	}
	var out []string
	signal := js.Spec.FailurePolicy.InPlaceRestart.PlannedStopSignal
	if signal != "" && signal != jobset.PlannedStopTERM && workerpod.WrittenEnvironment(js.Spec.FailurePolicy) == jobset.TorchEnvironment {
		out = append(out, fmt.Sprintf("%s: is %s, which ends torchrun and, with it, its ranks: set %s if a container runs torchrun", plannedSignalPath, signal, jobset.PlannedStopTERM))
	}
	for i := range js.Spec.ReplicatedJobs {
		path := podPath(i).Child("terminationGracePeriodSeconds")
		if own := ptr.Deref(podSpec(js, i).TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds); own < int64(grace) {
			out = append(out, fmt.Sprintf("%s: is %d, less than plannedStopGracePeriodSeconds (%d): the Pods that a change of size or a move deletes "+
				"are killed while the others may still save; set at least %d", path, own, grace, grace))
		}
	}
	return out
}
