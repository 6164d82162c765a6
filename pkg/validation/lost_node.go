/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

const maxLostNodeSeconds = 3600

var (
	lostNodePath     = inPlacePath.Child("lostNode")
	replaceAfterPath = lostNodePath.Child("replaceAfterSeconds")
)

// lostNode refuses a time that nobody can keep, or that nobody has given (P171).
func lostNode(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	policy := js.Spec.FailurePolicy
	if policy.InPlaceRestart == nil || policy.InPlaceRestart.LostNode == nil {
		return nil
	}
	if after := policy.InPlaceRestart.LostNode.ReplaceAfterSeconds; after != nil {
		return ReplaceAfter(replaceAfterPath, *after)
	}
	if workerpod.StoppedAfterSeconds(policy) == 0 {
		return field.ErrorList{field.Required(replaceAfterPath, fmt.Sprintf("is needed where %s is not set, from which it is taken otherwise: set one of them, "+
			"so that a worker that is cut off from its peers has stopped when it is replaced", progressPath.Child("stallSeconds")))}
	}
	return nil
}

// ReplaceAfter refuses a time after which nobody would be replaced, in a JobSet or as a default of all.
func ReplaceAfter(path *field.Path, seconds int32) field.ErrorList {
	if seconds >= 0 && seconds <= maxLostNodeSeconds {
		return nil
	}
	return field.ErrorList{field.Invalid(path, seconds, fmt.Sprintf("must be a number of seconds from 1 to %d, or 0 to leave lost workers to Kubernetes", maxLostNodeSeconds))}
}

// lostNodeWarnings say what the author of a JobSet promises.
func lostNodeWarnings(js *jobset.JobSet) []string {
	policy := js.Spec.FailurePolicy
	after, stopped := workerpod.LostNodeSeconds(policy), workerpod.StoppedAfterSeconds(policy)
	if after == 0 {
		return nil
	}
	var out []string
	const promise = "setting it is a promise that a worker that is cut off from its peers stops, or computes nothing that counts, within this time"
	switch {
	case stopped == 0:
		out = append(out, fmt.Sprintf("%s: is %d without %s, so JobSet does not stop a worker that has lost its peers: %s", replaceAfterPath, after, progressPath.Child("stallSeconds"), promise))
	case after < stopped:
		out = append(out, fmt.Sprintf("%s: is %d, less than the %d seconds in which stallSeconds ends a worker that is cut off (stallSeconds, dumpSeconds and 15): %s", replaceAfterPath, after, stopped, promise))
	}
	if stopped == 0 {
		return out
	}
	if most := ptr.Deref(workerpod.ProgressOf(policy).MaxExtensionSeconds, 3600); most > after {
		out = append(out, fmt.Sprintf("%s: is %d, more than the %d seconds after which a worker on a lost node is replaced: one that extends its deadline, for a checkpoint for example, "+
			"may still write when its successor starts; set at most %d", progressPath.Child("maxExtensionSeconds"), most, after, after))
	}
	return out
}
