/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// afterFullRestart: all Jobs were recreated because of a failure, and have not come together since.
func afterFullRestart(in *Input) { restartingBecause("DefaultFailurePolicy")(in) }

func restartingBecause(reason string) func(*Input) {
	return func(in *Input) {
		in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, builders.Condition(jobset.JobSetRestarting, true, reason, "a cause", now))
	}
}

// TestChangesByIntent: what nobody failed in is never charged, however long it takes to come together (P101a).
func TestChangesByIntent(t *testing.T) {
	t.Parallel()
	const missing = "1 of 2 workers have not reported epoch 2 within 20m0s: 1 Member: js-w-0-1"
	noneLeft := func(in *Input) { in.JobSet.Spec.FailurePolicy.MaxRestarts = 0 }
	tests := map[string]struct {
		in Input
		// charged: all Jobs are recreated, or the JobSet fails if none may be.
		charged bool
		told    string
	}{
		"P101a: a resume waits, and says so": {inPlace(1, 1, "2 _", sinceAgo(20*time.Minute)), false, missing + ". No worker failed before, so this is not charged and the group waits"},
		"P101a: a resize says from where it came": {sized(1, 1, "2 _", 2, 1, sinceAgo(20*time.Minute)), false,
			missing + ". No worker failed before, so this is not charged and the group waits; it was resized (ReplicatedJob w from 1 to 2 Pods) and runs again if it gets its earlier size back"},
		"P101a: it does not fail where no restart is left":         {sized(1, 1, "2 _", 2, 1, sinceAgo(20*time.Minute, noneLeft)), false, "not charged"},
		"P101a: nor if its Pods do not exist":                      {sized(1, 1, "2 .", 2, 1, sinceAgo(20*time.Minute)), false, "1 Lost: index 1 of Job js-w-0"},
		"P101a: Jobs that were recreated to leave sick nodes wait": {inPlace(1, 1, "2 _", sinceAgo(20*time.Minute, restartingBecause("MovedOffNodes"))), false, "not charged"},
		"P24: after a failure all Jobs are recreated":              {inPlace(1, 1, "2 _", sinceAgo(20*time.Minute, restartingInPlace)), true, ""},
		"P24: also in a first start":                               {inPlace(0, 0, "1 _", sinceAgo(20*time.Minute)), true, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			if got := plan.Status.Restarts > 0 || plan.Status.TerminalState != ""; got != tc.charged {
				t.Fatalf("recreated or failed: got %v, want %v, status %+v", got, tc.charged, plan.Status)
			}
			if tc.charged {
				return
			}
			if len(plan.Events) != 1 || plan.Events[0].Reason != "WorkersMissing" || !strings.Contains(plan.Events[0].Message, tc.told) {
				t.Errorf("events %+v, want %q", plan.Events, tc.told)
			}
			if since := plan.Status.AssemblingSince; since == nil || !since.Time.Equal(now) {
				t.Errorf("the clock is at %v, want it to start over", since)
			}
		})
	}
}
