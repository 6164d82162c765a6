/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"fmt"
	"testing"
	"time"
)

func TestPassesAreSpacedOut(t *testing.T) {
	t.Parallel()
	var p pace
	const ms = time.Millisecond
	steps := []struct {
		why      string
		jobs     int64 // negative if the last pass changed none
		at, want time.Duration
	}{
		{"P22: the first pass starts at once", 0, 0, 0},
		{"P22: the next waits for the rest of 50 ms", 0, 20 * ms, 30 * ms},
		{"P22: having waited does not count", 0, 49 * ms, ms},
		{"P22: after 50 ms it starts", 0, 50 * ms, 0},
		{"P22: and counts from there", 0, 99 * ms, ms},
		{"P22: a clock that was set back stops nothing", 0, -5 * time.Second, 0},
		{"C378: at 100,000 Jobs a pass starts", 100_000, 0, 0},
		{"C378: and the next waits for the rest of half a second", 100_000, 200 * ms, 300 * ms},
		{"C378: after that it starts", 100_000, 500 * ms, 0},
		{"C378: at 2,000 Jobs the next waits for the rest of 50 ms", 2000, 520 * ms, 30 * ms},
		{"C378: at 4,000 for that of 100 ms", 4000, 520 * ms, 80 * ms},
		{"C378: at 20,000 for that of 250 ms", 20_000, 520 * ms, 230 * ms},
		{"C378: at 2,000 that no pass changed for that of 50 ms", -2000, 520 * ms, 30 * ms},
		{"C378: at 4,000 for that of 200 ms", -4000, 520 * ms, 180 * ms},
		{"C378: at 20,000 for that of a second", -20_000, 520 * ms, 980 * ms},
		{"C378: after that it starts", -20_000, 1500 * ms, 0},
	}
	for _, step := range steps {
		p.jobs.Store(max(step.jobs, -step.jobs))
		p.calm = step.jobs < 0
		if got := p.startPass(now.Add(step.at)); got != step.want {
			t.Errorf("%s: waits %v, want %v", step.why, got, step.want)
		}
	}
	for _, pods := range []int{100, 1000, 100_000} {
		t.Run(fmt.Sprintf("P22, C304: a second in which %d Pods report has at most 20 passes", pods), func(t *testing.T) {
			t.Parallel()
			var p pace
			passes := 0
			for i := range pods {
				if p.startPass(now.Add(time.Second*time.Duration(i)/time.Duration(pods))) == 0 {
					passes++
				}
			}
			if passes != 20 {
				t.Errorf("%d passes, want 20", passes)
			}
		})
	}
}

func TestCountsAreDelayed(t *testing.T) {
	t.Parallel()
	var p pace
	for jobs, want := range map[int64]time.Duration{0: 0, 1: 500 * time.Microsecond, 1000: 500 * time.Millisecond, 10_000: 2 * time.Second} {
		p.jobs.Store(jobs)
		if got := p.countsDelay(); got != want {
			t.Errorf("C352: the delay grows with the Jobs up to two seconds: %d Jobs: %v, want %v", jobs, got, want)
		}
	}
	if got := p.untilWrite(now, time.Hour); got != 0 {
		t.Errorf("P22: counts that were never written wait %v", got)
	}
	p.lastWrite = now
	if got := p.untilWrite(now.Add(time.Minute), time.Hour); got != 59*time.Minute {
		t.Errorf("P22: counts wait %v for the rest of an hour, want 59 minutes", got)
	}
}
