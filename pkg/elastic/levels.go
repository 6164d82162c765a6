/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import "math/bits"

// set is a set of nodes by row. With one word for 64 nodes a search looks at thousands of nodes
// in less than a microsecond.
type set []uint64

func newSet(size int) set { return make(set, (size+63)/64) }

func (s set) add(row int)      { s[row/64] |= 1 << (row % 64) }
func (s set) remove(row int)   { s[row/64] &^= 1 << (row % 64) }
func (s set) has(row int) bool { return s[row/64]&(1<<(row%64)) != 0 }

// all yields the rows of a set in order.
func (s set) all(yield func(row int) bool) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(i*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// exact is up to which amount levels tell every two amounts apart.
const exact = 64

// levelOf sorts amounts: up to 63 each has a level of its own, above it each power of two.
func levelOf(amount int64) int {
	switch {
	case amount <= 0:
		return 0
	case amount < exact:
		return int(amount)
	}
	return exact + bits.Len64(uint64(amount)) - bits.Len64(exact)
}

const levelCount = exact + 64 - 6

// levels keep the nodes sorted by what is left of one resource.
type levels struct {
	column int
	// unit is the amount that makes a level: a device, or a CPU.
	unit  int64
	of    []uint8
	rows  [levelCount]set
	count [levelCount]int
}

func newLevels(column int, unit int64, size int) *levels {
	l := &levels{column: column, unit: unit, of: make([]uint8, size)}
	for i := range l.rows {
		l.rows[i] = newSet(size)
	}
	return l
}

// reset sorts all nodes again.
func (l *levels) reset(c *cluster) {
	for i := range l.rows {
		clear(l.rows[i])
		l.count[i] = 0
	}
	for row := range l.of {
		level := levelOf(c.free[row*c.width+l.column] / l.unit)
		l.of[row] = uint8(level)
		l.rows[level].add(row)
		l.count[level]++
	}
}

// update moves a node to its level.
func (l *levels) update(row int, free int64) {
	was, is := int(l.of[row]), levelOf(free/l.unit)
	if was == is {
		return
	}
	l.rows[was].remove(row)
	l.count[was]--
	l.of[row] = uint8(is)
	l.rows[is].add(row)
	l.count[is]++
}
