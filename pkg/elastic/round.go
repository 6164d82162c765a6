/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"container/heap"
	"slices"
)

// round plans once from the given sizes, and returns the sizes that it leads to.
//
// Instances that are not bound are placed as growth would place them, so that the next round, in which
// those that are planned now are pending, places them on the same nodes and ends as this one.
// That is right if no job has to give, and if no pending instance loses a place that way.
func (p *planner) round(sizes []int32) []int32 {
	if fits := p.plain(sizes); !fits || !p.keepsPending(sizes) {
		p.careful(sizes)
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

// plain is the round in which no job gives. It reports whether that is enough. Where it is, the careful one would take
// ten times as long with quotas and spreads to keep (BenchmarkMake, P112).
func (p *planner) plain(sizes []int32) bool {
	p.settle(sizes)
	for _, jobs := range [][]*job{p.gpu, p.cpu} {
		p.placePending(jobs, true)
		if _, enough := p.minimums(jobs, false); !enough {
			return false
		}
		p.fill(jobs, func(j *job) int32 { return j.most })
	}
	return true
}

// keepsPending reports whether as many pending instances have a place after a plain round as would have one
// if they were placed before everything else. It leaves a plain round behind if so.
func (p *planner) keepsPending(sizes []int32) bool {
	var lost []int32
	for _, j := range p.jobs {
		lost = append(lost, j.pending)
	}
	if slices.Max(append(lost, 0)) == 0 {
		return true
	}
	p.settle(sizes)
	for _, jobs := range [][]*job{p.gpu, p.cpu} {
		p.placePending(jobs, false)
	}
	for i, j := range p.jobs {
		if j.pending < lost[i] {
			return false
		}
	}
	return p.plain(sizes)
}

// careful is the round in which pending instances are placed before anything else, and jobs give. If
// one does, no job grows: that is for the next round.
func (p *planner) careful(sizes []int32) {
	p.settle(sizes)
	for _, jobs := range [][]*job{p.gpu, p.cpu} {
		p.placePending(jobs, false)
		for _, j := range jobs {
			j.sortPlaced()
		}
		gifts, _ := p.minimums(jobs, true)
		p.gifts = append(p.gifts, gifts...)
		if len(gifts) > 0 {
			continue
		}
		p.fill(jobs, func(j *job) int32 { return j.most })
	}
}

// placePending is step 2: the instances that running jobs have and that are not bound, or only
// those that they need for their minimums.
func (p *planner) placePending(jobs []*job, onlyMinimums bool) {
	p.fill(jobs, func(j *job) int32 {
		switch {
		case !j.Started:
			return 0
		case onlyMinimums:
			return j.min
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

// minimums is step 3: room is made for the minimums of the jobs that never ran and are below theirs.
// If no one may give, it stops at the first that would need it, and says that this is not enough.
func (p *planner) minimums(jobs []*job, mayGive bool) (all []gift, enough bool) {
	isBelow := func(j *job) bool { return !j.Started && j.has() < j.min }
	below := slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return !isBelow(j) })
	if len(below) == 0 {
		return nil, true
	}
	slices.SortFunc(below, compareJobs)
	p.countReclaim(jobs)
	for _, j := range below {
		lacks := int64(j.min - j.has())
		if !p.wouldFit(j, lacks) {
			j.waits = true
			continue
		}
		gifts, fits := p.collect(j, lacks, jobs, mayGive && !j.Absent)
		if !fits && j.Absent {
			j.waits, j.ungiven = true, true
			continue
		}
		if !fits {
			return nil, false
		}
		for range lacks {
			p.placeOne(j, false)
		}
		all = append(all, p.giveBack(gifts)...)
	}
	return all, true
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
