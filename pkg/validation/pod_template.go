/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// podTemplate checks the maps of a Pod template that may change later, as
// the API server does when a Job is created.
func podTemplate(js *jobset.JobSet, i int) field.ErrorList {
	return changedPodTemplate(i, &corev1.PodTemplateSpec{}, &js.Spec.ReplicatedJobs[i].Template.Spec.Template)
}

// changedPodTemplate checks the entries that differ from an older template; the others
// were admitted before.
func changedPodTemplate(i int, old, new *corev1.PodTemplateSpec) field.ErrorList {
	template := jobPath(i).Child("template")
	errs := newEntries(template.Child("metadata", "labels"), old.Labels, new.Labels, metav1validation.ValidateLabels)
	errs = append(errs, newEntries(template.Child("metadata", "annotations"), old.Annotations, new.Annotations, apivalidation.ValidateAnnotations)...)
	return append(errs, newEntries(template.Child("spec", "nodeSelector"), old.Spec.NodeSelector, new.Spec.NodeSelector, metav1validation.ValidateLabels)...)
}

// newEntries checks entry by entry in the order of the keys, so that the
// same errors always have the same order.
func newEntries(path *field.Path, old, new map[string]string, check func(map[string]string, *field.Path) field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(new)) {
		if was, there := old[key]; !there || was != new[key] {
			errs = append(errs, check(map[string]string{key: new[key]}, path)...)
		}
	}
	return errs
}
