/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTheLongestProgressReportFits(t *testing.T) {
	t.Parallel()
	most := Steps{math.MaxInt64, math.MaxInt64, math.MaxInt64}
	r := ProgressReport{math.MaxInt32, &most, Millis(math.MaxInt64), Millis(math.MaxInt64), Millis(math.MaxInt64), &WarmStart{Early: maxEarlyReported, Code: 255, Off: true, Warm: true}}
	value, err := r.Encode()
	if err != nil || len(value) > MaxProgressReport {
		t.Fatalf("P137: %d bytes, %v: %s", len(value), err, value)
	}
	if got, err := ParseProgressReport(value); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("P137: %s is read as %+v, %v", value, got, err)
	}
	if r.Silent() <= 0 || r.Start() <= 0 || r.LongestGap() <= 0 {
		t.Errorf("P137: the longest durations overflow: %v, %v, %v", r.Silent(), r.Start(), r.LongestGap())
	}
}

func TestProgressReportsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]ProgressReport{
		`{"epoch":3}`:                  {Epoch: 3},
		`{"epoch":3,"silentMs":30000}`: {Epoch: 3, SilentMillis: 30000},
		`{"epoch":3,"warm":{"warm":true,"early":2,"code":3}}`: {Epoch: 3, Warm: &WarmStart{Warm: true, Early: 2, Code: 3}},
		`{"epoch":1,"steps":{"first":0,"last":0,"highest":0},"startMs":1}`: {
			Epoch: 1, Steps: &Steps{}, StartMillis: 1},
		`{"epoch":2,"steps":{"first":100,"last":7,"highest":119},"startMs":5200,"longestGapMs":900,"silentMs":12}`: {
			Epoch: 2, Steps: &Steps{100, 7, 119}, StartMillis: 5200, LongestGapMillis: 900, SilentMillis: 12},
	} {
		got, err := ParseProgressReport(value)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("P137: %s is read as %+v, %v, want %+v", value, got, err, want)
		}
		if again, err := got.Encode(); err != nil || again != value {
			t.Errorf("P137: %s is written as %s, %v", value, again, err)
		}
	}
}

func TestForgedProgressReportsAreRefused(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"":                                "JSON",
		"[]":                              "JSON",
		`{"epoch":"3"}`:                   "JSON",
		`{"epoch":3000000000}`:            "JSON",
		`{}`:                              "epoch is 0",
		`{"epoch":-1}`:                    "epoch is -1",
		`{"epoch":1,"warm":{"early":-1}}`: "standbys ended early",
		`{"epoch":1,"warm":{"code":256}}`: "from 0 to 255",
		`{"epoch":1,"startMs":-1}`:        "startMs is -1",
		`{"epoch":1,"silentMs":9223372036854775807}`:                "silentMs is",
		`{"epoch":1,"longestGapMs":3153600000001}`:                  "longestGapMs is",
		`{"epoch":1,"startMs":1,"steps":{"first":-1}}`:              "from 0 on",
		`{"epoch":1,"startMs":1,"steps":{"last":-1}}`:               "from 0 on",
		`{"epoch":1,"startMs":1,"steps":{"last":2,"highest":1}}`:    "highest step is 1",
		`{"epoch":1,"steps":{"last":2,"highest":2}}`:                "no sign",
		`{"epoch":1,"startMs":1,"steps":{"last":1e400}}`:            "JSON",
		`{"epoch":1` + strings.Repeat(" ", MaxProgressReport) + `}`: "at most 256",
	} {
		if got, err := ParseProgressReport(value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("P137: %s is read as %+v, %v, want an error with %q", value, got, err, want)
		}
	}
}

func TestMillisAreWithinWhatReportsAllow(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int64{-time.Second: 0, 0: 0, time.Second: 1000, math.MaxInt64: maxMillis} {
		if got := Millis(d); got != want {
			t.Errorf("P137: %v are %d ms, want %d", d, got, want)
		}
	}
}
