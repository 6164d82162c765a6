/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseIndexes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want []int64
	}{
		"P10: empty":                     {"", nil},
		"P10: one":                       {"3", []int64{3}},
		"P10: ranges and single indexes": {"0-2,5,7-8", []int64{0, 1, 2, 5, 7, 8}},
		"P10: a range that passes the bound is cut":     {"8-12", []int64{8, 9}},
		"P10: beyond the bound":                         {"10,12-14", nil},
		"P10: text, and what is readable beside it":     {"a,1,b-c,3", []int64{1, 3}},
		"P10: backwards":                                {"5-3", nil},
		"P10: negative":                                 {"-1", nil},
		"P10: not ascending: the later is still to run": {"4-5,1,5-6,8", []int64{4, 5, 8}},
		"P11: beyond int32":                             {"2147483648,1", []int64{1}},
		"P11: the widest range allocates nothing":       {"0-2147483647", []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := ParseIndexes(tc.text, 10)
			var got []int64
			for i := int64(-1); i < 20; i++ {
				if set.Has(i) {
					got = append(got, i)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("indexes (-want +got):\n%s", diff)
			}
			if set.Size() != int64(len(tc.want)) {
				t.Errorf("size %d, want %d", set.Size(), len(tc.want))
			}
		})
	}
}
