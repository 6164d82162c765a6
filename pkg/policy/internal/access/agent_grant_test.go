/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package access

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestPreparedAccounts(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).Obj()
	for _, account := range []string{"trainer", "", "trainer", "aside"} {
		rjob := builders.MakeReplicatedJob("w").Obj()
		rjob.Template.Spec.Template.Spec.ServiceAccountName = account
		js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, rjob)
	}
	if diff := cmp.Diff([]string{"aside", "default", "trainer"}, preparedAccounts(js)); diff != "" {
		t.Errorf("P56: each account once, default if none is named (-want +got):\n%s", diff)
	}
}
