/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// toleranceOf is what spec.faultTolerance of JobSets means under a configuration.
func toleranceOf(cfg *configapi.Configuration) tolerance.Limits {
	limits := tolerance.Builtin()
	given := cfg.FaultTolerance
	if given == nil {
		return limits
	}
	set := func(is *time.Duration, to *metav1.Duration) {
		if to != nil {
			*is = to.Duration
		}
	}
	set(&limits.Maximum, given.GracePeriodMaximum)
	set(&limits.Defaults.Admission, given.AdmissionGracePeriod)
	set(&limits.Defaults.Warmup, given.WarmupGracePeriod)
	set(&limits.Defaults.Failure, given.FailureGracePeriod)
	set(&limits.Defaults.RetryPause, given.RetryPause)
	set(&limits.Defaults.DeletionOnFailure, given.DeletionOnFailureGracePeriod)
	set(&limits.Defaults.ForcefulDeletion, given.ForcefulDeletionGracePeriod)
	set(&limits.Defaults.SuccessTTL, given.SuccessTTL)
	limits.NoForce = !ptr.Deref(given.ForcefulDeletion, configapi.DefaultForcefulDeletion)
	if given.RetryLimit != nil {
		limits.Defaults.RetryLimit = *given.RetryLimit
	}
	return limits
}
