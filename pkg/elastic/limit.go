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

	corev1 "k8s.io/api/core/v1"
)

// Limit is what keeps a job from one more instance: the first thing that does, of those that may (P113).
type Limit struct {
	// Reason is one of the constants below, Resource the one that is lacking, if one is. With the same of these and Until, a
	// limit is the same, whatever else its message says.
	Reason, Resource, Message string
	// Until is when it may be over, zero if that is not known.
	Until time.Time
}

// The reasons of limits, in the order in which they are looked for.
const (
	// LimitFixed: its size is not to change. Who planned knows why.
	LimitFixed = "Fixed"
	// LimitWaits: it waits, as the condition ElasticWaiting says.
	LimitWaits = "Waits"
	// LimitCeiling: more were refused a short time ago.
	LimitCeiling = "Ceiling"
	// LimitCooldown: its size was changed a short time ago.
	LimitCooldown = "Cooldown"
	// LimitNoNode: no node is ready and admitted.
	LimitNoNode = "NoNode"
	// LimitNoRoom: a resource is lacking on each node.
	LimitNoRoom = "NoRoom"
	// LimitQuota: what the quotas of its namespace allow is used.
	LimitQuota = "Quota"
	// LimitShare: what all nodes have together less the reserve, or the limits of all jobs there.
	LimitShare = "Share"
)

// limitOf says what keeps a job small after the last round, nil if it has its maximum.
func (p *planner) limitOf(j *job, d *Decision) *Limit {
	limit := func(reason, message string) *Limit { return &Limit{Reason: reason, Message: message} }
	switch {
	case j.min == j.max:
		return limit(LimitFixed, "its size is not to change")
	case d.State == Waits || d.State == Stuck || d.State == Overcommits:
		return limit(LimitWaits, d.Because)
	case d.Desired >= j.max && d.State != Cools:
		return nil
	case j.ceiling != nil && d.Desired >= j.most:
		return &Limit{Reason: LimitCeiling, Message: j.ceiling.String(), Until: j.ceiling.Until}
	case d.State == Cools:
		return &Limit{Reason: LimitCooldown, Until: d.Until, Message: fmt.Sprintf("%s at %s, and changes again after %s", j.whatChanged(), stamp(j.JobSetResized), stamp(d.Until))}
	}
	if j.quota != nil {
		if at, lacks := j.quota.lacks(j.quotaNeeds, 1, nil); lacks {
			name := j.quota.limits[at].name
			return &Limit{Reason: LimitQuota, Resource: string(name), Message: fmt.Sprintf("the quota of the namespace for %s: %s left of the %s that one more needs",
				j.quota.limits[at], quantity(name, max(0, j.quota.left[at])), quantity(name, j.quotaNeeds[at]))}
		}
	}
	row, lacking, nodes := p.nearest(j)
	switch {
	case nodes == 0:
		return limit(LimitNoNode, "no node is ready, not cordoned, and admitted by node selector, required affinity and tolerations")
	case len(lacking) > 0:
		name := p.cluster.names[lacking[0].column]
		if name == nowhere {
			return limit(LimitNoRoom, "it requests a resource that no node has")
		}
		free := max(0, p.cluster.free[row*p.cluster.width+lacking[0].column])
		return &Limit{Reason: LimitNoRoom, Resource: string(name), Message: fmt.Sprintf("%s: none of %d nodes has room; the closest, %s, has %s left of the %s that one more needs",
			name, nodes, p.cluster.nodes[row].Name, quantity(name, free), quantity(name, lacking[0].of))}
	}
	return limit(LimitShare, "what its nodes have together, less the reserve and what all elastic jobs may use there by their limits, is used")
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// quantity writes an amount with its unit.
func quantity(name corev1.ResourceName, of int64) string {
	if name == corev1.ResourceCPU {
		return fmt.Sprintf("%dm", of)
	}
	return fmt.Sprint(of)
}

// near is the node that lacks the fewest resources for one more instance of a shape, of equals the first by name.
type near struct {
	row int
	// lacking is what it lacks, the accelerator first.
	lacking []amount
	// nodes is how many were looked at.
	nodes int
}

// nearest looks once for all jobs of a shape, after the last round.
func (p *planner) nearest(j *job) (nearest int, lacking []amount, nodes int) {
	if n := j.shape.near; n != nil {
		return n.row, n.lacking, n.nodes
	}
	c := p.cluster
	for row := range j.shape.class.nodes.all {
		var lacks []amount
		for _, need := range j.shape.needs {
			if c.free[row*c.width+need.column] < need.of {
				lacks = append(lacks, need)
			}
		}
		if nodes++; nodes == 1 || len(lacks) < len(lacking) {
			nearest, lacking = row, lacks
		}
	}
	slices.SortFunc(lacking, func(a, b amount) int {
		switch {
		case a.column == j.accelerator:
			return -1
		case b.column == j.accelerator:
			return 1
		}
		return strings.Compare(string(c.names[a.column]), string(c.names[b.column]))
	})
	j.shape.near = &near{nearest, lacking, nodes}
	return nearest, lacking, nodes
}
