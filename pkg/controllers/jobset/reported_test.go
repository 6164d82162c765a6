/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import "testing"

func TestTold(t *testing.T) {
	t.Parallel()
	reported := newReported()
	for _, step := range []struct {
		value string
		want  bool
	}{{"", true}, {"", false}, {"x", true}, {"x", false}, {"", true}} {
		if got := reported.changed("pod", step.value); got != step.want {
			t.Errorf("P12: value %q: news %v, want %v", step.value, got, step.want)
		}
	}
	if !reported.changed("another", "") {
		t.Error("P12: what was reported about a Pod is no longer news of another")
	}
}
