/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"
	"time"
)

func TestUnseenJobs(t *testing.T) {
	t.Parallel()
	shows := func(keys ...string) func(string) bool {
		return func(key string) bool {
			for _, shown := range keys {
				if shown == key {
					return true
				}
			}
			return false
		}
	}
	before := now.Add(-time.Second)
	var u unseen
	if u.any(before, shows()) {
		t.Error("C61: a Job is awaited though none was created")
	}
	u.add("a", now)
	u.add("b", now)
	for _, step := range []struct {
		why   string
		shown func(string) bool
		want  bool
	}{
		{"neither Job is shown", shows(), true},
		{"the first is shown", shows("a"), true},
		{"the second is shown, and the first was", shows("b"), false},
	} {
		if got := u.any(before, step.shown); got != step.want {
			t.Errorf("C61: %s: got %v, want %v", step.why, got, step.want)
		}
	}
	u.add("c", now)
	if u.any(now, shows()) {
		t.Error("C61: a Job is awaited longer than the cache may lag")
	}
	u.add("d", now)
	u.add("e", now)
	u.gone("d")
	if u.any(before, shows("e")) {
		t.Error("C61: a Job is awaited that was deleted between two looks")
	}
	u.add("d", now)
	u.forget()
	if u.any(before, shows()) {
		t.Error("C10: a Job is awaited after its pass failed")
	}
}
