/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

func TestTheStepsOfADecisionAreListedOnRequest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   Input
		want []pass.Step
	}{
		"O11a: a lift, and the steps of every pass after it": {inPlace(1, 1, "2 2"), []pass.Step{
			{Name: "lift", Added: []string{"liftBarrier"}},
			{Name: "assemblyClock", Added: []string{"clock"}},
			{Name: "countsInterval", Added: []string{"CountsInterval=1s"}},
		}},
		"O11a: a step that ends the pass": {inPlace(0, 1, "1 1", onJob(0, failed)), []pass.Step{
			{Name: "failurePolicy", Ended: true, Added: []string{"Restart=RestartJobSet", "deprecate", "restartAllJobs", "chargeAllJobs", "breaksGroup",
				"condition RestartingJobSet=True DefaultFailurePolicy", "event RestartJobSetFailurePolicyAction"}},
			{Name: "assemblyClock", Added: []string{"clock"}},
			{Name: "countsInterval", Added: []string{"CountsInterval=1s"}},
		}},
		"O11a: what Decide puts in the place of changes of Jobs": {inPlace(0, 1, "1 1", onJobSet(func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) })), []pass.Step{
			{Name: "followSuspend", Added: []string{"SuspendJob=1", "condition Suspended=True SuspendedJobs"}},
			{Name: "intent first", Added: []string{"D := S instead of changing Jobs (P16)"}},
			{Name: "assemblyClock", Added: []string{"clock"}},
			{Name: "countsInterval", Added: []string{"CountsInterval=1s"}},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if plan := decideOnce(t, tc.in); plan.Steps != nil {
				t.Errorf("steps without a request: %+v", plan.Steps)
			}
			tc.in.Trace = true
			got := slices.DeleteFunc(decideOnce(t, tc.in).Steps, func(s pass.Step) bool { return len(s.Added) == 0 && !s.Ended })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryChangeHasAName: a bit without a name would be missing in the log.
func TestEveryChangeHasAName(t *testing.T) {
	t.Parallel()
	if want := pass.ResumesJobSet; 1<<(len(changeNames)-1) != want {
		t.Errorf("%d names, want one for each of the changes up to %b", len(changeNames), want)
	}
}
