/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

// validateFaultTolerance requires whole seconds, which is what JobSets ask for and the API keeps.
func validateFaultTolerance(cfg *configapi.Configuration) field.ErrorList {
	given := cfg.FaultTolerance
	if given == nil {
		return nil
	}
	path := field.NewPath("faultTolerance")
	var errs field.ErrorList
	for _, p := range []struct {
		name  string
		value *metav1.Duration
		least time.Duration
	}{
		{"gracePeriodMaximum", given.GracePeriodMaximum, time.Second},
		{"admissionGracePeriod", given.AdmissionGracePeriod, 0},
		{"warmupGracePeriod", given.WarmupGracePeriod, time.Second},
		{"failureGracePeriod", given.FailureGracePeriod, 0},
		{"retryPause", given.RetryPause, 0},
		{"deletionOnFailureGracePeriod", given.DeletionOnFailureGracePeriod, 0},
		{"forcefulDeletionGracePeriod", given.ForcefulDeletionGracePeriod, time.Second},
		{"successTTL", given.SuccessTTL, 0},
	} {
		if p.value != nil && (p.value.Duration < p.least || p.value.Duration%time.Second != 0) {
			errs = append(errs, field.Invalid(path.Child(p.name), p.value.Duration.String(), fmt.Sprintf("must be whole seconds, and at least %s", p.least)))
		}
	}
	if n := given.RetryLimit; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(path.Child("retryLimit"), *n, "must be >= 0"))
	}
	return errs
}
