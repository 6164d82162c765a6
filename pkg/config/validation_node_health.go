/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

// validateNodeHealth checks what becomes a node affinity of Pods: a mistake would fail every Job that gets it.
func validateNodeHealth(cfg *configapi.Configuration) field.ErrorList {
	health := cfg.NodeHealth
	if health == nil {
		return nil
	}
	path := field.NewPath("nodeHealth")
	var errs field.ErrorList
	if ptr.Deref(health.MonitorNodes, false) && !ptr.Deref(health.InjectAntiAffinities, configapi.DefaultInjectAntiAffinities) {
		errs = append(errs, field.Invalid(path.Child("monitorNodes"), true,
			"must not be true while injectAntiAffinities is false: Pods could come back to the node that they are moved off; leave it out, or set both to true"))
	}
	taints := path.Child("resourceTaints")
	if health.ResourceTaints != nil && len(health.ResourceTaints) == 0 {
		errs = append(errs, field.Required(taints, "must name a resource; leave it out for the default, or set injectAntiAffinities to false to keep away from no node"))
	}
	for _, resource := range slices.Sorted(maps.Keys(health.ResourceTaints)) {
		errs = append(errs, validateResourceTaints(taints.Key(string(resource)), resource, health.ResourceTaints[resource])...)
	}
	return errs
}

func validateResourceTaints(path *field.Path, resource corev1.ResourceName, taints []configapi.ResourceTaint) field.ErrorList {
	errs := validateMessages(path, string(resource), validation.IsQualifiedName(string(resource)))
	if len(taints) == 0 {
		errs = append(errs, field.Required(path, "must list a label; leave the resource out to keep away from no node because of it"))
	}
	seen := map[string]bool{}
	for i, taint := range taints {
		errs = append(errs, validateResourceTaint(path.Index(i), taint)...)
		if label := taint.Key + "=" + taint.Value; seen[label] {
			errs = append(errs, field.Duplicate(path.Index(i), label))
		} else {
			seen[label] = true
		}
	}
	return errs
}

func validateResourceTaint(path *field.Path, taint configapi.ResourceTaint) field.ErrorList {
	errs := validateMessages(path.Child("key"), taint.Key, validation.IsQualifiedName(taint.Key))
	if taint.Value == "" {
		errs = append(errs, field.Required(path.Child("value"), "must be the value of the label on a sick node"))
	}
	errs = append(errs, validateMessages(path.Child("value"), taint.Value, validation.IsValidLabelValue(taint.Value))...)
	if taint.Effect != corev1.TaintEffectNoSchedule && taint.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.NotSupported(path.Child("effect"), taint.Effect,
			[]corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute}))
	}
	return errs
}
