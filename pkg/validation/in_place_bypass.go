/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// bypassEndsSeen refuses to remove the annotation that disables in-place restart before the manager has made a condition of it.
// Agents from before P34b obey the annotation itself: their workers would have run outside of all epochs unseen.
func bypassEndsSeen(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	const key, condition = jobset.DisableInPlaceRestartKey, string(jobset.JobSetInPlaceRestartDisabled)
	_, was := old.Annotations[key]
	_, is := new.Annotations[key]
	notOurs := old.DeletionTimestamp != nil || old.Status.TerminalState != "" || old.Spec.ManagedBy != nil && *old.Spec.ManagedBy != jobset.JobSetControllerName
	if !was || is || notOurs || !workerpod.RestartsInPlace(old, g) || apimeta.IsStatusConditionTrue(old.Status.Conditions, condition) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("metadata", "annotations").Key(key),
		"cannot be removed before the manager has acted on it: wait until condition "+condition+" is True, which takes a moment while a manager leads, and remove it then")}
}
