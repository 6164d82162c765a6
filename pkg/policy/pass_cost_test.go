/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"runtime"
	"testing"
)

// TestTheCostOfAPass counts what BenchmarkDecide times. Not parallel: what
// other tests allocate would count too.
func TestTheCostOfAPass(t *testing.T) {
	const pods = 10000
	tests := map[string]struct {
		deprecated, synced int32
		epoch, last        string
	}{
		"C304: over a group that runs":      {0, 1, "1", "1"},
		"C304: over a group that assembles": {1, 1, "2", "1"},
		"C304: that lifts a group":          {1, 1, "2", "2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, jobs := range []int{1, 10, pods / 8} {
				in := largeGroup(jobs, pods/jobs, tc.deprecated, tc.synced, tc.epoch, tc.last)
				decide := func() {
					if _, err := Decide(in); err != nil {
						t.Fatal(err)
					}
				}
				// By Jobs, not by Pods; a map that grows with the Pods does so by doubling.
				if got, most := testing.AllocsPerRun(3, decide), float64(100+4*jobs); got > most {
					t.Errorf("%d Pods in %d Jobs: %.0f allocations, want at most %.0f", pods, jobs, got, most)
				}
				// What is kept for each Pod is a byte or two in that map. A copy of it would be a thousand.
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				decide()
				runtime.ReadMemStats(&after)
				if got := (after.TotalAlloc - before.TotalAlloc) / pods; got > 64 {
					t.Errorf("%d Pods in %d Jobs: %d bytes for each Pod, want at most 64", pods, jobs, got)
				}
			}
		})
	}
}
