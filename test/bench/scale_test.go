/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func restartOf(workers int, flow bool, mode jobset.InPlaceRestartMode, apiSeconds float64) result {
	return result{
		scenario:    scenario{strategy: jobset.InPlaceRestart, mode: mode, delays: realDelays, flowControl: flow, workers: workers},
		firstReport: time.Second, lift: 10 * time.Second, lastWorker: 12 * time.Second,
		used: usage{cpu: map[string]float64{apiServer: apiSeconds}},
	}
}

func TestGrowthIsThatOfTheSameKind(t *testing.T) {
	all := seriesOf([]result{
		restartOf(10, true, jobset.ProcessMode, 9), // another kind: with flow control
		restartOf(10, false, jobset.ContainerMode, 9),
		restartOf(100, false, jobset.ProcessMode, 1),
		restartOf(1000, false, jobset.ProcessMode, 5),
		restartOf(5000, false, jobset.ProcessMode, 100),
	})
	if got := smallest(all, all[4]); got.workers != 100 || got.flowControl || got.mode != jobset.ProcessMode {
		t.Errorf("smallest() = %+v, want 100 workers in process mode without flow control", got.scenario)
	}
	var out strings.Builder
	printGrowth(&out, all)
	for _, want := range []string{"| 1000 | 100 | process mode | kubelet | off | 0.10 | 0.50 |", "| 5000 | 100 | process mode | kubelet | off | 0.02 | 2.00 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printGrowth() has no line %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "| 10 |") || strings.Contains(out.String(), "| 100 | 100 |") {
		t.Errorf("printGrowth() compares the smallest with itself:\n%s", out.String())
	}
}

func TestARestartTakesAtLeastWhatNoCoreMakesShorter(t *testing.T) {
	// One second before the first report and two after the lift are not the API server's.
	if got := atLeast(restartOf(100, false, jobset.ProcessMode, 16), 8); got != 5 {
		t.Errorf("atLeast() = %v s, want 3 and 16/8", got)
	}
}

func TestScaleKnowsItsCases(t *testing.T) {
	for cases, known := range map[string]bool{"": true, "group jobsets bringup": true, "groups": false} {
		if err := (&scale{cases: cases, jobSets: 2, podsEach: 1}).check(); (err == nil) != known {
			t.Errorf("check() of %q = %v, want an error: %t", cases, err, !known)
		}
	}
	if err := (&scale{jobSets: 1, podsEach: 1}).check(); err == nil {
		t.Error("check() accepts a single JobSet, of which none is left when it is lost")
	}
}
