/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// fruitless: so many restarts in a row may lead nowhere, and so many restarts have happened.
func fruitless(most, inPlaceRestarts int32) func(*Input) {
	return onJobSet(func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Progress: &jobset.ProgressPolicy{MaxRestartsWithoutProgress: ptr.To(most)}}
		js.Status.InPlaceRestarts = inPlaceRestarts
	})
}

// came: how far the workers have come is known.
func came(highest int64, without, inPlaceRestarts int32) func(*Input) {
	return onJobSet(func(js *jobset.JobSet) {
		js.Status.Progress = &jobset.ProgressStatus{HighestStep: highest, RestartsWithoutProgress: without, InPlaceRestarts: inPlaceRestarts}
	})
}

// toldSteps: a worker told these steps of epoch 1.
func toldSteps(index int, first, highest int64) func(*Input) {
	return tells(index, fmt.Sprintf(`{"epoch":1,"steps":{"first":%d,"last":%[2]d,"highest":%[2]d},"startMs":1}`, first, highest))
}

// TestRestartsThatLeadNowhere: they end at the lift, when all have reported (P136).
func TestRestartsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	const failure = "jobset failed because its restarts make no progress: %d group restarts in a row did not lead past step %d, which is what maxRestartsWithoutProgress allows; the last epoch had steps %d to %d"
	step := func(highest int64, without, inPlaceRestarts int32) *jobset.ProgressStatus {
		return &jobset.ProgressStatus{HighestStep: highest, RestartsWithoutProgress: without, InPlaceRestarts: inPlaceRestarts}
	}
	assembled := func(changes ...func(*Input)) Input { return inPlace(1, 1, "2 2", changes...) }
	tests := map[string]struct {
		in      Input
		want    *jobset.ProgressStatus
		failure string
	}{
		"P136: without a limit nothing is kept":              {assembled(fruitless(0, 1), toldSteps(0, 1, 9)), nil, ""},
		"P136: what was kept goes with the limit":            {assembled(fruitless(0, 2), came(9, 1, 1), toldSteps(0, 1, 9)), nil, ""},
		"P136: the first steps":                              {assembled(fruitless(1, 1), toldSteps(0, 1, 9)), step(9, 0, 1), ""},
		"P136: the first epoch may tell none":                {assembled(fruitless(1, 1)), nil, ""},
		"P136a: the median of those who told one":            {assembled(fruitless(1, 2), came(20, 0, 1), toldSteps(0, 1, 22), toldSteps(1, 1, 21)), step(21, 0, 2), ""},
		"P136a: a false step makes no later one too low":     {assembled(fruitless(3, 2), came(20, 0, 1), toldSteps(0, 1, math.MaxInt64), toldSteps(1, 1, 21)), step(21, 0, 2), ""},
		"P136a: of two the lower one counts":                 {assembled(fruitless(3, 2), came(20, 0, 1), toldSteps(0, 1, 9), toldSteps(1, 1, 21)), step(20, 1, 2), ""},
		"P136: a higher step clears the count":               {assembled(fruitless(3, 3), came(20, 2, 2), toldSteps(0, 15, 21)), step(21, 0, 3), ""},
		"P136: a restart that leads nowhere counts":          {assembled(fruitless(3, 3), came(20, 1, 2), toldSteps(0, 15, 19)), step(20, 2, 3), ""},
		"P136: so does one that ends at the same step":       {assembled(fruitless(3, 3), came(20, 1, 2), toldSteps(0, 15, 20)), step(20, 2, 3), ""},
		"P136: the last of them ends the JobSet":             {assembled(fruitless(3, 4), came(20, 2, 3), toldSteps(0, 15, 20)), step(20, 3, 4), fmt.Sprintf(failure, 3, 20, 15, 20)},
		"P136: the first may be the last":                    {assembled(fruitless(1, 2), came(20, 0, 1), toldSteps(1, 0, 0)), step(20, 1, 2), fmt.Sprintf(failure, 1, 20, 0, 0)},
		"P136: an epoch that told no step does not count":    {assembled(fruitless(3, 4), came(20, 2, 3)), step(20, 2, 4), ""},
		"P136: nor does a restart that is not charged":       {assembled(fruitless(3, 3), came(20, 2, 3), toldSteps(0, 15, 20)), step(20, 2, 3), ""},
		"P136: nor what is told of another epoch":            {assembled(fruitless(3, 4), came(20, 2, 3), tells(0, `{"epoch":2,"steps":{"first":1,"last":2,"highest":2},"startMs":1}`)), step(20, 2, 4), ""},
		"P136: nor what is no report":                        {assembled(fruitless(3, 4), came(20, 2, 3), tells(0, `{"epoch":1,"steps":{"first":-1,"last":2,"highest":2},"startMs":1}`)), step(20, 2, 4), ""},
		"P136: a limit that was lowered holds at once":       {assembled(fruitless(2, 7), came(20, 5, 6), toldSteps(0, 15, 20)), step(20, 6, 7), fmt.Sprintf(failure, 6, 20, 15, 20)},
		"P136: the count does not overflow":                  {assembled(fruitless(math.MaxInt32, 7), came(20, math.MaxInt32-1, 6), toldSteps(0, 15, 20)), step(20, math.MaxInt32, 7), fmt.Sprintf(failure, math.MaxInt32, 20, 15, 20)},
		"P136: a count of restarts that was edited down":     {assembled(fruitless(3, 1), came(20, 2, 9), toldSteps(0, 15, 20)), step(20, 2, 1), ""},
		"P136: the highest step there is ends nothing alone": {assembled(fruitless(1, 2), came(20, 0, 1), toldSteps(0, 1, math.MaxInt64)), step(math.MaxInt64, 0, 2), ""},
		"P136: all have to have reported":                    {inPlace(1, 1, "2 1", fruitless(3, 4), came(20, 2, 3), toldSteps(0, 15, 20)), step(20, 2, 3), ""},
		"P136: a group that runs is not judged":              {inPlace(0, 1, "1 1", fruitless(3, 4), came(20, 2, 3), toldSteps(0, 15, 20)), step(20, 2, 3), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, test.in)
			if diff := cmp.Diff(test.want, plan.Status.Progress); diff != "" {
				t.Errorf("status.progress (-want +got):\n%s", diff)
			}
			var got string
			for _, e := range plan.Events {
				if e.Reason == "NoProgress" {
					got = e.Message
				}
			}
			if got != test.failure || (got != "") != (plan.Status.TerminalState == string(jobset.JobSetFailed)) {
				t.Errorf("the JobSet is %q because of %q, want %q", plan.Status.TerminalState, got, test.failure)
			}
			if lifts := *plan.Status.SyncedEpoch == 2; got != "" && lifts {
				t.Error("a JobSet that failed lets its workers start")
			}
		})
	}
}

// TestNoProgressWaitsForASuccess: as other ends do (P45, P136).
func TestNoProgressWaitsForASuccess(t *testing.T) {
	t.Parallel()
	plan := decideOnce(t, inPlace(1, 1, "2 2", fruitless(3, 4), came(20, 2, 3), toldSteps(0, 15, 20), func(in *Input) { in.HeldSince = time.Time{} }))
	if !plan.Held || plan.Status.TerminalState != "" || *plan.Status.SyncedEpoch != 1 || plan.Status.Progress.RestartsWithoutProgress != 2 {
		t.Errorf("held %v, terminal %q, epoch %d, %+v; want a held group", plan.Held, plan.Status.TerminalState, *plan.Status.SyncedEpoch, plan.Status.Progress)
	}
}

// TestNoProgressEndsTheLedger: what the last epoch told is in it (P136, P140).
func TestNoProgressEndsTheLedger(t *testing.T) {
	t.Parallel()
	in := inPlace(1, 1, "2 2", fruitless(3, 4), came(20, 2, 3), toldSteps(0, 15, 20), spentUntil(time.Minute, ran(time.Hour), reachedStep(20, 4)))
	if got, want := ledgerText(decideOnce(t, in).Status.Time), "0s ago: running 1h0m0s, assembling 1m0s, starting 1ms, paused 0s, step 20, 10 again"; got != want {
		t.Errorf("the ledger is\n%s, want\n%s", got, want)
	}
}
