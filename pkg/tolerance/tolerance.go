/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package tolerance says what spec.faultTolerance of a JobSet means under the configuration of the
// manager: defaults for what is absent, a maximum for what is too long. It is pure.
package tolerance

import (
	"time"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Settings is what holds for one JobSet.
type Settings struct {
	// Admission is how long Pods may take to exist, and Warmup how long after that to run.
	Admission, Warmup time.Duration
	// Failure is how long the JobSet may be unhealthy before it is reset.
	Failure time.Duration
	// RetryPause is how long a reset waits once all Jobs are gone.
	RetryPause time.Duration
	// RetryLimit is how many restarts are allowed if there is no failure policy.
	RetryLimit int32
	// DeletionOnFailure is how long Pods are kept when the JobSet has failed.
	DeletionOnFailure time.Duration
	// ForcefulDeletion is how long after it should have been gone something is deleted by force.
	ForcefulDeletion time.Duration
	// SuccessTTL is how long Jobs are kept when the JobSet has completed.
	SuccessTTL time.Duration
}

// Limits is what the configuration says.
type Limits struct {
	// Defaults hold where a JobSet says nothing.
	Defaults Settings
	// Maximum is the longest time that a JobSet may ask for. A default may be longer, and then
	// is the maximum of its field.
	Maximum time.Duration
	// NoForce: nothing is deleted by force, whatever a JobSet asks for.
	NoForce bool
}

// Builtin is what holds where the configuration says nothing.
func Builtin() Limits {
	return Limits{
		Defaults: Settings{
			Admission: configapi.DefaultAdmissionGracePeriod, Warmup: configapi.DefaultWarmupGracePeriod,
			Failure:    configapi.DefaultFailureGracePeriod,
			RetryPause: configapi.DefaultRetryPause, RetryLimit: configapi.DefaultRetryLimit,
			DeletionOnFailure: configapi.DefaultDeletionOnFailureGracePeriod,
			ForcefulDeletion:  configapi.DefaultForcefulDeletionGracePeriod, SuccessTTL: configapi.DefaultSuccessTTL,
		},
		Maximum: configapi.DefaultGracePeriodMaximum,
		NoForce: !configapi.DefaultForcefulDeletion,
	}
}

// Capped is a time that a JobSet asks for and does not get.
type Capped struct {
	// Field is its name in spec.faultTolerance.
	Field      string
	Asked, Got time.Duration
}

// Of returns what holds for a JobSet that asks for this, and which times were cut down.
func (l Limits) Of(asked *jobset.FaultTolerance) (Settings, []Capped) {
	s := l.Defaults
	if asked == nil {
		return s, nil
	}
	if asked.RetryLimit != nil {
		s.RetryLimit = *asked.RetryLimit
	}
	var capped []Capped
	for _, p := range []struct {
		// field is that of the API.
		field string
		asks  *int32
		// is holds the default, and then what holds for the JobSet.
		is *time.Duration
	}{
		{"admissionGracePeriodSeconds", asked.AdmissionGracePeriodSeconds, &s.Admission},
		{"warmupGracePeriodSeconds", asked.WarmupGracePeriodSeconds, &s.Warmup},
		{"failureGracePeriodSeconds", asked.FailureGracePeriodSeconds, &s.Failure},
		{"retryPauseSeconds", asked.RetryPauseSeconds, &s.RetryPause},
		{"deletionOnFailureGracePeriodSeconds", asked.DeletionOnFailureGracePeriodSeconds, &s.DeletionOnFailure},
		{"forcefulDeletionGracePeriodSeconds", asked.ForcefulDeletionGracePeriodSeconds, &s.ForcefulDeletion},
		{"successTTLSeconds", asked.SuccessTTLSeconds, &s.SuccessTTL},
	} {
		if p.asks == nil {
			continue
		}
		wants, most := time.Duration(*p.asks)*time.Second, max(l.Maximum, *p.is)
		if *p.is = wants; wants > most {
			*p.is = most
			capped = append(capped, Capped{Field: p.field, Asked: wants, Got: most})
		}
	}
	return s, capped
}
