/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import "slices"

// placeOne puts one more instance on a node. The budget does not matter for one that the job has anyway.
func (p *planner) placeOne(j *job, budgeted bool) bool {
	if budgeted && !p.affords(j, 1) {
		return false
	}
	row, ok := p.cluster.tightest(j.shape)
	if !ok {
		return false
	}
	if j.quota != nil && j.Started && !budgeted {
		j.quota.pay(j.quotaNeeds)
	}
	p.cluster.move(row, j, -1)
	j.placed = append(j.placed, row)
	return true
}

// affords reports whether the budget of the nodes of a job, and the quota of its namespace, allow for so many more instances.
func (p *planner) affords(j *job, count int64) bool {
	return j.budgetAllows(count, nil) && j.quotaAllows(count, nil)
}

// budgetAllows reports the first, if freed were free besides.
func (j *job) budgetAllows(count int64, freed []int64) bool {
	k := j.shape.class
	return !k.budgeted || !slices.ContainsFunc(j.budget, func(a amount) bool {
		left := k.budget[a.column]
		if freed != nil {
			left += freed[a.column]
		}
		return a.of > 0 && left/a.of < count
	})
}

// quotaAllows reports the second, likewise.
func (j *job) quotaAllows(count int64, freed []int64) bool {
	if j.quota == nil {
		return true
	}
	_, lacks := j.quota.lacks(j.quotaNeeds, count, freed)
	return !lacks
}
