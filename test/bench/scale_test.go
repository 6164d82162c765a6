/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import "testing"

func TestScaleKnowsItsCases(t *testing.T) {
	for cases, known := range map[string]bool{"": true, "group jobsets bringup": true, "groups": false} {
		if err := (&scale{cases: cases, jobSets: 2, podsEach: 1}).check(); (err == nil) != known {
			t.Errorf("check() of %q = %v, want an error: %t", cases, err, !known)
		}
	}
	if err := (&scale{jobSets: 1, podsEach: 1}).check(); err == nil {
		t.Error("check() accepts a single JobSet, of which none is left when it is lost")
	}
}
