/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// An opponent for the planner: a scheduler that refuses by rules of which the planner knows nothing. In each step the
// scheduler binds what it likes, groups that are whole run, and the planner makes a round.

// dice draws from the input of a fuzz target. Without any left it draws the least.
type dice []byte

func (d *dice) upTo(most int) int {
	if len(*d) == 0 {
		return 0
	}
	drawn := int((*d)[0]) % (most + 1)
	*d = (*d)[1:]
	return drawn
}

// team is a job, and what the scheduler has against it.
type team struct {
	job Job
	// node is where each Pod stands, "" for nowhere, and since when it is there. A Pod that no quota lets in is absent.
	node    []string
	created []time.Time

	perNode int             // so many Pods of it are let on one node, 0 for any
	avoids  map[string]bool // nodes that it is never let on
	quota   int             // so many Pods of it may exist, 0 for any
	strict

	known bool // the planner knows of its quota, and that it has one Pod for each node (P112)

	missing time.Time
	// drained is until when a Pod that was evicted uses its grace, while the others run.
	drained time.Time
	// grown is when it grew last, and ups how often it did.
	grown time.Time
	ups   int
}

// arena is a cluster with its scheduler, its planner, and what the planner's shell remembers.
type arena struct {
	now   time.Time
	nodes []Node
	teams []*team
	house
}

const (
	arenaShrinkAfter = 2 * time.Minute
	arenaCooldown    = 5 * time.Minute
	arenaInterval    = 30 * time.Second
)

func newArena(d *dice) *arena {
	a := &arena{now: time.Unix(1_000_000, 0)}
	for range 1 + d.upTo(3) {
		a.addNode(d)
	}
	for i := range 1 + d.upTo(2) {
		least := int32(1 + d.upTo(2))
		t := &team{job: Job{Key: Key{fmt.Sprintf("ns-%d", i), "job", "w"}, Min: least, Max: least + int32(d.upTo(5)), Size: least, Shrinks: true,
			MayForce: true, Request: Resources{gpu: int64(1 + d.upTo(1))}}}
		a.changeRules(t, d)
		a.teams = append(a.teams, t)
	}
	return a
}

func (a *arena) addNode(d *dice) {
	a.nodes = append(a.nodes, Node{Name: fmt.Sprintf("node-%d", len(a.nodes)), Usable: true, Allocatable: Resources{gpu: int64(1 + d.upTo(7)), corev1.ResourcePods: 20}})
}

func (a *arena) changeRules(t *team, d *dice) {
	t.perNode, t.quota, t.avoids = d.upTo(3), 0, map[string]bool{}
	t.known = d.upTo(1) == 1
	if d.upTo(2) == 0 {
		t.quota = int(t.job.Min) + d.upTo(4)
	}
	for i := range a.nodes {
		t.avoids[a.nodes[i].Name] = d.upTo(3) == 1
	}
	t.strict = strict{skew: max(0, d.upTo(4)-2), gang: d.upTo(3) == 1}
}

// disturb does one thing that happens in clusters.
func (a *arena) disturb(d *dice) {
	t, n := a.teams[d.upTo(len(a.teams)-1)], &a.nodes[d.upTo(len(a.nodes)-1)]
	switch d.upTo(12) {
	case 0: // the node is lost, with its Pods
		n.Usable, n.Lost = false, true
		for _, t := range a.teams {
			for index, on := range t.node {
				if on == n.Name {
					t.node[index], t.created[index] = "", a.now
					t.job.Running = false
				}
			}
		}
	case 1:
		n.Usable, n.Lost = true, false
	case 7: // its last worker is evicted, and has a long grace
		if t.job.Running && t.node[len(t.node)-1] != "" {
			t.node[len(t.node)-1], t.drained = "", a.now.Add(10*time.Minute)
		}
	case 6: // its kubelet is silent, and its Pods run
		n.Usable, n.Lost = false, true
	case 2:
		if len(a.nodes) < 6 {
			a.addNode(d)
		}
	case 3: // a worker fails: its group restarts, and keeps its Pods
		t.job.Running = false
	case 4:
		a.changeRules(t, d)
	case 8: // a Pod of higher priority comes
		a.preempt(t, d)
	case 9: // the Pods of others go
		n.Requested = nil
	case 10:
		a.house = house{quota: d.upTo(12), moody: d.upTo(1) * d.upTo(20)}
	case 5: // another leader
		for _, t := range a.teams {
			t.job.Lacking, t.job.NoRoom, t.missing = time.Time{}, time.Time{}, time.Time{}
		}
	}
}

// schedule lets Pods exist, and binds those that the rules allow.
func (a *arena) schedule() {
	free := map[string]int64{}
	for i := range a.nodes {
		if a.nodes[i].Usable {
			free[a.nodes[i].Name] = a.nodes[i].Allocatable[gpu] - a.nodes[i].Requested[gpu]
		}
	}
	for _, t := range a.teams {
		for _, on := range t.node {
			free[on] -= t.job.Request[gpu]
		}
	}
	for _, t := range a.teams {
		if a.now.Before(t.drained) && t.job.Running {
			continue
		}
		if len(t.node) < int(t.job.Size) || slices.Contains(t.node, "") {
			t.job.Running = false
		}
		allowed := int(t.job.Size)
		if t.quota > 0 {
			allowed = min(allowed, max(t.quota, len(t.node))) // those that exist stay
		}
		allowed = a.lets(a, t, allowed)
		for len(t.node) < allowed {
			t.node, t.created = append(t.node, ""), append(t.created, a.now)
		}
		before := slices.Clone(t.node)
		for index, on := range t.node {
			for i := range a.nodes {
				name := a.nodes[i].Name
				if a.refusesAll(a.now) || t.refuses(a, t, name) {
					continue
				}
				if on != "" || !a.nodes[i].Usable || free[name] < t.job.Request[gpu] || t.avoids[name] {
					continue
				}
				if t.perNode > 0 && countOf(t.node, name) >= t.perNode {
					continue
				}
				t.node[index], on = name, name
				free[name] -= t.job.Request[gpu]
			}
		}
		t.bindOrNone(t, before, free)
		if len(t.node) == int(t.job.Size) && !slices.Contains(t.node, "") {
			t.job.Started, t.job.Running, t.job.Ran = true, true, t.job.Size
		}
	}
}

func countOf(all []string, one string) (count int) {
	for _, s := range all {
		if s == one {
			count++
		}
	}
	return count
}

// input is what the shell would tell the planner.
func (a *arena) input() Input {
	in := Input{Nodes: a.nodes, Accelerators: []corev1.ResourceName{gpu}, CooldownUp: arenaCooldown, ShrinkAfter: arenaShrinkAfter, Now: a.now, Quotas: map[string]Headroom{}}
	for _, t := range a.teams {
		t.job.Exist = int32(len(t.node))
		if t.known && t.quota > 0 {
			in.Quotas[t.job.Namespace] = Headroom{Request: Resources{corev1.ResourcePods: int64(t.quota - len(t.node))}}
		}
		t.job.Bound, t.job.Refused = nil, nil
		for index, on := range t.node {
			if on != "" {
				t.job.Bound = append(t.job.Bound, Instance{int32(index), on})
			} else if !t.job.Running {
				t.job.Refused = append(t.job.Refused, Refusal{1, latest(t.created[index], t.job.Resized), "refused"})
			}
		}
		t.job.Absent = !t.job.Started && len(t.node) < int(t.job.Min)
		if lacks := t.job.Size - int32(len(t.node)); lacks > 0 {
			if t.missing.IsZero() {
				t.missing = a.now
			}
			t.job.Refused = append(t.job.Refused, Refusal{lacks, latest(t.missing, t.job.Resized), "missing"})
		} else {
			t.missing = time.Time{}
		}
		in.Jobs = append(in.Jobs, t.job)
	}
	return in
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// carryOut does what the shell does with a plan, and what a group does with its size.
func (a *arena) carryOut(plan Plan) {
	for i, d := range plan.Decisions {
		t := a.teams[i]
		t.job.Ceiling = d.Ceiling
		if d.Lacks == 0 {
			t.job.Lacking = time.Time{}
		} else if t.job.Lacking.IsZero() {
			t.job.Lacking = a.now
		}
		if d.NoRoom {
			t.job.NoRoom = a.now
		}
		if d.Size == t.job.Size {
			continue
		}
		if d.Size > t.job.Size {
			t.ups, t.grown = t.ups+1, a.now
		}
		t.job.Running = false
		t.job.Size, t.job.Resized, t.job.JobSetResized = d.Size, a.now, a.now
		t.node = t.node[:min(len(t.node), int(d.Size))]
		t.created = t.created[:len(t.node)]
	}
}
