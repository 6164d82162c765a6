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
	given := ptr.Deref(cfg.FaultTolerance, configapi.FaultTolerance{})
	setGiven(&limits.Maximum, given.GracePeriodMaximum)
	setGiven(&limits.Defaults.Admission, given.AdmissionGracePeriod)
	setGiven(&limits.Defaults.Warmup, given.WarmupGracePeriod)
	setGiven(&limits.Defaults.Failure, given.FailureGracePeriod)
	setGiven(&limits.Defaults.RetryPause, given.RetryPause)
	setGiven(&limits.Defaults.DeletionOnFailure, given.DeletionOnFailureGracePeriod)
	setGiven(&limits.Defaults.ForcefulDeletion, given.ForcefulDeletionGracePeriod)
	setGiven(&limits.Defaults.SuccessTTL, given.SuccessTTL)
	limits.NoForce = !ptr.Deref(given.ForcefulDeletion, configapi.DefaultForcefulDeletion)
	limits.Defaults.RetryLimit = ptr.Deref(given.RetryLimit, limits.Defaults.RetryLimit)
	return limits
}

// setGiven sets a time that the configuration gives; without it the default stays.
func setGiven(is *time.Duration, to *metav1.Duration) {
	if to != nil {
		*is = to.Duration
	}
}
