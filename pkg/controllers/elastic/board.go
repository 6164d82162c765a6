/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/policy"
)

// Board is where the planner says what belongs in the status of JobSets. It writes no status: the JobSet controller does,
// which is the only writer, so that each status is written by one who decided on all of it.
//
//	   planner, one round for all JobSets                  JobSet controller, a pass for each
//	┌────────────────────────────────────┐               ┌────────────────────────────────────┐
//	│ 1 looks, plans                     │               │                                    │
//	│ 2 the status lacks what it says? ──┼─ Post, wakes ─┼─> 3 policy.Decide, step            │
//	│   A size waits for its ceiling     │               │     PlannedSizes: Plan.Status      │
//	│                                    │               │ 4 one write of the status          │
//	│ 5 the next round finds it there <──┼── cache ──────┼─────┘                              │
//	│ 6 patches the sizes in the spec    │               │                                    │
//	└────────────────────────────────────┘               └────────────────────────────────────┘
//
// The board is memory. A manager that stops before 4 has written nothing, and the next leader plans again; one that stops
// before 6 leaves the ceiling and the limit in the status, from which the next leader plans the same size (P108a). Until its
// first round the board is empty, and statuses stay as they are.
//
// It holds only what the last round found lacking. A verdict on a JobSet that has changed since, in what the verdict depends
// on, says nothing (see policy.Verdict), and what is written already changes nothing. So a verdict may stay here until the
// next round, and passes may be made in any order.
type Board struct {
	mu       sync.Mutex
	verdicts map[types.NamespacedName]*policy.Verdict
	posted   func(types.NamespacedName)
}

// Verdict returns what was last said about a JobSet that its status lacked, nil if nothing was. A nil board has none.
func (b *Board) Verdict(jobSet types.NamespacedName) *policy.Verdict {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.verdicts[jobSet]
}

// OnPost sets the function to call with each JobSet about which something was posted.
func (b *Board) OnPost(posted func(types.NamespacedName)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.posted = posted
}

// Post replaces all that the board says by the verdicts of a round, which must not be changed from now on.
func (b *Board) Post(round map[types.NamespacedName]*policy.Verdict) {
	b.mu.Lock()
	posted := b.posted
	b.verdicts = round
	b.mu.Unlock()
	if posted == nil {
		return
	}
	for jobSet := range round {
		posted(jobSet)
	}
}
