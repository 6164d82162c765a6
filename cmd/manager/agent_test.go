/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestAgentsOfTheConfiguration(t *testing.T) {
	auto := workerpod.Injection{LeaseReportsFrom: 256}
	small := &corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "a"}}}
	for name, tc := range map[string]struct {
		given     *configapi.InPlaceRestart
		injection workerpod.Injection
		access    bool
	}{
		"P52: nothing is said":         {nil, auto, true},
		"P52: an image and resources":  {&configapi.InPlaceRestart{AgentImage: "agent", AgentResources: small}, workerpod.Injection{Image: "agent", Resources: small, LeaseReportsFrom: 256}, true},
		"P121: an environment":         {&configapi.InPlaceRestart{Environment: "Torch"}, workerpod.Injection{Environment: "Torch", LeaseReportsFrom: 256}, true},
		"P56: access comes from afar":  {&configapi.InPlaceRestart{CreateAccess: ptr.To(false)}, auto, false},
		"P56: access is ours, in word": {&configapi.InPlaceRestart{CreateAccess: ptr.To(true)}, auto, true},
		"P150: Leases from a size":     {&configapi.InPlaceRestart{Reports: "Auto", LeaseReportsFrom: ptr.To[int32](9)}, workerpod.Injection{LeaseReportsFrom: 9}, true},
		"P150: Leases at any size":     {&configapi.InPlaceRestart{Reports: "Lease", LeaseReportsFrom: ptr.To[int32](9)}, workerpod.Injection{LeaseReportsFrom: 1}, true},
		"P150: no Leases":              {&configapi.InPlaceRestart{Reports: "Pod", LeaseReportsFrom: ptr.To[int32](9)}, workerpod.Injection{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := defaultsBut(func(cfg *configapi.Configuration) { cfg.InPlaceRestart = tc.given })
			if diff := cmp.Diff(tc.injection, injectionOf(cfg)); diff != "" {
				t.Errorf("injection (-want +got):\n%s", diff)
			}
			if got := createsAccess(cfg); got != tc.access {
				t.Errorf("createsAccess = %t, want %t", got, tc.access)
			}
		})
	}
}
