/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Workers that fail again and again wait for their next start (P71). The controllers of the model keep
// nothing of it in memory, as if each pass were the first of a new leader.

// pause is how far the wait after a break is.
type pause uint8

const (
	noPause pause = iota
	pausing
	paused
)

func (p pause) end() pause {
	if p == pausing {
		return paused
	}
	return p
}

// since is when the group broke.
func (p pause) since() time.Time {
	if p == paused {
		return now.Add(-time.Hour)
	}
	return now
}

// pauseOf reads how far the wait is from a status.
func pauseOf(s *jobset.JobSetStatus) pause {
	switch {
	case s.BreakTime == nil || s.QuickFailures < 2:
		return noPause
	case s.BreakTime.Time.Equal(now):
		return pausing
	}
	return paused
}

func (w *world) pauseSteps(steps []step) []step {
	js := w.jobSet.live()
	if w.pass != nil || w.ghost != nil {
		return steps // the times of a pass are those of its beginning
	}
	if js.young && js.d < js.s {
		steps = append(steps, step{kind: minutePasses})
	}
	if js.pause == pausing {
		steps = append(steps, step{kind: pauseEnds})
	}
	return steps
}

// ages lets time pass for all versions of the status alike.
func (w *world) ages(older func(*status)) {
	versions := slices.Clone(w.jobSet.versions)
	for i := range versions {
		older(&versions[i].status)
	}
	w.jobSet = history[jobSet]{versions, w.jobSet.place}
}

// judgePause checks that quick failures are counted as P71 says, and that the lift after the second in a row waits.
func (w *world) judgePause(_ basis, was, next status) error {
	if !w.sc.pauses {
		return nil
	}
	want := was.quick
	charged := next.inPlace != was.inPlace || next.counted != was.counted
	switch {
	case next.d == was.d: // no epoch ends
	case !was.young:
		want = 0
	case charged:
		want++
	}
	if next.quick != want {
		return violates(3, "quickFailures goes from %d to %d, not to %d", was.quick, next.quick, want)
	}
	if next.s != was.s && w.book.mustWait && was.pause != paused {
		return violates(3, "S becomes %d after %d quick failures in a row, and nobody waited", next.s, was.quick)
	}
	switch {
	case next.s != was.s, next.suspended == isTrue: // whoever suspends and resumes it wants it to run
		w.book.mustWait = false
	case next.quick > was.quick:
		w.book.mustWait = next.quick >= 2
	}
	return nil
}
