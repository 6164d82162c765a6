/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"
	"time"
)

// The clock of the controller may jump, by more than any deadline of the assembly (P21a). Then all times are long ago, or
// later than now, and its shell tells the decisions that they know time only from the jump on.

// jumped is when the clock of the controller last jumped.
type jumped uint8

const (
	steady jumped = iota // never, or long ago
	justJumped
	jumpedAPeriodAgo
)

func (j jumped) next() jumped {
	if j == justJumped {
		return jumpedAPeriodAgo
	}
	return steady
}

// since is since when the clock runs evenly.
func (j jumped) since() time.Time {
	return [...]time.Time{steady: {}, justJumped: now, jumpedAPeriodAgo: now.Add(-period - time.Second)}[j]
}

func jumpCases() []searched {
	group := []replicatedJob{{"w", 1, 2, -1}}
	return []searched{
		{scenario{name: "the clock jumps, 1 failure", rjobs: group, kinds: hang | workerExit, left: budgets{failures: 1, pokes: 1}, lag: 1, lagInAll: 1, running: true, clock: true, jumps: true}, bounded},
		{scenario{name: "the clock jumps, first start, Pods that hang", rjobs: group, kinds: hang, left: budgets{failures: 1, pokes: 1}, lag: 1, lagInAll: 1, clock: true, jumps: true}, bounded},
	}
}

// jump makes all times older than any deadline, or as much later than now.
func (w *world) jump(back bool) {
	w.jumped = justJumped
	since, age := int8(3), int8(2)
	if back {
		since, age = -1, -2
	}
	versions := slices.Clone(w.jobSet.versions)
	for i := range versions {
		if versions[i].since != 0 {
			versions[i].since = since
		}
	}
	w.jobSet = history[jobSet]{versions, w.jobSet.place}
	for i := range w.pods {
		w.pods[i].age = age
	}
	for _, c := range w.podCache { // nothing lags
		c.history = newHistory(withoutLeases(w.podsNow(c.job)))
		w.replaceCache(c)
	}
}
