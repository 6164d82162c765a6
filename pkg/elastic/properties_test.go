/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// TestMain makes properties look at the same 10,000 clusters each time, so that they do not fail for a change that
// has nothing to do with it. -rapid.seed and -rapid.checks, or RAPID_SEED and RAPID_CHECKS, say otherwise; seed 0 is a
// random one, which hack/fuzz.sh asks for.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"seed": "1", "checks": "10000"} {
		if _, given := os.LookupEnv("RAPID_" + strings.ToUpper(name)); given {
			continue
		}
		if err := flag.Set("rapid."+name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// randomCluster draws a small cluster in which everything is scarce.
func randomCluster(t *rapid.T) Input {
	number := func(least, most int) int { return rapid.IntRange(least, most).Draw(t, "n") }
	in := Input{Accelerators: []corev1.ResourceName{gpu, "vendor.example/npu"}, Now: time.Unix(1_000_000, 0)}
	in.ReservePercent = rapid.SampledFrom([]int32{0, 0, 0, 10, 50}).Draw(t, "reserve")
	in.ShrinkAfter = 2 * time.Minute
	for i := range number(0, 6) {
		node := Node{Name: fmt.Sprintf("node-%d", i), Usable: number(0, 7) > 0, Labels: map[string]string{"zone": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "zone")},
			Allocatable: Resources{gpu: int64(number(0, 8)), corev1.ResourceCPU: int64(number(0, 16)) * 500, corev1.ResourceMemory: int64(number(0, 200)), corev1.ResourcePods: int64(number(0, 12))},
			Requested:   Resources{corev1.ResourceCPU: int64(number(0, 2)) * 500}}
		node.Lost = !node.Usable && number(0, 1) == 0
		if number(0, 5) == 0 {
			node.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		}
		if number(0, 3) == 0 {
			node.Allocatable["vendor.example/npu"] = int64(number(0, 300))
		}
		in.Nodes = append(in.Nodes, node)
	}
	for i := range number(0, 6) {
		in.Jobs = append(in.Jobs, randomJob(t, fmt.Sprintf("job-%d", i), len(in.Nodes), number))
	}
	if number(0, 3) == 0 {
		in.Quotas = map[string]Headroom{"ns": {Request: Resources{gpu: int64(number(-1, 6)), corev1.ResourcePods: int64(number(0, 9))}, Limit: Resources{corev1.ResourceCPU: int64(number(0, 9)) * 500}}}
	}
	return in
}

func randomJob(t *rapid.T, name string, nodes int, number func(least, most int) int) Job {
	least := int32(number(1, 4))
	most := least + int32(number(0, 6))
	j := Job{Key: Key{"ns", name, "w"}, Min: least, Max: most, Size: int32(rapid.IntRange(int(least), int(most)).Draw(t, "size")), Started: number(0, 3) > 0,
		Request: Resources{gpu: int64(number(0, 2)), corev1.ResourceCPU: int64(number(0, 4)) * 500, corev1.ResourceMemory: int64(number(0, 40))}}
	if number(0, 5) == 0 {
		j.Request["vendor.example/npu"] = int64(number(1, 90))
	}
	if number(0, 2) == 0 {
		j.Limit = Resources{corev1.ResourceCPU: j.Request[corev1.ResourceCPU] * 2}
	}
	if number(0, 4) == 0 {
		j.Where.NodeSelector = map[string]string{"zone": "x"}
	}
	if number(0, 4) == 0 {
		j.Where.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	if j.Shrinks = number(0, 1) == 0; number(0, 3) > 0 {
		j.Lacking = time.Unix(1_000_000, 0).Add(-time.Duration(number(1, 3)) * time.Minute)
	}
	j.Running = j.Started && number(0, 3) == 0
	if j.MayForce = number(0, 1) == 0; number(0, 3) == 0 {
		j.Held = []string{"node-0"}
	}
	j.Ran = int32(number(0, int(most)))
	if number(0, 3) == 0 {
		j.Refused = []Refusal{{Count: int32(number(1, 3)), Since: time.Unix(1_000_000, 0).Add(-time.Duration(number(1, 3)) * time.Minute)}}
	}
	if number(0, 3) == 0 {
		j.Ceiling = &Ceiling{Size: int32(number(1, int(most))), Refusals: 1, Nodes: int32(number(0, nodes)), Until: time.Unix(1_000_000, 0).Add(time.Duration(number(-2, 1)) * time.Hour)}
	}
	for index := range j.Size {
		if number(0, 3) > 0 && nodes > 0 {
			j.Bound = append(j.Bound, Instance{index, fmt.Sprintf("node-%d", number(0, nodes))}) // the last does not exist
		}
	}
	j.Exist = int32(number(len(j.Bound), max(len(j.Bound), int(j.Size))))
	return j
}

// TestEveryCluster checks the promises of P107 on random clusters.
// It takes some seconds for 10,000 clusters.
func TestEveryCluster(t *testing.T) {
	unsettled := 0
	rapid.Check(t, func(t *rapid.T) {
		in := randomCluster(t)
		p := newPlanner(&in)
		start := make([]int32, len(in.Jobs))
		for i := range in.Jobs {
			start[i] = in.Jobs[i].Size
		}
		if _, settled := p.settled(start); !settled {
			unsettled++
		}
		plan := Make(in)
		for i, d := range plan.Decisions {
			j := &in.Jobs[i]
			if d.Size < j.Min || d.Size > j.Max || d.Desired != d.Size {
				t.Fatalf("%s: size %d, desired %d, of %d to %d", d.Key, d.Size, d.Desired, j.Min, j.Max)
			}
			if j.Min == j.Max && d.Size != j.Size {
				t.Fatalf("%s cannot change, and goes from %d to %d", d.Key, j.Size, d.Size)
			}
		}
		staysWithinCapacity(t, p, plan)
		keepsQuotas(t, p, plan)
		takesOnlyForMinimums(t, p, plan)
		wastesNothing(t, p)
		next := in
		next.Jobs = slices.Clone(in.Jobs)
		for i := range next.Jobs {
			if plan.Decisions[i].NoRoom {
				next.Jobs[i].NoRoom = next.Now
			}
			next.Jobs[i].Ceiling = plan.Decisions[i].Ceiling
			if next.Jobs[i].Size = plan.Decisions[i].Size; next.Jobs[i].Size != in.Jobs[i].Size {
				next.Jobs[i].Refused = nil // they are counted from the change on
			}
		}
		for i, d := range Make(next).Decisions {
			if d.Size != plan.Decisions[i].Size {
				t.Fatalf("a second round changes %s from %d to %d: %s", d.Key, plan.Decisions[i].Size, d.Size, d.Because)
			}
		}
	})
	t.Logf("%d clusters in which the rounds do not settle, so that nobody grows or gives", unsettled)
}

// staysWithinCapacity fails if a job that grew has no node for an instance, or a node got more than it has.
func staysWithinCapacity(t *rapid.T, p *planner, plan Plan) {
	c := p.cluster
	for i, j := range p.jobs {
		if d := plan.Decisions[i]; d.Size > j.now && (j.pending > 0 || int32(len(j.placed)) != d.Size) {
			t.Fatalf("%s grows from %d to %d, and has room for %d", d.Key, j.Size, d.Size, len(j.placed))
		}
	}
	for row, node := range c.nodes {
		for name := range c.columns {
			var used, bound int64
			for i, j := range p.jobs {
				request := j.Request[name]
				if name == corev1.ResourcePods {
					request = 1
				}
				for _, at := range j.placed {
					if at == row {
						used += request
						if !j.shape.class.nodes.has(row) && !slices.ContainsFunc(j.Bound, func(b Instance) bool { return b.Node == node.Name }) {
							t.Fatalf("%s has an instance on %s, which it may not use", j.Key, node.Name)
						}
					}
				}
				for _, b := range j.Bound {
					if b.Node == node.Name && b.Index < plan.Decisions[i].Size {
						bound += request
					}
				}
			}
			if has := node.Allocatable[name] - node.Requested[name]; used > max(has, bound) {
				t.Fatalf("%d %s planned on %s, which has %d ", used, name, node.Name, has)
			}
		}
	}
}

// keepsQuotas fails if growth breaks what the planner knows of quotas (P112).
func keepsQuotas(t *rapid.T, p *planner, plan Plan) {
	grown := map[string]*quota{}
	for i, j := range p.jobs {
		if plan.Decisions[i].Size > j.now && j.quota != nil {
			grown[j.Namespace] = j.quota
		}
	}
	for namespace, q := range grown {
		for i, left := range q.left {
			if least := q.whole[i] - usedBefore(p, q, i); left < min(0, least) {
				t.Fatalf("jobs of %s grow although %s is used: %d", namespace, q.limits[i], left)
			}
		}
	}
}

// usedBefore is what the sizes before the plan use of a quota: they may be above it already.
func usedBefore(p *planner, q *quota, limit int) (used int64) {
	for _, j := range p.jobs {
		if j.quota == q {
			used += int64(j.now) * j.quotaNeeds[limit]
		}
	}
	return used
}

// takesOnlyForMinimums fails if a running job shrinks although nobody got a minimum.
func takesOnlyForMinimums(t *rapid.T, p *planner, plan Plan) {
	for i, j := range p.jobs {
		d := plan.Decisions[i]
		if d.State == Shrinks && (!j.Started || j.Running || !j.Shrinks || p.in.Now.Before(j.Lacking.Add(p.in.ShrinkAfter)) || len(j.Held) > 0 && !j.MayForce) {
			t.Fatalf("%s shrinks, and should not: %s", d.Key, d.Because)
		}
		if d.State == Refused && (j.Running || !j.Shrinks || len(j.Refused) == 0 || d.Ceiling == nil || d.Ceiling.Size < d.Size) {
			t.Fatalf("%s goes back, and should not: %s, with ceiling %+v", d.Key, d.Because, d.Ceiling)
		}
		if j.Started && d.Size < j.Size && d.State != Gives && d.State != Shrinks && d.State != Refused {
			t.Fatalf("%s runs, and shrinks from %d to %d: %s %s", d.Key, j.Size, d.Size, d.State, d.Because)
		}
	}
	for _, g := range p.gifts {
		if g.to.Started || g.to.waits || g.to.has() < g.to.min || g.from.accelerator < 0 != (g.to.accelerator < 0) {
			t.Fatalf("%s gave to %s, which has %d of %d", g.from.Key, g.to.Key, g.to.has(), g.to.min)
		}
	}
}

// wastesNothing fails if a job could have grown.
func wastesNothing(t *rapid.T, p *planner) {
	sizes := make([]int32, len(p.jobs))
	for i, j := range p.jobs {
		if sizes[i] = j.has(); j.waits {
			sizes[i] = j.size
		}
	}
	if _, settled := p.repeat(sizes, sizes); !settled {
		return
	}
	for _, j := range p.jobs {
		if !j.waits && j.pending == 0 && j.has() < j.most && p.placeOne(j, true) {
			t.Fatalf("%s has %d of %d, and one more fits", j.Key, len(j.placed)-1, j.max)
		}
	}
}

// TestOrderOfInput: caches have no stable order, and plans must not depend on it.
// It takes some seconds for 10,000 clusters.
func TestOrderOfInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := randomCluster(t)
		turned := in
		turned.Nodes, turned.Jobs = slices.Clone(in.Nodes), slices.Clone(in.Jobs)
		slices.Reverse(turned.Nodes)
		slices.Reverse(turned.Jobs)
		for i := range turned.Jobs {
			turned.Jobs[i].Bound = slices.Clone(turned.Jobs[i].Bound)
			slices.Reverse(turned.Jobs[i].Bound)
		}
		want, got := Make(in).Decisions, Make(turned).Decisions
		slices.Reverse(got)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("decisions depend on the order of the input:\n%+v\n%+v", want, got)
		}
	})
}
