/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// amount is how much of the resource of a column.
type amount struct {
	column int
	of     int64
}

// class are the nodes that some jobs may use, because their constraints are the same.
type class struct {
	nodes set
	// budget is what may still be charged to all of its nodes together (P105, P106), by column.
	budget, whole []int64
	// budgeted: somebody looks at the budget.
	budgeted bool
}

// shape are the jobs whose instances fit on the same nodes.
type shape struct {
	class *class
	needs []amount
	// sorted is the order in which nodes are tried, from a level on.
	sorted *levels
	from   int
	// open are the nodes of which it is not known that they have no room.
	open set
	// candidates are those that have room when they are empty, once somebody counted them.
	candidates *int32
	near       *near // once somebody looked
}

// cluster is what is left on the nodes while a round is planned.
type cluster struct {
	nodes   []*Node // by name
	rows    map[string]int
	columns map[corev1.ResourceName]int
	names   []corev1.ResourceName // by column
	width   int
	// free is what is left, a row for each node; whole is that before any instance.
	free, whole []int64
	levels      []*levels
	classes     []*class
	shapes      []*shape
	quotas      []*quota
}

func newCluster(nodes []Node, columns map[corev1.ResourceName]int) *cluster {
	c := &cluster{columns: columns, names: make([]corev1.ResourceName, len(columns)), width: len(columns), rows: make(map[string]int, len(nodes))}
	for name, column := range columns {
		c.names[column] = name
	}
	for i := range nodes {
		c.nodes = append(c.nodes, &nodes[i])
	}
	slices.SortStableFunc(c.nodes, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	c.whole = make([]int64, len(nodes)*c.width)
	for row, node := range c.nodes {
		c.rows[node.Name] = row
		for name, column := range columns {
			c.whole[row*c.width+column] = node.Allocatable[name] - node.Requested[name]
		}
	}
	c.free = make([]int64, len(c.whole))
	return c
}

// addClass adds the nodes that constraints admit.
func (c *cluster) addClass(where *Constraints, reservePercent int32) *class {
	k := &class{nodes: newSet(len(c.nodes)), whole: make([]int64, c.width), budget: make([]int64, c.width), budgeted: reservePercent > 0}
	for row, node := range c.nodes {
		if !node.Usable || !where.Admits(node) {
			continue
		}
		k.nodes.add(row)
		for column := range c.width {
			k.whole[column] += c.whole[row*c.width+column]
		}
	}
	for column, total := range k.whole {
		percent := int64(reservePercent)
		k.whole[column] = total - (total/100*percent + (total%100*percent+99)/100) // what is reserved is rounded up
	}
	c.classes = append(c.classes, k)
	return k
}

// reset takes all instances off the nodes.
func (c *cluster) reset() {
	copy(c.free, c.whole)
	for _, l := range c.levels {
		l.reset(c)
	}
	for _, k := range c.classes {
		copy(k.budget, k.whole)
	}
	for _, s := range c.shapes {
		copy(s.open, s.class.nodes)
	}
	for _, q := range c.quotas {
		q.reset()
	}
}

// move takes instances of a job off a node, or puts them there: with a sign of -1.
func (c *cluster) move(row int, j *job, sign int64) {
	for _, need := range j.shape.needs {
		c.free[row*c.width+need.column] += sign * need.of
	}
	for _, l := range c.levels {
		l.update(row, c.free[row*c.width+l.column])
	}
	for _, k := range c.classes {
		if k.budgeted && k.nodes.has(row) {
			for _, charge := range j.charges {
				k.budget[charge.column] += sign * charge.of
			}
		}
	}
	if j.quota != nil {
		j.quota.move(j.quotaNeeds, sign)
	}
	if sign < 0 {
		return
	}
	for _, s := range c.shapes {
		if s.class.nodes.has(row) {
			s.open.add(row) // it may have room again
		}
	}
}

// tightest returns the node for the next instance of a shape: of those with room the one with the
// least left, of equals the first by name.
func (c *cluster) tightest(s *shape) (row int, ok bool) {
	for level := s.from; level < levelCount; level++ {
		if s.sorted.count[level] == 0 {
			continue
		}
		for i, rows := range s.sorted.rows[level] {
			for word := rows & s.open[i]; word != 0; word &= word - 1 {
				row := i*64 + bits.TrailingZeros64(word)
				if c.hasRoom(row, s) {
					return row, true
				}
				s.open.remove(row)
			}
		}
	}
	return 0, false
}

func (c *cluster) hasRoom(row int, s *shape) bool {
	for _, need := range s.needs {
		if c.free[row*c.width+need.column] < need.of {
			return false
		}
	}
	return true
}

// room returns how many instances of a shape a node can take, if extra were free there besides.
func (c *cluster) room(row int, s *shape, extra []int64) int64 {
	room := int64(math.MaxInt32)
	for _, need := range s.needs {
		left := c.free[row*c.width+need.column]
		if extra != nil {
			left += extra[row*c.width+need.column]
		}
		if left < need.of {
			return 0
		}
		room = min(room, left/need.of)
	}
	return room
}
