/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"testing"
	"time"
)

func TestHeard(t *testing.T) {
	type read struct {
		sent, answered int
		version        string
	}
	every10 := func(versions ...string) []read {
		var reads []read
		for i, version := range versions {
			reads = append(reads, read{10 * i, 10 * i, version})
		}
		return reads
	}
	for name, tc := range map[string]struct {
		reads           []read
		lasts           int
		silent, renewed bool
	}{
		"P172: one read says nothing":                          {reads: every10("1")},
		"P172: a Lease that did not change for 20 s":           {reads: every10("1", "1", "1")},
		"P172: for 25 s and more":                              {reads: every10("1", "1", "1", "1"), silent: true},
		"P172: one that changed is heard, whatever was before": {reads: every10("1", "1", "1", "1", "2"), renewed: true},
		"P172: and silent again only after as long":            {reads: every10("1", "2", "2", "2"), renewed: false},
		"P172: a Lease that lasts longer":                      {lasts: 60, reads: every10("1", "1", "1", "1")},
		"P172: has five eighths of it":                         {lasts: 60, reads: every10("1", "1", "1", "1", "1"), silent: true},
		"P172 P176: a reader that was frozen begins again": {
			reads: []read{{0, 0, "1"}, {60, 60, "1"}},
		},
		"P172 P176: so does one whose reads failed for a while": {
			reads: []read{{0, 0, "1"}, {10, 10, "1"}, {130, 130, "1"}, {140, 140, "1"}, {150, 150, "1"}},
		},
		"P172 P176: frozen between a read and its answer": {
			reads: []read{{0, 0, "1"}, {1, 31, "1"}},
		},
		"P172 P176: frozen before the answer to the first read": {
			reads: []read{{0, 20, "1"}, {20, 20, "1"}, {30, 30, "1"}, {40, 40, "1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
			at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
			lasts := 40
			if tc.lasts > 0 {
				lasts = tc.lasts
			}
			var h Heard
			for _, r := range tc.reads {
				h = h.Read(r.version, time.Duration(lasts)*time.Second, at(r.sent), at(r.answered))
			}
			last := tc.reads[len(tc.reads)-1].answered
			if got := h.Silent(at(last + 25)); got != tc.silent || h.Renewed != tc.renewed {
				t.Errorf("silent %t (for %s), renewed %t; want %t, %t", got, h.SilentFor(), h.Renewed, tc.silent, tc.renewed)
			}
			if h.Silent(at(last + 36)) {
				t.Error("P172: silent by a read of long ago")
			}
		})
	}
}

// TestWhenALeaseIsReadAgain: each 10 s, and as soon as the silence may have been long enough (P172).
func TestWhenALeaseIsReadAgain(t *testing.T) {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	for name, tc := range map[string]struct {
		heard Heard
		want  int
	}{
		"P172: after an interval":                       {Heard{Version: "1", From: ago(3), To: ago(3)}, 7},
		"P172: when 25 s are over":                      {Heard{Version: "1", From: ago(22), To: ago(2)}, 3},
		"P172: or five eighths of what the Lease lasts": {Heard{Version: "1", From: ago(38), To: ago(8), Lasts: 64 * time.Second}, 2},
		"P172: once it is silent, after an interval":    {Heard{Version: "1", From: ago(26), To: ago(1)}, 9},
		"P172: of a node that is gone, too":             {Unheard(true, ago(4)), 6},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.heard.Wait(now); got != time.Duration(tc.want)*time.Second {
				t.Errorf("waits %s, want %d s", got, tc.want)
			}
		})
	}
}
