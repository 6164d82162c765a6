/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"container/heap"
	"slices"
)

// round plans once from the given sizes, and returns the sizes that it leads to. If a job gives, no job of its kind grows: that is
// for the next round.
func (p *planner) round(sizes []int32) []int32 {
	p.settle(sizes)
	for _, jobs := range [][]*job{p.gpu, p.cpu} {
		p.placePending(jobs)
		for _, j := range jobs {
			j.sortPlaced()
		}
		gifts := p.minimums(jobs)
		p.gifts = append(p.gifts, gifts...)
		if len(gifts) == 0 {
			p.fill(jobs, func(j *job) int32 { return j.most })
		}
	}
	next := make([]int32, len(p.jobs))
	for i, j := range p.jobs {
		next[i] = j.has()
		if j.waits {
			next[i] = sizes[i] // it waits as it is
		}
	}
	return next
}

// placePending is step 1: the instances that running jobs have and that are not bound.
func (p *planner) placePending(jobs []*job) {
	p.fill(jobs, func(j *job) int32 {
		if !j.Started {
			return 0
		}
		return j.size
	})
}

// fill gives the least fulfilled job one more instance, again and again, up to a limit for each. What a
// running job has anyway is charged to no budget. Room only shrinks here, so a job whose next instance
// does not fit is out.
func (p *planner) fill(jobs []*job, limit func(*job) int32) {
	q := &queue{before: leastFulfilled}
	for _, j := range jobs {
		j.pending = 0 // they are placed now
		if !j.waits && j.has() < limit(j) {
			q.jobs = append(q.jobs, j)
		}
	}
	heap.Init(q)
	for q.Len() > 0 {
		j := q.jobs[0]
		if p.placeOne(j, !j.Started || j.has() >= j.size) && j.has() < limit(j) {
			heap.Fix(q, 0)
		} else {
			heap.Pop(q)
		}
	}
	for _, j := range jobs {
		if j.Started {
			j.pending = max(0, j.size-int32(len(j.placed)))
		}
	}
}

// minimums is step 2: room is made for the minimums of the jobs that never ran and are below theirs.
func (p *planner) minimums(jobs []*job) (all []gift) {
	below := slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.Started || j.has() >= j.min })
	if len(below) == 0 {
		return nil
	}
	slices.SortFunc(below, compareJobs)
	p.countReclaim(jobs)
	for _, j := range below {
		lacks := int64(j.min - j.has())
		if !p.wouldFit(j, lacks) {
			j.waits = true
			continue
		}
		gifts, fits := p.collect(j, lacks, jobs)
		if !fits {
			j.waits, j.ungiven = true, true
			continue
		}
		for range lacks {
			p.placeOne(j, false)
		}
		all = append(all, p.giveBack(gifts)...)
	}
	return all
}

// countReclaim adds up what can be had of the jobs above their minimums.
func (p *planner) countReclaim(jobs []*job) {
	clear(p.reclaim)
	for _, j := range jobs {
		if !p.mayGive(j) {
			continue
		}
		for _, row := range j.spare() {
			p.addReclaim(row, j, 1)
		}
	}
}

func (p *planner) addReclaim(row int, j *job, sign int64) {
	for _, need := range j.shape.needs {
		p.reclaim[row*p.cluster.width+need.column] += sign * need.of
	}
}

// wouldFit reports whether so many more instances of a job fit if every other job gave all that it can.
func (p *planner) wouldFit(j *job, lacks int64) bool {
	return p.roomFor(j, lacks, p.reclaim) >= lacks && p.wouldAfford(j, lacks)
}

// wouldAfford is affords if every other job gave all that it can.
func (p *planner) wouldAfford(j *job, lacks int64) bool {
	if p.affords(j, lacks) {
		return true
	}
	kind := p.gpu
	if j.accelerator < 0 {
		kind = p.cpu
	}
	freed, freedQuota := make([]int64, p.cluster.width), make([]int64, len(j.quotaNeeds))
	for _, giver := range kind {
		if !p.mayGive(giver) {
			continue
		}
		for _, row := range giver.spare() {
			for _, charge := range giver.charges {
				if j.shape.class.nodes.has(row) {
					freed[charge.column] += charge.of
				}
			}
			if j.quota != nil && giver.quota == j.quota {
				for i, of := range giver.quotaNeeds {
					freedQuota[i] += of
				}
			}
		}
	}
	return j.budgetAllows(lacks, freed) && j.quotaAllows(lacks, freedQuota)
}

// roomFor counts up to a number of instances of a job that fit, if extra were free besides.
func (p *planner) roomFor(j *job, wanted int64, extra []int64) (room int64) {
	for row := range j.shape.class.nodes.all {
		if room += p.cluster.room(row, j.shape, extra); room >= wanted {
			break
		}
	}
	return room
}
