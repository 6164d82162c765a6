/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	// linear costs the same for each Job, but for a fixed part.
	linear := func(jobs int, change ...func(*startUp)) startUp {
		r := startUp{
			jobs:   jobs,
			cpu:    50*time.Millisecond + time.Duration(jobs)*time.Millisecond,
			bytes:  1e6 + float64(jobs)*2e5,
			allocs: 1e4 + float64(jobs)*1e3,
		}
		for _, f := range change {
			f(&r)
		}
		return r
	}
	cases := map[string]struct {
		results []startUp
		want    string
	}{
		"linear costs pass": {
			results: []startUp{linear(100), linear(500), linear(1000), linear(2000)},
		},
		"up to 20 % more per Job pass": {
			results: []startUp{linear(500), linear(2000, func(r *startUp) { r.cpu = r.cpu * 119 / 100 })},
		},
		"CPU per Job that grows fails": {
			results: []startUp{linear(100), linear(500), linear(2000, func(r *startUp) { r.cpu = r.cpu * 13 / 10 })},
			want:    "CPU per Job at 2000 Jobs",
		},
		"bytes per Job that grow fail": {
			results: []startUp{linear(500), linear(2000, func(r *startUp) { r.bytes *= 1.3 })},
			want:    "bytes allocated per Job at 2000 Jobs is 1.29 times that at 500",
		},
		"allocations per Job that grow fail": {
			results: []startUp{linear(500), linear(2000, func(r *startUp) { r.allocs *= 1.3 })},
			want:    "objects allocated per Job at 2000 Jobs",
		},
		"the base is the smallest number of at least 500, not one with fixed costs in it": {
			results: []startUp{linear(10), linear(600), linear(1000, func(r *startUp) { r.allocs *= 1.3 })},
			want:    "that at 600",
		},
		"without a base there is no verdict": {
			results: []startUp{linear(100), linear(500, func(r *startUp) { r.allocs *= 10 })},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			printTable(io.Discard, tc.results)
			err := judge(io.Discard, tc.results)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("it fails: %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestResultLeavesOutWhatAnIdleProcessUses(t *testing.T) {
	t.Parallel()
	start := processUse{CPU: time.Second, Bytes: 100, Objects: 10, Passes: 1, Requests: map[string]int{"GET": 4}}
	end := processUse{CPU: 3 * time.Second, Bytes: 1100, Objects: 60, Passes: 8, Requests: map[string]int{"GET": 5, "PUT": 2}}
	idle := processUse{CPU: 100 * time.Millisecond, Bytes: 50, Objects: 5}
	got := resultOf(100, 20*time.Second, end.since(start), 10*time.Second, idle)
	want := startUp{
		jobs: 100, took: 20 * time.Second, cpu: 1800 * time.Millisecond, bytes: 900, allocs: 40, passes: 7,
		requests: map[string]float64{"GET": 1, "PUT": 2},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(startUp{})); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestMedians(t *testing.T) {
	t.Parallel()
	at := func(jobs int, cpu time.Duration, bytes, puts float64) startUp {
		return startUp{jobs: jobs, cpu: cpu, bytes: bytes, requests: map[string]float64{"PUT": puts}}
	}
	got := mediansOf([]startUp{at(500, 9, 1, 4), at(100, 1, 7, 2), at(500, 5, 3, 8), at(500, 6, 2, 6), at(100, 3, 9, 4)})
	want := []startUp{at(100, 2, 8, 3), at(500, 6, 2, 6)}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(startUp{})); diff != "" {
		t.Errorf("medians, each figure by itself, by number of Jobs (-want +got):\n%s", diff)
	}
}
