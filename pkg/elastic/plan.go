/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxRounds bounds how often a plan is planned again until it stays the same. Two are enough unless
// what is free is scattered over nodes and resources.
const maxRounds = 8

// Make plans the sizes of all jobs.
func Make(in Input) Plan {
	p := newPlanner(&in)
	start := make([]int32, len(p.jobs))
	for i, j := range p.jobs {
		start[i] = j.now
	}
	scores := p.scores(start)
	sizes, _ := p.settled(start)
	return p.plan(sizes, scores)
}

// settled returns the sizes that are planned. A job that could not go on without what it lacks may find room
// once others have become smaller, and a job may lack instances only since another has grown: GPU jobs do so
// before CPU jobs. So jobs are shrunk again until that changes nothing. If the sizes never settle, jobs go on
// without what they lack now, and everything else stays as it is.
func (p *planner) settled(start []int32) (sizes []int32, settled bool) {
	p.retreat(start)
	sizes = start
	for range maxRounds {
		before := sizes
		if sizes, settled = p.repeat(p.shrink(before), start); !settled {
			break
		}
		lacks := slices.ContainsFunc(p.jobs, func(j *job) bool { return j.Shrinks && (j.lacks > 0 || j.pending > 0) })
		if !lacks || slices.Equal(sizes, before) {
			return sizes, true
		}
	}
	p.gifts = nil
	for _, j := range p.jobs {
		j.lost = 0
	}
	sizes = p.shrink(start)
	p.settle(sizes)
	return sizes, false
}

// repeat plans round after round until the sizes stay the same. They may never do, or the last round may
// not bear out what earlier ones did: jobs that have grown since the start of the plan then lack room.
func (p *planner) repeat(sizes, start []int32) (planned []int32, settled bool) {
	for range maxRounds {
		next := p.round(sizes)
		if slices.Equal(next, sizes) {
			return sizes, p.holds(start)
		}
		sizes = next
	}
	return nil, false
}

// holds reports whether the last round has room for every job that grew, and for everyone whom another gave to.
func (p *planner) holds(start []int32) bool {
	for i, j := range p.jobs {
		if j.size > start[i] && (j.pending > 0 || j.waits) {
			return false
		}
	}
	return !slices.ContainsFunc(p.gifts, func(g gift) bool { return g.to.waits })
}

// scores returns what the jobs have before anything is planned.
func (p *planner) scores(sizes []int32) []score {
	p.settle(sizes)
	scores := make([]score, len(p.jobs))
	for i, j := range p.jobs {
		scores[i] = j.score()
		if j.Started {
			scores[i] = scoreOf(sizes[i], j.min, j.max)
		}
	}
	return scores
}

// plan says what is to become of each job, after the last round.
func (p *planner) plan(sizes []int32, scores []score) Plan {
	plan := Plan{Free: Resources{}, Assigned: Resources{}}
	before := make(map[*job]score, len(p.jobs))
	for i, j := range p.jobs {
		before[j] = scores[i]
	}
	takers := map[*job][]*job{}
	for _, g := range p.gifts {
		if !slices.Contains(takers[g.from], g.to) {
			takers[g.from] = append(takers[g.from], g.to)
		}
	}
	for i, j := range p.jobs {
		d := p.decide(j, sizes[i], takers[j], before)
		d.Limit = p.limitOf(j, &d)
		plan.Decisions = append(plan.Decisions, d)
	}
	p.countAccelerators(&plan)
	return plan
}

// cools reports whether the last change of a size of the JobSet is less than a time ago.
func (p *planner) cools(j *Job, cooldown time.Duration) bool {
	return !j.JobSetResized.IsZero() && p.in.Now.Before(j.JobSetResized.Add(cooldown))
}

// whatChanged says what cools.
func (j *Job) whatChanged() string {
	if j.JobSetResized.After(j.Resized) {
		return "a size of its JobSet was changed"
	}
	return "its size was changed"
}

func (p *planner) decide(j *job, desired int32, takers []*job, before map[*job]score) Decision {
	d := Decision{Key: j.Key, State: Keeps, Size: desired, Desired: desired, Score: before[j].float(), Lacks: j.lacks, Ceiling: j.ceiling, NoRoom: j.noRoom}
	change, cooldown := desired-j.now, p.in.CooldownDown
	switch {
	case change < 0 && j.retreats > 0: // its group waits meanwhile, so it does not cool down first
		d.State, d.Because = Refused, j.whyBack(desired)
		return d
	case j.ungiven && j.accelerator >= 0:
		d.State = Waits
		d.Because = fmt.Sprintf("its minimum of %d does not fit, and fewer of its Pods exist and wait for a node: no job shrinks for Pods that may never be created", j.min)
	case j.waits && j.accelerator >= 0:
		d.State = Waits
		d.Because = fmt.Sprintf("its minimum of %d does not fit, nor would it if all others were at their minimums", j.min)
	case j.waits:
		d.State = Overcommits
		d.Because = fmt.Sprintf("its minimum of %d does not fit; it starts anyway, because it requests no accelerator", j.min)
	case change > 0:
		d.State, cooldown = Grows, p.in.CooldownUp
		d.Because = fmt.Sprintf("%d more fit: score %.2f", change, d.Score)
	case change < 0 && j.lost > 0:
		d.State = Shrinks
		d.Because = j.whyShrink(p.in.ShrinkAfter, desired)
		p.growthFailed(j, &d, "no node has room")
	case change < 0 && len(takers) > 0:
		d.State = Gives
		d.Because = fmt.Sprintf("gave %s to %s: score %.2f, ours %.2f", instances(-change), nameAll(j.Namespace, takers), before[takers[0]].float(), d.Score)
		p.growthFailed(j, &d, "the capacity went to another job")
	case change < 0:
		d.State = Fits
		d.Because = fmt.Sprintf("no node has room for %d more: it starts with %d", -change, desired)
	case change == 0 && j.stuck != "":
		d.State, d.Because = Stuck, j.stuck
	case change == 0 && j.refusal != "":
		d.State, d.Refused, d.Because = Stuck, true, j.refusal
	}
	if change != 0 && p.cools(j.Job, cooldown) {
		d.State, d.Size, d.Ceiling, d.Until = Cools, j.now, j.ceiling, j.JobSetResized.Add(cooldown)
		d.Because = fmt.Sprintf("from %d to %d not before %s, since %s at %s: %s", j.now, desired, stamp(d.Until), j.whatChanged(), stamp(j.JobSetResized), d.Because)
	}
	return d
}

func instances(count int32) string {
	if count == 1 {
		return "1 instance"
	}
	return fmt.Sprintf("%d instances", count)
}

// maxNamed is how many jobs a reason names at the most.
const maxNamed = 3

// nameAll names jobs to the users of a namespace. They may not see those of other namespaces.
func nameAll(namespace string, jobs []*job) string {
	var names []string
	others := 0
	for _, j := range jobs {
		if j.Namespace == namespace {
			names = append(names, j.Key.String())
		} else {
			others++
		}
	}
	switch {
	case others == 1:
		names = append(names, "another namespace")
	case others > 1:
		names = append(names, fmt.Sprintf("%d jobs of other namespaces", others))
	}
	return firstOf(names)
}

func firstOf(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		names = append(slices.Clone(names[:maxNamed]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// countAccelerators adds up what is free and what is assigned after the last round.
func (p *planner) countAccelerators(plan *Plan) {
	c := p.cluster
	for _, name := range p.in.Accelerators {
		plan.Assigned[name] = 0
		column, known := c.columns[name]
		if !known {
			continue // no job requests it, so nobody has looked for it on nodes
		}
		plan.Free[name] = 0
		for row, node := range c.nodes {
			if node.Usable {
				plan.Free[name] += max(0, c.free[row*c.width+column])
			}
		}
		for _, j := range p.jobs {
			plan.Assigned[name] += int64(len(j.placed)) * j.Request[name]
		}
	}
}
