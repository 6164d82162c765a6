/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/elastic"
)

// TestLimitInStatus: what keeps a size small is in the status, which is not written for every amount that changes (P113).
func TestLimitInStatus(t *testing.T) {
	noRoom := func(rest string) *elastic.Limit {
		return &elastic.Limit{Reason: "NoRoom", Subject: "gpu: ", Message: "gpu: " + rest}
	}
	written := &jobset.ElasticLimit{Reason: "NoRoom", Message: "gpu: node a has 0 left"}
	fixed := &elastic.Limit{Reason: elastic.LimitFixed}
	for name, tc := range map[string]struct {
		assembles, held bool
		size            int32
		was             *jobset.ElasticLimit
		limit           *elastic.Limit
		want            *jobset.ElasticLimit
	}{
		"P113: a limit is written":                  {false, false, 2, nil, noRoom("node a has 0 left"), written},
		"P113: another node with less is not":       {false, false, 2, written, noRoom("node b has 1 left"), written},
		"P113: another resource is":                 {false, false, 2, written, &elastic.Limit{Reason: "NoRoom", Subject: "cpu: ", Message: "cpu: 0"}, &jobset.ElasticLimit{Reason: "NoRoom", Message: "cpu: 0"}},
		"P113: none is left at the maximum":         {false, false, 6, written, nil, nil},
		"P113: nothing changes while it assembles":  {true, false, 2, written, nil, written},
		"P111 P113: a size that is held says so":    {false, true, 2, nil, fixed, &jobset.ElasticLimit{Reason: "Held", Message: "the annotation jobset.sigs.k8s.io/elastic-hold keeps its size"}},
		"P101b P113: so does one of a finished run": {false, false, 2, nil, fixed, &jobset.ElasticLimit{Reason: "Finished", Message: "a worker of the group has finished, and a change of size would start it again"}},
		"P113: one at its maximum says nothing":     {false, true, 6, nil, fixed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			js := scaled("a", tc.size, 1)[0].(*jobset.JobSet)
			js.Status.DeprecatedEpoch = ptr.To(oneIf(tc.assembles))
			if tc.held {
				js.Annotations = map[string]string{jobset.ElasticHoldKey: ""}
			}
			d := &elastic.Decision{Key: elastic.Key{Namespace: "ns", JobSet: "a", ReplicatedJob: "w"}, Size: tc.size, Limit: tc.limit}
			if diff := cmp.Diff(tc.want, limitOf(js, tc.was, d)); diff != "" {
				t.Errorf("limit (-want +got):\n%s", diff)
			}
		})
	}
}
