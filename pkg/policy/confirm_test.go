/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
)

// TestALossIsNamedInAFewIndexes: what is asked of the API server does not grow with the Job (P14).
func TestALossIsNamedInAFewIndexes(t *testing.T) {
	t.Parallel()
	from := func(first, last int64) (indexes []int64) {
		for index := first; index <= last; index++ {
			indexes = append(indexes, index)
		}
		return indexes
	}
	as := func(size int32, completed string) func(*Input) {
		return onJob(0, func(job *batchv1.Job) {
			job.Spec.Completions, job.Spec.Parallelism, job.Status.CompletedIndexes = ptr.To(size), ptr.To(size), completed
		})
	}
	tests := map[string]struct {
		in   Input
		want []int64
	}{
		"P14: the first fifty of a Job that lost all":                      {inPlace(0, 1, strings.Repeat(". ", 5000)), from(0, 49)},
		"P14: one of many":                                                 {inPlace(0, 1, strings.Repeat("1 ", 4999)+"."), []int64{4999}},
		"P11: behind a billion that are done, found at once":               {inPlace(0, 1, ".", as(math.MaxInt32, "0-2147483599,2147483610-2147483645")), append(from(2147483600, 2147483609), 2147483646)},
		"P14: a slot that is taken between two that are done is left out ": {inPlace(0, 1, ". . 1 . .", as(5, "1,3")), []int64{0, 4}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			if plan.Confirm == nil {
				t.Fatal("nothing is to be confirmed")
			}
			if diff := cmp.Diff(tc.want, plan.Confirm.Indexes); diff != "" {
				t.Errorf("indexes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefresh: what was read replaces the cached Pods of the indexes that were asked for, and no others (P14).
func TestRefresh(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ cached, read, want string }{
		"P14: a Pod that the cache has not seen":               {"1 . 1", ". 1 .", "1 1 1"},
		"P14: a Pod that is gone since":                        {"1 F1 1", ". . .", "1 . 1"},
		"P14: its replacement":                                 {"1 F1 1", ". 2 .", "1 2 1"},
		"P14: a Pod whose index nobody asked for stays cached": {"1 . 1", "2 1 .", "1 1 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cached := inPlace(0, 1, tc.cached)
			uid := cached.Jobs[0].UID
			loss := &Loss{Job: cached.Jobs[0], Indexes: []int64{1}}
			got := map[int64]*facts.Member{}
			for _, pod := range loss.Refresh(cached.Pods[uid], inPlace(0, 1, tc.read).Pods[uid]) {
				index := int64(pod.Index)
				if got[index] != nil {
					t.Errorf("two Pods of index %d", index)
				}
				got[index] = pod
			}
			want := map[int64]*facts.Member{}
			for _, pod := range inPlace(0, 1, tc.want).Pods[uid] {
				index := int64(pod.Index)
				want[index] = pod
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Pods (-want +got):\n%s", diff)
			}
		})
	}
}
