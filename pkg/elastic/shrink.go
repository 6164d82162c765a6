/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"slices"
	"time"
)

// shrink returns the sizes with which jobs go on that have lacked instances for too long (P108). What is
// not taken away is placed again, since an instance of the highest index leaves its node to one that is
// missing; the node may then go to another job, so this is repeated.
func (p *planner) shrink(start []int32) []int32 {
	sizes := slices.Clone(start)
	for i, j := range p.jobs {
		if j.retreats > 0 {
			sizes[i] = min(sizes[i], j.retreats)
		}
	}
	for again := true; again; {
		again = false
		lacks := p.lacking(sizes)
		for i, j := range p.jobs {
			if j.lost == 0 {
				j.lacks = lacks[i]
			}
			if lacks[i] > 0 && p.mayShrink(j, sizes[i]-lacks[i]) {
				sizes[i] -= lacks[i]
				j.lost += lacks[i]
				again = true
			}
		}
	}
	return sizes
}

// lacking returns how many instances of each running job no node can take, before anybody grows or gives.
func (p *planner) lacking(sizes []int32) []int32 {
	p.settle(sizes)
	lacks := make([]int32, len(p.jobs))
	for _, jobs := range [][]*job{p.gpu, p.cpu} {
		p.placePending(jobs)
	}
	for i, j := range p.jobs {
		if !j.Running {
			lacks[i] = j.pending
		}
	}
	return lacks
}

// mayShrink reports whether a job goes on with the instances that have a node. If its time has come and
// it cannot, it says why.
func (p *planner) mayShrink(j *job, left int32) bool {
	j.stuck = ""
	after := p.in.ShrinkAfter
	if !j.Shrinks || after <= 0 || j.Lacking.IsZero() || p.in.Now.Before(j.Lacking.Add(after)) {
		return false
	}
	switch {
	case left < j.min:
		j.stuck = fmt.Sprintf("%d of its %d Pods have had no node for more than %s, and it cannot continue with fewer than %d: it waits for nodes",
			j.lacks, j.now, after, j.min)
	case len(j.Held) > 0 && !j.MayForce:
		j.stuck = fmt.Sprintf("%d of its %d Pods have had no node for more than %s, and Pods on %s keep their indexes: it waits until the nodes are ready, "+
			"or are deleted with their Pods; spec.faultTolerance allows to delete such Pods by force", j.lacks, j.now, after, firstOf(j.Held))
	}
	return j.stuck == ""
}

func (j *job) whyShrink(after time.Duration, size int32) string {
	return fmt.Sprintf("%d of its %d Pods have had no node for more than %s: it continues with %d", j.lost, j.now, after, size)
}
