/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

func validateElasticAutoscaling(cfg *configapi.Configuration) field.ErrorList {
	given := cfg.ElasticAutoscaling
	if given == nil {
		return nil
	}
	path := field.NewPath("elasticAutoscaling")
	var errs field.ErrorList
	if given.Interval != nil && given.Interval.Duration < time.Second {
		errs = append(errs, field.Invalid(path.Child("interval"), given.Interval.Duration.String(), "must be at least 1s"))
	}
	for _, period := range []struct {
		name string
		is   *metav1.Duration
	}{{"cooldownUp", given.CooldownUp}, {"cooldownDown", given.CooldownDown}, {"shrinkAfter", given.ShrinkAfter}} {
		if period.is != nil && period.is.Duration < 0 {
			errs = append(errs, field.Invalid(path.Child(period.name), period.is.Duration.String(), "must be 0 or more"))
		}
	}
	for i, name := range given.Accelerators {
		at := path.Child("accelerators").Index(i)
		errs = append(errs, validateMessages(at, name, validation.IsQualifiedName(string(name)))...)
		if slices.Contains(given.Accelerators[:i], name) {
			errs = append(errs, field.Duplicate(at, name))
		}
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourcePods {
			errs = append(errs, field.Invalid(at, name, "is no accelerator: leave it out"))
		}
	}
	if n := given.ReservePercent; n != nil && (*n < 0 || *n > 100) {
		errs = append(errs, field.Invalid(path.Child("reservePercent"), *n, "must be from 0 to 100"))
	}
	return errs
}
