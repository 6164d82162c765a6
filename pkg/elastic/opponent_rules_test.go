/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import "time"

// More of what a scheduler, admission and other users do, and the planner is told nothing of.

// house is what the opponent has against all teams together.
type house struct {
	// quota is how many Pods of all teams may exist, 0 for any.
	quota int
	// moody is how many minutes of each hour nothing is bound at all.
	moody int
}

// strict is what the opponent has against one team besides.
type strict struct {
	// skew is by how many its Pods on a node may exceed those on the emptiest that is usable, 0 for any.
	skew int
	// gang: its Pods are bound together or not at all.
	gang bool
}

// refusesAll reports whether the scheduler binds nothing now.
func (h *house) refusesAll(now time.Time) bool { return now.Minute() < h.moody }

// lets returns how many Pods of a team may exist besides those of the others.
func (h *house) lets(a *arena, t *team, wanted int) int {
	if h.quota == 0 {
		return wanted
	}
	others := 0
	for _, other := range a.teams {
		if other != t {
			others += len(other.node)
		}
	}
	return min(wanted, max(len(t.node), h.quota-others))
}

// refuses reports whether one more Pod of the team is too many for a node.
func (s *strict) refuses(a *arena, t *team, node string) bool {
	if s.skew == 0 {
		return false
	}
	emptiest := len(t.node)
	for i := range a.nodes {
		if a.nodes[i].Usable {
			emptiest = min(emptiest, countOf(t.node, a.nodes[i].Name))
		}
	}
	return countOf(t.node, node)+1-emptiest > s.skew
}

// bindOrNone takes the nodes from those that were bound now if others of the gang were not.
func (s *strict) bindOrNone(t *team, before []string, free map[string]int64) {
	if !s.gang || countOf(t.node, "") == 0 {
		return
	}
	for index, on := range t.node {
		if on != "" && before[index] == "" {
			t.node[index] = ""
			free[on] += t.job.Request[gpu]
		}
	}
}

// preempt evicts a Pod for one of higher priority, which takes its place.
func (a *arena) preempt(t *team, d *dice) {
	if len(t.node) == 0 {
		return
	}
	index := d.upTo(len(t.node) - 1)
	for i := range a.nodes {
		if n := &a.nodes[i]; n.Name == t.node[index] {
			n.Requested = Resources{gpu: n.Requested[gpu] + t.job.Request[gpu]}
			t.node[index], t.created[index], t.job.Running = "", a.now, false
			return
		}
	}
}
