/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

var progressPath = inPlacePath.Child("progress")

// progress refuses deadlines that nobody keeps (P131).
func progress(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	policy := workerpod.ProgressOf(js.Spec.FailurePolicy)
	if policy == nil {
		return nil
	}
	if workerpod.ModeOf(js.Spec.FailurePolicy) != jobset.ProcessMode {
		return onlyInProcessMode(progressPath, "no supervisor watches the worker")
	}
	return Deadlines(progressPath, policy)
}

// Deadlines refuses deadlines that no worker can keep, in a JobSet or as a default of all.
func Deadlines(path *field.Path, policy *jobset.ProgressPolicy) field.ErrorList {
	var errs field.ErrorList
	notNegative := func(name string, seconds *int32) {
		if seconds != nil && *seconds < 0 {
			errs = append(errs, field.Invalid(path.Child(name), *seconds, "must be a number of seconds from 0 on"))
		}
	}
	notNegative("startSeconds", policy.StartSeconds)
	notNegative("stallSeconds", policy.StallSeconds)
	notNegative("maxExtensionSeconds", policy.MaxExtensionSeconds)
	if stall := ptr.Deref(policy.StallSeconds, 0); stall > 0 && stall < protocol.MinStallSeconds {
		errs = append(errs, field.Invalid(path.Child("stallSeconds"), stall,
			fmt.Sprintf("must be 0, for no limit, or at least %d: signs are looked at once a second, and a busy node delays them", protocol.MinStallSeconds)))
	}
	if most := policy.MaxRestartsWithoutProgress; most != nil && *most < 0 {
		errs = append(errs, field.Invalid(path.Child("maxRestartsWithoutProgress"), *most, "must be a number of restarts from 1 on, or 0 for no limit"))
	}
	return append(errs, dump(path, policy)...)
}

// dump refuses a signal that nobody sends, and a time for it that is never waited for (P134).
func dump(path *field.Path, policy *jobset.ProgressPolicy) field.ErrorList {
	var errs field.ErrorList
	if signal := policy.DumpSignal; signal != "" && protocol.DumpSignals[string(signal)] == 0 {
		errs = append(errs, field.NotSupported(path.Child("dumpSignal"), signal,
			[]jobset.DumpSignal{jobset.DumpSignalUSR1, jobset.DumpSignalUSR2, jobset.DumpSignalQUIT}))
	}
	path = path.Child("dumpSeconds")
	switch seconds := policy.DumpSeconds; {
	case seconds == nil:
	case *seconds < 1 || *seconds > protocol.MaxDumpSeconds:
		errs = append(errs, field.Invalid(path, *seconds, fmt.Sprintf("must be a number of seconds from 1 to %d", protocol.MaxDumpSeconds)))
	case policy.DumpSignal == "":
		errs = append(errs, field.Forbidden(path, "is read only with dumpSignal, after which it begins; remove it, or set dumpSignal"))
	}
	return errs
}

// adjustable returns what of a failure policy may change at any time.
func adjustable(policy *jobset.FailurePolicy) jobset.InPlaceRestartPolicy {
	if policy == nil || policy.InPlaceRestart == nil {
		return jobset.InPlaceRestartPolicy{}
	}
	return jobset.InPlaceRestartPolicy{Progress: policy.InPlaceRestart.Progress, LostNode: policy.InPlaceRestart.LostNode}
}

// adjusted reports whether an update changes that.
func adjusted(old, new *jobset.JobSet) bool {
	return new.Spec.FailurePolicy != nil && !apiequality.Semantic.DeepEqual(adjustable(old.Spec.FailurePolicy), adjustable(new.Spec.FailurePolicy))
}

// adjustedIfChanged checks deadlines that changed.
func adjustedIfChanged(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	if !adjusted(old, new) {
		return nil
	}
	return append(progress(new, g), lostNode(new, g)...)
}

// withoutAdjustable returns a failure policy without what may change.
func withoutAdjustable(policy *jobset.FailurePolicy) *jobset.FailurePolicy {
	if policy == nil || policy.InPlaceRestart == nil {
		return policy
	}
	fixed, inPlace := *policy, *policy.InPlaceRestart
	inPlace.Progress, inPlace.LostNode = nil, nil
	fixed.InPlaceRestart = &inPlace
	return &fixed
}

// AdjustedWarnings are those about deadlines that an update changes (P131, P171).
func AdjustedWarnings(old, js *jobset.JobSet, g gates.Set) []string {
	if !workerpod.RestartsInPlace(js, g) || !adjusted(old, js) {
		return nil
	}
	return append(progressWarnings(js), lostNodeWarnings(js)...)
}

// progressWarnings say what deadlines do that their author may not expect.
func progressWarnings(js *jobset.JobSet) []string {
	policy := workerpod.ProgressOf(js.Spec.FailurePolicy)
	if policy == nil {
		return nil
	}
	var warnings []string
	start, stall := ptr.Deref(policy.StartSeconds, 0), ptr.Deref(policy.StallSeconds, 0)
	most := ptr.Deref(policy.MaxRestartsWithoutProgress, 0)
	switch {
	case start == 0 && stall == 0 && most == 0:
		warnings = append(warnings, fmt.Sprintf("%s: has neither startSeconds nor stallSeconds, so hangs are never detected", progressPath))
	case start > 0 && start < stall:
		warnings = append(warnings, fmt.Sprintf("%s: is %d, less than stallSeconds (%d): a worker has less time from its start to its first sign than from one sign to the next, "+
			"although the start includes imports and the first step", progressPath.Child("startSeconds"), start, stall))
	}
	switch path, restarts := progressPath.Child("maxRestartsWithoutProgress"), js.Spec.FailurePolicy.MaxRestarts; {
	case most <= 0:
	case most > restarts:
		warnings = append(warnings, fmt.Sprintf("%s: is %d, more than maxRestarts (%d), which is used up before: it ends nothing", path, most, restarts))
	default:
		warnings = append(warnings, fmt.Sprintf("%s: applies only if workers report their steps, by X_JOBSET_STEP or a number in the file of JOBSET_PROGRESS_FILE; "+
			"a worker that gives only WATCHDOG=1 is never found to make no progress", path))
	}
	return warnings
}
