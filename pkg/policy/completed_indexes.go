/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"sort"
	"strconv"
	"strings"
)

// indexSet is a set of completion indexes: intervals, ascending and apart.
type indexSet []interval

type interval struct{ first, last int64 }

// parseIndexes reads the form of a Job's status.completedIndexes, as in "0-2,5".
// Anything else, and indexes at or above the bound, are left out: an index
// that cannot be read is still to run.
func parseIndexes(text string, bound int64) indexSet {
	var set indexSet
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
		if n := len(set); n > 0 && first <= set[n-1].last {
			continue // not ascending: not from the Job controller
		}
		set = append(set, interval{first, last})
	}
	return set
}

func (s indexSet) has(index int64) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].last >= index })
	return i < len(s) && s[i].first <= index
}

// sizeWithin counts the indexes that are in another set too. Both are in order, so each interval is looked at once (C382).
func (s indexSet) sizeWithin(other indexSet) int64 {
	var n int64
	for len(s) > 0 && len(other) > 0 {
		n += max(0, min(s[0].last, other[0].last)-max(s[0].first, other[0].first)+1)
		if s[0].last < other[0].last {
			s = s[1:]
		} else {
			other = other[1:]
		}
	}
	return n
}

func (s indexSet) size() int64 {
	var n int64
	for _, in := range s {
		n += in.last - in.first + 1
	}
	return n
}
