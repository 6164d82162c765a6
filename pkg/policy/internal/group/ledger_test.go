/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"testing"
	"time"
)

// TestSpansOverlap: time that belongs to two pauses is counted once.
func TestSpansOverlap(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	for name, test := range map[string]struct {
		pauses []Span
		want   time.Duration
	}{
		"none":                  {nil, 0},
		"one within":            {[]Span{{From: at(2), To: at(5)}}, 3 * time.Second},
		"one around":            {[]Span{{From: at(-2), To: at(50)}}, 10 * time.Second},
		"one before":            {[]Span{{From: at(-5), To: at(-1)}}, 0},
		"one after":             {[]Span{{From: at(11), To: at(12)}}, 0},
		"two that overlap":      {[]Span{{From: at(1), To: at(5)}, {From: at(3), To: at(8)}}, 7 * time.Second},
		"one within the other":  {[]Span{{From: at(1), To: at(9)}, {From: at(3), To: at(5)}}, 8 * time.Second},
		"two apart":             {[]Span{{From: at(1), To: at(2)}, {From: at(3), To: at(5)}}, 3 * time.Second},
		"one before, one after": {[]Span{{From: at(-3), To: at(-1)}, {From: at(20), To: at(30)}}, 0},
	} {
		if got := (Span{From: at(0), To: at(10)}).within(test.pauses); got != test.want {
			t.Errorf("%s: %s are in pauses, want %s", name, got, test.want)
		}
	}
}
