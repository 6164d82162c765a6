/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"container/heap"
	"slices"
)

// gift is an instance that one job gave so that the minimum of another fits.
type gift struct {
	from, to *job
	// row is where the instance stood.
	row int
}

// mayGive reports whether a job is above its minimum, and does not cool down.
func (p *planner) mayGive(j *job) bool {
	return j.has() > j.min && !p.cools(j.Job, p.in.CooldownDown)
}

// collect takes one instance after the other from the most fulfilled job, until what a job lacks fits. Nobody gives to one that is absent.
func (p *planner) collect(to *job, lacks int64, jobs []*job) (gifts []gift, fits bool) {
	room := p.roomFor(to, lacks, nil)
	if fits := room >= lacks && p.affords(to, lacks); fits || to.Absent {
		return nil, fits
	}
	givers, giveBack := p.giversTo(to, jobs)
	defer giveBack()
	for (room < lacks || !p.affords(to, lacks)) && givers.Len() > 0 {
		from := givers.jobs[0]
		row := p.takeOne(from, to, &room)
		gifts = append(gifts, gift{from, to, row})
		if from.has() > from.min {
			heap.Fix(givers, 0)
		} else {
			heap.Pop(givers)
		}
	}
	return gifts, true
}

// giversTo returns the jobs that may give to another one. What is pending of them goes first and makes no room, so it only
// decides whose turn it is: there may be 2147483647, so it is put aside at once, until it is given back (C385).
func (p *planner) giversTo(to *job, jobs []*job) (givers *queue, giveBack func()) {
	givers = &queue{before: mostFulfilled}
	aside := make(map[*job]int32, len(jobs))
	for _, j := range jobs {
		if j == to || !p.mayGive(j) {
			continue
		}
		aside[j] = min(j.pending, j.has()-j.min)
		j.pending -= aside[j]
		if j.has() > j.min {
			givers.jobs = append(givers.jobs, j)
		}
	}
	heap.Init(givers)
	return givers, func() {
		for j, pending := range aside {
			j.pending += pending
		}
	}
}

// takeOne takes the instance of the highest index away. It keeps count of the room for the instances of another job.
func (p *planner) takeOne(from, to *job, room *int64) (row int) {
	row = from.placed[len(from.placed)-1]
	from.placed = from.placed[:len(from.placed)-1]
	counts := to.shape.class.nodes.has(row)
	if counts {
		*room -= p.cluster.room(row, to.shape, nil)
	}
	p.cluster.move(row, from, 1)
	p.addReclaim(row, from, -1)
	if counts {
		*room += p.cluster.room(row, to.shape, nil)
	}
	return row
}

// giveBack returns what the taker did not need, the last first, and keeps the rest.
func (p *planner) giveBack(gifts []gift) []gift {
	var needed []gift
	for _, g := range slices.Backward(gifts) {
		if !p.cluster.hasRoom(g.row, g.from.shape) || !p.affords(g.from, 1) {
			needed = append(needed, g)
			continue
		}
		p.cluster.move(g.row, g.from, -1)
		p.addReclaim(g.row, g.from, 1)
		g.from.placed = append(g.from.placed, g.row)
	}
	slices.Reverse(needed)
	return needed
}
