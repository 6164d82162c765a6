/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestQuotas: the planner knows what quotas refuse (P112).
func TestQuotas(t *testing.T) {
	exist := func(j Job, count int32) Job { j.Exist = count; return j }
	quotas := func(in Input, h Headroom) Input { in.Quotas = map[string]Headroom{"ns": h}; return in }
	pods := func(left int64) Headroom { return Headroom{Request: Resources{corev1.ResourcePods: left}} }

	for name, tc := range map[string]struct {
		in   Input
		want sizes
	}{
		"P112: a quota of Pods limits growth": {
			quotas(planOf(nodesOf(8), exist(on(gpuJob("a", 1, 20, 2), 0, 0), 2)), pods(1)), sizes{"a": "3 Grows"},
		},
		"P112: a quota that is used up takes nothing from what runs": {
			quotas(planOf(nodesOf(8), exist(on(gpuJob("a", 1, 20, 3), 0, 0, 0), 3)), pods(-5)), sizes{"a": "3 Keeps"},
		},
		"P112: all jobs of the namespace share it": {
			quotas(planOf(nodesOf(8), exist(on(gpuJob("a", 1, 20, 1), 0), 1), exist(on(gpuJob("b", 1, 20, 1), 0), 1)), pods(3)), sizes{"a": "3 Grows", "b": "2 Grows"},
		},
		"P112: other namespaces do not": {
			quotas(planOf(nodesOf(8), func() Job { j := on(gpuJob("a", 1, 4, 1), 0); j.Namespace = "other"; return j }()), pods(0)), sizes{"a": "4 Grows"},
		},
		"P112: a quota of accelerators": {
			quotas(planOf(nodesOf(8), exist(on(gpuJob("a", 1, 20, 1), 0), 1)), Headroom{Request: Resources{gpu: 2}}), sizes{"a": "3 Grows"},
		},
		"P112: a quota of limits": {
			quotas(planOf(nodesOf(8), exist(func() Job {
				j := on(gpuJob("a", 1, 20, 1), 0)
				j.Limit = Resources{corev1.ResourceMemory: 10}
				return j
			}(), 1)), Headroom{Limit: Resources{corev1.ResourceMemory: 39}}), sizes{"a": "4 Grows"},
		},
		"P112: for a minimum one of the namespace gives": {
			quotas(planOf(nodesOf(8), exist(on(gpuJob("a", 1, 4, 4), 0, 0, 0, 0), 4), isNew(gpuJob("b", 2, 2, 2))), pods(0)), sizes{"a": "2 Gives", "b": "2 Keeps"},
		},
		"P112: and no one of another, whom that would not help": {
			quotas(planOf(nodesOf(8), func() Job { j := on(gpuJob("a", 1, 4, 4), 0, 0, 0, 0); j.Namespace = "other"; return j }(), isNew(gpuJob("b", 2, 2, 2))), pods(0)),
			sizes{"a": "4 Keeps", "b": "2 Waits"},
		},
		"P112: nor one whose namespace has a quota of its own": {
			func() Input {
				other := exist(on(gpuJob("a", 1, 4, 4), 0, 0, 0, 0), 4)
				other.Namespace = "other"
				in := planOf(nodesOf(8), other, isNew(gpuJob("b", 2, 2, 2)))
				in.Quotas = map[string]Headroom{"ns": pods(0), "other": pods(0)}
				return in
			}(),
			sizes{"a": "4 Keeps", "b": "2 Waits"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, outcome(Make(tc.in))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}
