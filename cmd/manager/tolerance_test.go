/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

func TestToleranceOf(t *testing.T) {
	seconds := func(n int) *metav1.Duration { return &metav1.Duration{Duration: time.Duration(n) * time.Second} }
	tests := map[string]struct {
		given *configapi.FaultTolerance
		want  tolerance.Limits
	}{
		"P82, P83: nothing is said": {nil, tolerance.Builtin()},
		"P82, P83: an empty block":  {&configapi.FaultTolerance{}, tolerance.Builtin()},
		"P82, P83: all is said": {
			&configapi.FaultTolerance{
				GracePeriodMaximum: seconds(1), RetryPause: seconds(2), RetryLimit: ptr.To[int32](0),
				AdmissionGracePeriod: seconds(3), WarmupGracePeriod: seconds(4), FailureGracePeriod: seconds(5),
				DeletionOnFailureGracePeriod: seconds(6), ForcefulDeletionGracePeriod: seconds(7), SuccessTTL: seconds(8), ForcefulDeletion: ptr.To(false),
			},
			tolerance.Limits{Maximum: time.Second, NoForce: true, Defaults: tolerance.Settings{
				RetryPause: 2 * time.Second, Admission: 3 * time.Second, Warmup: 4 * time.Second, Failure: 5 * time.Second,
				DeletionOnFailure: 6 * time.Second, ForcefulDeletion: 7 * time.Second, SuccessTTL: 8 * time.Second,
			}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := toleranceOf(defaultsBut(func(cfg *configapi.Configuration) { cfg.FaultTolerance = tc.given }))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}
