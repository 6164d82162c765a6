/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"sort"
	"strconv"
	"strings"
)

// IndexSet is a set of completion indexes: intervals, ascending and apart.
type IndexSet []interval

type interval struct{ First, Last int64 }

// ParseIndexes reads the form of a Job's status.completedIndexes, as in "0-2,5".
// Anything else, and indexes at or above the bound, are left out: an index
// that cannot be read is still to run.
func ParseIndexes(text string, bound int64) IndexSet {
	var set IndexSet
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.ParseInt(low, 10, 32)
		last, err2 := strconv.ParseInt(high, 10, 32)
		last = min(last, bound-1)
		if err1 != nil || err2 != nil || first < 0 || first > last {
			continue
		}
		if n := len(set); n > 0 && first <= set[n-1].Last {
			continue // not ascending: not from the Job controller
		}
		set = append(set, interval{first, last})
	}
	return set
}

// Has reports whether an index is in the set.
func (s IndexSet) Has(index int64) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].Last >= index })
	return i < len(s) && s[i].First <= index
}

// SizeWithin counts the indexes that are in another set too. Both are in order, so each interval is looked at once (C382).
func (s IndexSet) SizeWithin(other IndexSet) int64 {
	var n int64
	for len(s) > 0 && len(other) > 0 {
		n += max(0, min(s[0].Last, other[0].Last)-max(s[0].First, other[0].First)+1)
		if s[0].Last < other[0].Last {
			s = s[1:]
		} else {
			other = other[1:]
		}
	}
	return n
}

// Size counts the indexes.
func (s IndexSet) Size() int64 {
	var n int64
	for _, in := range s {
		n += in.Last - in.First + 1
	}
	return n
}
