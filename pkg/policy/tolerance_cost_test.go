/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import "testing"

// TestFaultToleranceCostsOthersNothing: a decision about a JobSet without faultTolerance allocates no more with the gate
// on than with it off, but for one in a hundred: what comes from a sync.Pool is allocated now and then, with the race
// detector at random. Not parallel: allocations of the whole process are counted.
func TestFaultToleranceCostsOthersNothing(t *testing.T) {
	for name, in := range map[string]Input{
		"P80: 100 Jobs that run":              manyJobs(1, 100, true),
		"P80: 100 Jobs to create":             manyJobs(1, 100, false),
		"P80: a group that restarts in place": inPlace(0, 1, "1 1 1 1|1 1 1 1"),
	} {
		t.Run(name, func(t *testing.T) {
			allocations := func(on bool) float64 {
				in.Gates.FaultTolerance = on
				return testing.AllocsPerRun(100, func() {
					if _, err := Decide(in); err != nil {
						t.Fatal(err)
					}
				})
			}
			if off, on := allocations(false), allocations(true); on > 1.01*off+1 {
				t.Errorf("allocations: %v with the gate on, %v with it off", on, off)
			}
		})
	}
}
