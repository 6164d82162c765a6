/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"
	"testing"
)

// TestWorldsOfOneEncodingHaveTheSameFuture looks, for every world that the search would take
// for one it knows, whether the same can happen next: the encoding may forget nothing.
func TestWorldsOfOneEncodingHaveTheSameFuture(t *testing.T) {
	t.Parallel()
	for _, sc := range []scenario{
		{name: "2 workers", rjobs: []replicatedJob{{"w", 1, 2, -1}}, lag: 1, left: budgets{failures: 2}, running: true},
		{name: "2 Jobs", rjobs: []replicatedJob{{"w", 2, 1, -1}}, lag: 1, lagInAll: 1, left: budgets{leaders: 1, suspends: 1}, lingering: true, oldCaches: true, running: true},
		{name: "fault tolerance", rjobs: []replicatedJob{{"w", 1, 2, -1}}, ft: &faultTolerance{recreate: true}, lag: 1, left: budgets{failures: 1, marks: 1, suspends: 1}, running: true},
		{name: "avoid nodes", rjobs: []replicatedJob{{"w", 1, 2, -1}}, ft: &faultTolerance{avoid: 1, nodes: 2}, lag: 1, left: budgets{failures: 1, leaders: 1}, running: true},
		{name: "Job failure", rjobs: []replicatedJob{{"w", 1, 2, -1}}, lag: 1, left: budgets{failures: 1, jobFailures: 1}, running: true},
	} {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			sc.kinds, sc.maxRestarts = everyFailure, 20
			d := newDecider(&sc)
			start := sc.start()
			known := map[string][]string{string(start.encode(nil)): nil}
			for queue := []*world{start}; len(queue) > 0 && len(known) < 2_000; queue = queue[1:] {
				for _, s := range queue[0].enabled(nil) {
					w, err := queue[0].after(s, d)
					if err != nil {
						t.Fatal(err)
					}
					if w == nil {
						continue
					}
					key, future := string(w.encode(nil)), w.future(d)
					before, ok := known[key]
					if !ok {
						queue = append(queue, w)
						known[key] = future
					} else if before != nil && !slices.Equal(before, future) {
						t.Fatalf("after %q in two worlds of one encoding other things can happen", describe(queue[0], w, s))
					}
				}
			}
		})
	}
}

// future are the encodings of what may come next.
func (w *world) future(d *decider) []string {
	var next []string
	for _, s := range w.enabled(nil) {
		if after, _ := w.after(s, d); after != nil {
			next = append(next, string(after.encode(nil)))
		}
	}
	slices.Sort(next)
	return slices.Compact(next)
}
