/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"encoding/json"
	"fmt"
	"time"
)

const (
	// ProgressKey is the annotation by which an agent tells the manager what signs of life a worker of its Pod gave (P137).
	ProgressKey = "jobset.sigs.k8s.io/progress"
	// MaxProgressReport bounds its value in bytes; the admission policy of agents refuses more. Every report fits.
	MaxProgressReport = 256
)

// maxMillis is a hundred years: as a time.Duration it does not overflow, nor do the sums of as many as a group has workers
// in seconds.
const maxMillis = 100 * 365 * 24 * int64(time.Hour/time.Millisecond)

// ProgressReport is the value of the annotation, as JSON: what a worker told in an epoch. It has no times, since
// the clocks of two nodes differ; durations are those of the supervisor's own clock, in milliseconds.
//
// With a report of epoch S+1 it is that of the worker of S that has ended. In a Pod whose epoch annotation is Epoch
// itself, the worker runs on: rank 0 repeats it then.
type ProgressReport struct {
	// Epoch is the one that the worker ran.
	Epoch int32 `json:"epoch"`
	// Steps that it told; nil if it told none.
	Steps *Steps `json:"steps,omitempty"`
	// StartMillis is from its start to its first sign, at least 1; 0 if it gave none.
	StartMillis int64 `json:"startMs,omitempty"`
	// LongestGapMillis is the longest from one sign to the next, the time after the last one left out; 0 if it gave fewer than two.
	LongestGapMillis int64 `json:"longestGapMs,omitempty"`
	// SilentMillis is from its last sign to its end, or from its start if it gave none; 0 while it runs.
	SilentMillis int64 `json:"silentMs,omitempty"`
	// Warm is how it was started, where warm start is on (P165). Without deadlines the report has nothing else.
	Warm *WarmStart `json:"warm,omitempty"`
}

// Steps are those that a worker told, each from 0 to MaxInt64. They may fall.
type Steps struct {
	First   int64 `json:"first"`
	Last    int64 `json:"last"`
	Highest int64 `json:"highest"`
}

// Signed reports whether the worker gave a sign.
func (r ProgressReport) Signed() bool { return r.StartMillis > 0 }

// Start is from the start of the worker to its first sign.
func (r ProgressReport) Start() time.Duration { return time.Duration(r.StartMillis) * time.Millisecond }

// LongestGap is the longest from one sign to the next.
func (r ProgressReport) LongestGap() time.Duration {
	return time.Duration(r.LongestGapMillis) * time.Millisecond
}

// Silent is from the last sign, or the start, to the end of the worker.
func (r ProgressReport) Silent() time.Duration {
	return time.Duration(r.SilentMillis) * time.Millisecond
}

// Millis returns a duration as reports have it.
func Millis(d time.Duration) int64 { return min(max(0, int64(d/time.Millisecond)), maxMillis) }

// Encode returns the value of the annotation.
func (r ProgressReport) Encode() (string, error) {
	if err := r.check(); err != nil {
		return "", fmt.Errorf("encoding the progress of a worker: %w", err)
	}
	value, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encoding the progress of a worker: %w", err)
	}
	return string(value), nil
}

// ParseProgressReport reads the value of the annotation. Whoever may patch Pods can write it, so
// nothing about it is taken for granted.
func ParseProgressReport(value string) (ProgressReport, error) {
	r, err := parse[ProgressReport](value, MaxProgressReport)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return ProgressReport{}, err
	}
	return r, nil
}

// parse reads the value of an annotation, which has so many bytes at most.
func parse[T any](value string, most int) (read T, err error) {
	if len(value) > most {
		return read, fmt.Errorf("%d bytes, at most %d are allowed", len(value), most)
	}
	if err := json.Unmarshal([]byte(value), &read); err != nil {
		return read, fmt.Errorf("is not a JSON object of this form: %w", err)
	}
	return read, nil
}

func (r ProgressReport) check() error {
	if r.Epoch < 1 {
		return fmt.Errorf("epoch is %d, it must be at least 1", r.Epoch)
	}
	if s := r.Steps; s != nil {
		switch {
		case s.First < 0 || s.Last < 0:
			return fmt.Errorf("steps are %d to %d, they must be from 0 on", s.First, s.Last)
		case s.Highest < max(s.First, s.Last):
			return fmt.Errorf("the highest step is %d, and step %d was reported", s.Highest, max(s.First, s.Last))
		case !r.Signed():
			return fmt.Errorf("a step was reported, and no sign was given")
		}
	}
	if w := r.Warm; w != nil && (w.Early < 0 || w.Early > maxEarlyReported || w.Code < 0 || w.Code > 255) {
		return fmt.Errorf("%d standbys ended early, the last with code %d; they must be from 0 to %d, and from 0 to 255", w.Early, w.Code, maxEarlyReported)
	}
	for _, d := range []struct {
		name   string
		millis int64
	}{{"startMs", r.StartMillis}, {"longestGapMs", r.LongestGapMillis}, {"silentMs", r.SilentMillis}} {
		if d.millis < 0 || d.millis > maxMillis {
			return fmt.Errorf("%s is %d, it must be from 0 to %d", d.name, d.millis, maxMillis)
		}
	}
	return nil
}
