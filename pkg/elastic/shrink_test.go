/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestShrinking: a group that restarts in place goes on without what no node can take (P108).
func TestShrinking(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	lost := func(nodes []Node, at int) []Node { nodes[at].Usable, nodes[at].Lost = false, true; return nodes }
	lacking := func(j Job, ago time.Duration) Job { j.Shrinks, j.Lacking = true, start.Add(-ago); return j }
	held := func(j Job, mayForce bool) Job { j.Held, j.MayForce = []string{"node-1"}, mayForce; return j }
	after := func(nodes []Node, jobs ...Job) Input {
		in := planOf(nodes, jobs...)
		in.ShrinkAfter = 2 * time.Minute
		return in
	}
	runs := func(j Job) Job { j.Running = true; return j }
	const long = 2 * time.Minute
	// Indexes 2 and 5 stood on the node that is lost.
	onTwo := func(j Job) Job { return on(j, 0, 0, 1, 0, 0, 1, 0, 0) }
	cores := func(count int64) Resources { return Resources{corev1.ResourceCPU: count * 1000} }
	gpuCores := func(count int64) Resources { return Resources{gpu: 1, corev1.ResourceCPU: count * 1000} }
	never := after(nodesOf(6), lacking(onTwo(gpuJob("a", 2, 8, 8)), time.Hour))
	never.ShrinkAfter = 0
	recreated := lacking(onTwo(gpuJob("a", 2, 8, 8)), long)
	recreated.Shrinks = false
	for name, tc := range map[string]struct {
		in   Input
		want sizes
		// because of the first job.
		because string
	}{
		"P108: it goes on with what is there": {
			after(nodesOf(6), lacking(onTwo(gpuJob("a", 2, 8, 8)), long)), sizes{"a": "6 Shrinks"},
			"2 of its 8 Pods have had no node for more than 2m0s: it continues with 6",
		},
		"P108: not before its time":                 {after(nodesOf(6), lacking(onTwo(gpuJob("a", 2, 8, 8)), long-time.Second)), sizes{"a": "8 Keeps"}, ""},
		"P108: nor if it lacks them since now":      {after(nodesOf(6), func() Job { j := onTwo(gpuJob("a", 2, 8, 8)); j.Shrinks = true; return j }()), sizes{"a": "8 Keeps"}, ""},
		"P108: nor if it is switched off":           {never, sizes{"a": "8 Keeps"}, ""},
		"P108: nor if it does not restart in place": {after(nodesOf(6), recreated), sizes{"a": "8 Keeps"}, ""},
		"P108: nor if another node takes them":      {after(nodesOf(6, 0, 2), lacking(onTwo(gpuJob("a", 2, 8, 8)), long)), sizes{"a": "8 Keeps"}, ""},
		"P108: Pods on a node that is not ready are missing, and keep their indexes": {
			after(lost(nodesOf(6, 2), 1), held(lacking(onTwo(gpuJob("a", 2, 8, 8)), long), false)), sizes{"a": "8 Stuck"},
			"2 of its 8 Pods have had no node for more than 2m0s, and Pods on node-1 keep their indexes: it waits until the nodes are ready, or are deleted with their Pods; " +
				"spec.faultTolerance allows to delete such Pods by force",
		},
		"P108 P85: unless they may be deleted by force": {
			after(lost(nodesOf(6, 2), 1), held(lacking(onTwo(gpuJob("a", 2, 8, 8)), long), true)), sizes{"a": "6 Shrinks"},
			"2 of its 8 Pods have had no node for more than 2m0s: it continues with 6",
		},
		"P108: the room that they need is not given away, so it does not grow again": {
			after(lost(nodesOf(6, 2), 1), held(on(gpuJob("a", 2, 8, 6), 0, 0, 1, 0, 0, 1), true)), sizes{"a": "6 Keeps"}, "",
		},
		"P108b: while it runs, Pods on a node that is not ready are not missing": {
			after(lost(nodesOf(6, 2), 1), runs(held(lacking(onTwo(gpuJob("a", 2, 8, 8)), time.Hour), true))), sizes{"a": "8 Keeps"}, "",
		},
		"P108b: nor are Pods that have a long grace": {
			after(nodesOf(6), runs(lacking(on(gpuJob("a", 2, 8, 8), 0, 0, 0, 0, 0, 0), time.Hour))), sizes{"a": "8 Keeps"}, "",
		},
		"P108: below its minimum it waits": {
			after(nodesOf(1), lacking(on(gpuJob("a", 2, 8, 3), 0, 9, 9), long)), sizes{"a": "3 Stuck"},
			"2 of its 3 Pods have had no node for more than 2m0s, and it cannot continue with fewer than 2: it waits for nodes",
		},
		"P108: it goes on with its minimum": {after(nodesOf(2), lacking(on(gpuJob("a", 2, 8, 4), 0, 9, 9, 0), long)), sizes{"a": "2 Shrinks"}, "2 of its 4 Pods have had no node for more than 2m0s: it continues with 2"},
		"P104 P108: it grows again when a node is there": {
			after(nodesOf(6, 2), lacking(on(gpuJob("a", 2, 8, 6), 0, 0, 0, 0, 0, 0), long)), sizes{"a": "8 Grows"}, "2 more fit: score 0.67",
		},
		"P108: each of two goes on with what is left for it": {
			after(nodesOf(4), lacking(on(gpuJob("a", 1, 4, 4), 0, 0, 9, 9), long), lacking(on(gpuJob("b", 1, 4, 3), 0, 0, 9), long)),
			sizes{"a": "2 Shrinks", "b": "2 Shrinks"}, "2 of its 4 Pods have had no node for more than 2m0s: it continues with 2",
		},
		"P107 P108: a CPU job goes on without what it lacks once a GPU job has grown, in the same plan": {
			after(nodesOf(2), lacking(on(asks(gpuJob("a", 1, 3, 3), cores(30)), 0, 0), long), on(asks(gpuJob("b", 1, 2, 1), gpuCores(10)), 0)),
			sizes{"a": "2 Shrinks", "b": "2 Grows"}, "1 of its 3 Pods have had no node for more than 2m0s: it continues with 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := Make(tc.in)
			if diff := cmp.Diff(tc.want, outcome(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.because, plan.Decisions[0].Because); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLacks: a job that lacks Pods is told apart from its first plan on, so that somebody can keep since when.
func TestLacks(t *testing.T) {
	in := planOf(nodesOf(6), on(gpuJob("a", 2, 8, 8), 0, 0, 0, 0, 0, 0), isNew(gpuJob("b", 2, 2, 2)))
	if got := [2]int32{Make(in).Decisions[0].Lacks, Make(in).Decisions[1].Lacks}; got != [2]int32{2, 0} {
		t.Errorf("P108: lacks %v, want 2 of the one that ran", got)
	}
}
