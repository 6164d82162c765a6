/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// FuzzRefusals plays the planner against schedulers that refuse by rules that it does not know (P108a):
//
//   - a group that ran keeps running at some size: once nobody disturbs it, the planner does not stop it for longer than it
//     takes to find out that more are refused
//   - no oscillation: no growth within a cooldown of any change, and growth that is refused is tried ever more seldom
//   - nothing is taken from a job because it, or another, restarts: sizes go down only for a job that never ran, or by what has
//     no node for shrinkAfter
//
// That nobody is charged for any of it holds in package policy, whatever sizes are planned: test/sequence, P101a.
// Its seeds take some seconds: each plays hours of a cluster.
func FuzzRefusals(f *testing.F) {
	// Those from 105 on need growth that comes to nothing without a refusal.
	for _, seed := range append(upTo(40), 105, 145, 253) {
		random, input := rand.New(rand.NewPCG(seed, 0)), make([]byte, 400)
		for i := range input {
			input[i] = byte(random.IntN(256))
		}
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		d := dice(input)
		a := newArena(&d)
		for len(d) > 0 && a.now.Before(time.Unix(1_000_000, 0).Add(24*time.Hour)) {
			for range d.upTo(2) {
				a.disturb(&d)
			}
			for range 1 + d.upTo(20) {
				a.step(t)
			}
		}
		a.keepsRunning(t)
	})
}

func upTo(end uint64) (all []uint64) {
	for n := range end {
		all = append(all, n)
	}
	return all
}

// step is one round.
func (a *arena) step(t *testing.T) {
	t.Helper()
	a.schedule()
	in := a.input()
	plan := Make(in)
	isNew := slices.ContainsFunc(in.Jobs, func(j Job) bool { return !j.Started })
	for i, d := range plan.Decisions {
		j := &in.Jobs[i]
		switch whole := len(j.Bound) == int(j.Size); {
		case d.Size < j.Min || d.Size > j.Max:
			t.Fatalf("%s: size %d of %d to %d", d.Key, d.Size, j.Min, j.Max)
		case d.Size > j.Size && a.now.Sub(j.Resized) < arenaCooldown:
			t.Fatalf("%s grows %s after its size was changed", d.Key, a.now.Sub(j.Resized))
		case d.Size >= j.Size || !j.Started:
		case d.State == Gives && !isNew:
			t.Fatalf("%s gives although every job ran: %s", d.Key, d.Because)
		case d.State != Gives && (j.Running || whole):
			t.Fatalf("%s has all its Pods, and shrinks: %s %s", d.Key, d.State, d.Because)
		}
	}
	a.carryOut(plan)
	a.now = a.now.Add(arenaInterval)
}

// keepsRunning fails if a group that runs, or could run at its minimum, does not once nobody disturbs any more.
func (a *arena) keepsRunning(t *testing.T) {
	t.Helper()
	could, ups := make([]time.Time, len(a.teams)), make([]int, len(a.teams)) // since when it could run, without a pause
	const hours = 12
	start := a.now
	for a.now.Before(start.Add(hours * time.Hour)) {
		a.step(t)
		for i, team := range a.teams {
			switch {
			case team.job.Running || !a.couldRun(team):
				could[i] = time.Time{}
			case could[i].IsZero():
				could[i] = a.now
			case a.now.Sub(could[i]) > arenaShrinkAfter+3*arenaInterval && a.now.Sub(start) > time.Hour, a.now.Sub(could[i]) > time.Hour:
				t.Fatalf("%s could run, and has not for %s: %s", team.job.Key, a.now.Sub(could[i]), team)
			}
			if a.now.Sub(start) <= time.Hour { // to get over what happened before
				ups[i] = team.ups
			}
		}
	}
	for i, team := range a.teams {
		// Each size that is reached may be followed by attempts after 5, 10, 20, 40 and 60 minutes, and each hour after that.
		if grew, most := team.ups-ups[i], int(team.job.Max-team.job.Min+1)*5+hours; grew > most {
			t.Fatalf("%s grew %d times in %d hours in which nothing happened, want at most %d: %s", team.job.Key, grew, hours, most, team)
		}
	}
}

// couldRun reports whether a group ran, and has the Pods of its minimum on nodes that are ready.
func (a *arena) couldRun(t *team) bool {
	if !t.job.Started || len(t.node) < int(t.job.Min) {
		return false
	}
	return !slices.ContainsFunc(t.node[:t.job.Min], func(on string) bool {
		return !slices.ContainsFunc(a.nodes, func(n Node) bool { return n.Name == on && n.Usable })
	})
}

func (t *team) String() string {
	return fmt.Sprintf("size %d of %d to %d, ran with %d, Pods on %q, %d on a node, quota %d, avoids %v, %+v, ceiling %v",
		t.job.Size, t.job.Min, t.job.Max, t.job.Ran, t.node, t.perNode, t.quota, t.avoids, t.strict, t.job.Ceiling)
}
