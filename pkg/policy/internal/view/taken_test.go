/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/pkg/placement"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestTheLowestIndexesThatAreMissing(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(math.MaxInt32), builders.MakeReplicatedJob("a-1")).Obj()
	held := func(names ...string) Taken {
		t := Taken{}
		for _, name := range names {
			t.add("js", &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return t
	}
	tests := map[string]struct {
		taken    Taken
		replicas int32
		most     int
		lowest   []int32
		all      int64
	}{
		"C61: none exists":            {held(), 3, 9, []int32{0, 1, 2}, 3},
		"C61: holes are filled first": {held("js-a-0", "js-a-2", "js-a-7"), 9, 3, []int32{1, 3, 4}, 6},
		"C61: all exist":              {held("js-a-0", "js-a-1"), 2, 9, nil, 0},
		"C61: what is beyond the replicas is no Job of theirs": {held("js-a-0", "js-a-5"), 2, 9, []int32{1}, 1},
		"C60: no replicas": {held("js-a-0"), 0, 9, nil, 0},
		"C60: a ReplicatedJob may be called like a Job": {held("js-a-1-0"), 2, 9, []int32{0, 1}, 2},
		"C60: names that no Job of the JobSet has hold nothing": {
			held("js-a-00", "js-a-+1", "js-a--1", "js-a-", "js-a", "js-0", "jsa-0", "j", "js", "js-a-2147483648", "other-a-0"), 2, 9, []int32{0, 1}, 2,
		},
		"C376: of two billion": {held("js-a-1"), math.MaxInt32, 2, []int32{0, 2}, math.MaxInt32 - 1},
		"C376: no room":        {held("js-a-1"), math.MaxInt32, 0, nil, math.MaxInt32 - 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lowest, all := tc.taken.Free("a", tc.replicas, tc.most)
			if diff := cmp.Diff(tc.lowest, lowest); diff != "" || all != tc.all {
				t.Errorf("%d in all, want %d (-want +got):\n%s", all, tc.all, diff)
			}
		})
	}
	t.Run("C60: every name that a Job is given holds its index", func(t *testing.T) {
		t.Parallel()
		for i := range js.Spec.ReplicatedJobs {
			for _, index := range []int{0, 9, 10, 101, math.MaxInt32 - 1} {
				name := js.Spec.ReplicatedJobs[i].Name
				want := Taken{name: {int32(index)}}
				if diff := cmp.Diff(want, held(placement.JobName(js.Name, name, index))); diff != "" {
					t.Errorf("held (-want +got):\n%s", diff)
				}
			}
		}
	})
}
