/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// TestGroupsAreChangedOnTheirPresentStatus: a cache that still shows the status from
// before the lift must not lead to changes of a running group (P16, P21).
func TestGroupsAreChangedOnTheirPresentStatus(t *testing.T) {
	t.Parallel()
	of := func(strategy jobset.JobSetRestartStrategy) *builders.JobSetWrapper {
		return builders.MakeJobSet("js", "ns").FailurePolicy(strategy, 3).ReplicatedJob(builders.MakeReplicatedJob("w").Workers(1))
	}
	tests := map[string]struct {
		cached *jobset.JobSet
		lifted bool
		want   []string
	}{
		"P16: the JobSet was lifted since: nothing is changed, and it looks again": {of(jobset.InPlaceRestart).Obj(), true, nil},
		"P16: the JobSet is as it was seen":                                        {of(jobset.InPlaceRestart).Obj(), false, []string{"create Job js-w-0", "update status JobSet js"}},
		"P22: other strategies are not read again":                                 {of(jobset.Recreate).Obj(), true, []string{"create Job js-w-0", "update status JobSet js"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, tc.cached)
			if tc.lifted {
				present := newShell(t, tc.cached)
				lifted := stored(t, present, tc.cached)
				lifted.Labels = map[string]string{"changed": "since"}
				if err := present.Fake.Update(t.Context(), lifted); err != nil {
					t.Fatal(err)
				}
				s.live = present.Fake
			}
			result, err := s.pass(t.Context(), requestFor(tc.cached))
			if err != nil {
				t.Fatal(err)
			}
			s.Record.Expect(t, tc.want...)
			if again := result.RequeueAfter == passInterval; again != (tc.want == nil) {
				t.Errorf("looks again after %v", result.RequeueAfter)
			}
		})
	}
}
