/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"time"
)

// What the scheduler says wins over the model (P108a). The model knows requests and some constraints; the scheduler
// also knows spread, host ports, volumes and whatever plugins it has, and admission may refuse Pods. So the model may have
// room for an instance that nobody will ever start, and its group would wait for it without end:
//
//	size 4 runs -> the plan says 8 -> the group stops -> 6 have a node, 2 are refused for ShrinkAfter
//	            -> back to 4, with a ceiling of 4 for a time that doubles with each refusal in a row
//
// Growth that came to nothing because somebody else took the room has a ceiling, too: the model may hold that there is room
// before it grows, and that there is none for what it grew by, or that another job is to have it, again and again.
//
// A ceiling bounds growth only. Whoever writes a larger size by hand keeps it until Pods are refused again.

// longestPause is the longest time between two attempts to grow beyond a ceiling.
const longestPause = time.Hour

// Refusal are instances that have no node: their Pods are unschedulable, or do not exist.
type Refusal struct {
	Count int32
	// Since is when they were refused first, or when the size was changed last if that is later.
	Since time.Time
	// Message says why, in the words of who refused.
	Message string
}

// Ceiling is the largest size of a job of which nothing was refused.
type Ceiling struct {
	Size int32
	// Refusals counts how often in a row growth beyond it was refused, the last time at Since.
	Refusals int32
	Since    time.Time
	// More are tried after Until, or when there are more than Nodes that could take an instance. A node that
	// goes and comes back is no reason to try.
	Until   time.Time
	Nodes   int32
	Message string
}

// String says what a ceiling means.
func (c *Ceiling) String() string {
	return fmt.Sprintf("more than %d Pods were refused (%s)%s", c.Size, c.Message, c.retry())
}

func (c *Ceiling) retry() string {
	return fmt.Sprintf(", and more are tried after %s, or when a node comes", stamp(c.Until))
}

// obeyCeiling bounds the growth of a job. A ceiling is forgotten once the group ran with more, or long after its time.
func (p *planner) obeyCeiling(j *job) {
	j.most = j.max
	c := j.Ceiling
	if c == nil || j.Running && j.Ran > c.Size || !p.in.Now.Before(c.Until.Add(longestPause)) {
		return
	}
	j.ceiling = c
	if p.in.Now.Before(c.Until) && p.cluster.candidates(j.shape) <= c.Nodes {
		j.most = min(j.max, max(c.Size, j.now))
	}
}

// candidates counts the nodes that could take an instance of a shape if nothing else ran there.
func (c *cluster) candidates(s *shape) (count int32) {
	if s.candidates != nil {
		return *s.candidates
	}
	for row := range s.class.nodes.all {
		fits := true
		for _, need := range s.needs {
			fits = fits && c.names[need.column] != nowhere && c.nodes[row].Allocatable[c.names[need.column]] >= need.of
		}
		if fits {
			count++
		}
	}
	s.candidates = &count
	return count
}

// refused returns how many instances of a job are refused, how many of them for too long, and why the first of these is.
func (p *planner) refused(j *job) (all, late int32, message string) {
	if !j.Shrinks || j.Running || p.in.ShrinkAfter <= 0 {
		return 0, 0, ""
	}
	for i := range j.Refused {
		r := &j.Refused[i]
		all += min(r.Count, j.now-all)
		if p.in.Now.Before(r.Since.Add(p.in.ShrinkAfter)) {
			continue
		}
		if late += min(r.Count, j.now-late); message == "" {
			message = r.Message
		}
	}
	return all, late, message
}

// retreat finds the jobs that go on without what is refused. Those for which the model has no room either are left to
// what is done about lost nodes (P108), which needs no ceiling. Where it has room since a short time only, the scheduler
// has not had the time to use it.
func (p *planner) retreat(start []int32) {
	var lacks []int32
	for i, j := range p.jobs {
		all, late, message := p.refused(j)
		if all == 0 {
			continue
		}
		if lacks == nil {
			lacks = p.lacking(start)
		}
		count := all
		if late > 0 {
			count = late
		}
		j.noRoom = j.Started && lacks[i] >= count || !j.Started && p.roomFor(j, int64(count), nil) < int64(count)
		if late > 0 && !j.noRoom && !p.in.Now.Before(j.NoRoom.Add(p.in.ShrinkAfter)) {
			p.goBack(j, late, message)
		}
	}
}

// goBack decides with which size a job goes on: the one that it last ran with, or else what was not refused.
func (p *planner) goBack(j *job, count int32, message string) {
	size := j.now - count
	if j.grew() {
		size = j.Ran
	}
	size = max(size, j.min)
	why := fmt.Sprintf("%d of its %d Pods have been refused for more than %s (%s)", count, j.now, p.in.ShrinkAfter, message)
	if size == j.now {
		j.most = size
		j.refusal = fmt.Sprintf("%s, and it cannot continue with fewer than %d: it waits", why, j.min)
		return
	}
	if !j.grew() && len(j.Held) > 0 && !j.MayForce {
		return // it cannot run anyway, see mayShrink
	}
	j.ceiling = p.nextCeiling(j, size, message)
	j.most, j.retreats, j.refusal = size, size, why
}

// whyBack says why a job goes back to a size.
func (j *job) whyBack(size int32) string {
	how := fmt.Sprintf("it continues with %d", size)
	if size == j.Ran {
		how = fmt.Sprintf("it goes back to %d, with which it last ran", size)
	}
	return j.refusal + ": " + how + j.ceiling.retry()
}

// grew reports whether a job waits for more than it last ran with.
func (j *job) grew() bool { return j.Ran >= j.min && j.Ran < j.now }

// growthFailed gives a ceiling to a job that grew, and becomes smaller again before it ran with its new size.
func (p *planner) growthFailed(j *job, d *Decision, message string) {
	if j.grew() {
		d.Ceiling = p.nextCeiling(j, d.Desired, message)
		d.Because += d.Ceiling.retry()
	}
}

// nextCeiling returns the ceiling after one more refusal. One that was written and not carried out is not counted again.
func (p *planner) nextCeiling(j *job, size int32, message string) *Ceiling {
	next := &Ceiling{Size: size, Refusals: 1, Since: p.in.Now, Nodes: p.cluster.candidates(j.shape), Message: message}
	if last := j.ceiling; last != nil {
		if last.Size == size && last.Since.After(j.Resized) {
			return last
		}
		next.Refusals = last.Refusals + 1
		next.Nodes = max(next.Nodes, last.Nodes)
	}
	next.Until = p.in.Now.Add(p.pause(next.Refusals))
	return next
}

// pause is how long growth is not tried after so many refusals in a row. Each costs the group at least ShrinkAfter.
func (p *planner) pause(refusals int32) time.Duration {
	pause := max(p.in.CooldownUp, p.in.ShrinkAfter)
	for range min(refusals, 32) - 1 {
		if pause >= longestPause {
			break
		}
		pause = min(2*pause, longestPause)
	}
	return pause
}
