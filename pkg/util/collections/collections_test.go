/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package collections

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestP125aMerge(t *testing.T) {
	first, second := map[string]int{"a": 1, "b": 1}, map[string]int{"b": 2, "c": 2}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 2, "c": 2}, MergeMaps(first, second)); diff != "" {
		t.Errorf("maps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 1}, first); diff != "" {
		t.Errorf("the first map changed:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, MergeSlices([]string{"a", "b"}, []string{"b", "c"})); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
}
