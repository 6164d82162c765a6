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
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
)

// changedPodTemplate checks the maps and lists of a Pod template that may change, as the API server does when a Job is created:
// the entries that differ from an older template; the others were admitted before.
func changedPodTemplate(was *jobset.ReplicatedJob, js *jobset.JobSet, i int) field.ErrorList {
	old, new, template := &was.Template.Spec.Template, &jobSpec(js, i).Template, jobPath(i).Child("template")
	errs := newEntries(template.Child("metadata", "labels"), old.Labels, new.Labels, metav1validation.ValidateLabels)
	errs = append(errs, newEntries(template.Child("metadata", "annotations"), old.Annotations, new.Annotations, apivalidation.ValidateAnnotations)...)
	spec := template.Child("spec")
	errs = append(errs, newEntries(spec.Child("nodeSelector"), old.Spec.NodeSelector, new.Spec.NodeSelector, metav1validation.ValidateLabels)...)
	errs = append(errs, newItems(spec.Child("tolerations"), old.Spec.Tolerations, new.Spec.Tolerations, children.SameToleration, toleration)...)
	gate := func(g corev1.PodSchedulingGate) string { return g.Name }
	return append(errs, newItems(spec.Child("schedulingGates"), old.Spec.SchedulingGates, new.Spec.SchedulingGates, gate, schedulingGate)...)
}

// mostOfAList is after how many violations a map or list is not checked any further: items of three bytes have violations of
// hundreds, and there may be a million (W140).
const mostOfAList = 10

// newEntries checks entry by entry in the order of the keys, so that the
// same errors always have the same order.
func newEntries(path *field.Path, old, new map[string]string, check func(map[string]string, *field.Path) field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(new)) {
		if len(errs) >= mostOfAList {
			break
		}
		if was, there := old[key]; !there || was != new[key] {
			errs = append(errs, check(map[string]string{key: new[key]}, path)...)
		}
	}
	return errs
}

// newItems checks the items of a list that an older one lacks. Two items with the same key are the same.
func newItems[T any, K comparable](path *field.Path, old, new []T, key func(T) K, check func(*field.Path, T) field.ErrorList) field.ErrorList {
	known := make(map[K]bool, len(old))
	for _, item := range old {
		known[key(item)] = true
	}
	var errs field.ErrorList
	for i, item := range new {
		if len(errs) >= mostOfAList {
			break
		}
		if !known[key(item)] {
			errs = append(errs, check(path.Index(i), item)...)
		}
	}
	return errs
}

// toleration leaves operators and effects that it does not know to the API server, which may be newer.
func toleration(path *field.Path, t corev1.Toleration) field.ErrorList {
	var errs field.ErrorList
	if t.Key != "" {
		errs = metav1validation.ValidateLabelName(t.Key, path.Child("key"))
	} else if t.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(path.Child("operator"), t.Operator, "must be Exists if key is empty, which means all keys and all values"))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(path.Child("effect"), t.Effect, "must be NoExecute with tolerationSeconds"))
	}
	switch t.Operator {
	case corev1.TolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(path.Child("value"), t.Value, "must be empty with operator Exists"))
		}
	case corev1.TolerationOpEqual, "":
		errs = append(errs, invalids(path.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))...)
	}
	return errs
}

func schedulingGate(path *field.Path, gate corev1.PodSchedulingGate) field.ErrorList {
	return metav1validation.ValidateLabelName(gate.Name, path.Child("name"))
}
