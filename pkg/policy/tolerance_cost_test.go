/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import "testing"

// TestFaultToleranceCostsOthersNothing: a decision about a JobSet without faultTolerance allocates no more with the gate
// on than with it off. Not parallel: allocations of the whole process are counted.
func TestFaultToleranceCostsOthersNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		in Input
		// varies is how far two counts of the same may be apart.
		varies float64
	}{
		"P80: 100 Jobs that run": {in: manyJobs(1, 100, true)},
		// Their names are made by package fmt, with memory from a pool that the race detector empties at random.
		"P80: 100 Jobs to create":             {in: manyJobs(1, 100, false), varies: 20},
		"P80: a group that restarts in place": {in: inPlace(0, 1, "1 1 1 1|1 1 1 1")},
	} {
		t.Run(name, func(t *testing.T) {
			allocations := func(on bool) float64 {
				tc.in.Gates.FaultTolerance = on
				return testing.AllocsPerRun(100, func() {
					if _, err := Decide(tc.in); err != nil {
						t.Fatal(err)
					}
				})
			}
			if off, on := allocations(false), allocations(true); on > off+tc.varies {
				t.Errorf("allocations: %v with the gate on, %v with it off", on, off)
			}
		})
	}
}
