/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Headroom is what the quotas of a namespace leave for more Pods (P112): of requests, which include the number of Pods, and
// of limits. What is absent is not limited.
type Headroom struct {
	Request, Limit Resources
}

// quota is what the jobs of a namespace may have together. It limits growth only: Pods that exist were let in.
type quota struct {
	limits []quotaLimit
	// whole is what is left of each, and what the Pods that exist use; left is what remains of it in a round.
	whole, left []int64
	// owed is what jobs that ran have anyway and that has no node yet: no other job grows into it.
	owed []int64
}

// quotaLimit is one amount that a quota limits.
type quotaLimit struct {
	name     corev1.ResourceName
	ofLimits bool
}

// newQuota sorts what is limited, so that of several that lack the same is named each time.
func newQuota(h Headroom) *quota {
	q := &quota{}
	for name := range h.Request {
		q.limits = append(q.limits, quotaLimit{name, false})
	}
	for name := range h.Limit {
		q.limits = append(q.limits, quotaLimit{name, true})
	}
	slices.SortFunc(q.limits, func(a, b quotaLimit) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.String(), b.String()))
	})
	for _, l := range q.limits {
		from := h.Request
		if l.ofLimits {
			from = h.Limit
		}
		q.whole = append(q.whole, min(mostOwed, max(0, from[l.name])))
	}
	q.left, q.owed = slices.Clone(q.whole), make([]int64, len(q.whole))
	return q
}

// String is what users call the entry of a quota.
func (l quotaLimit) String() string {
	switch {
	case l.ofLimits:
		return "limits." + string(l.name)
	case l.name == corev1.ResourcePods:
		return "pods"
	}
	return "requests." + string(l.name)
}

// needs returns what one instance takes of each, and adds what the instances that exist have.
func (q *quota) needs(j *Job) []int64 {
	needs := make([]int64, len(q.limits))
	for i, l := range q.limits {
		switch {
		case l.ofLimits:
			needs[i] = j.Limit[l.name]
		case l.name == corev1.ResourcePods:
			needs[i] = 1
		default:
			needs[i] = j.Request[l.name]
		}
		needs[i] = min(needs[i], mostOne)
		q.whole[i] = plus(q.whole[i], times(needs[i], int64(max(0, j.Exist))))
	}
	return needs
}

func (q *quota) reset() {
	copy(q.left, q.whole)
	clear(q.owed)
}

// owe adds instances of a job that it has anyway.
func (q *quota) owe(needs []int64, count int64) {
	for i, of := range needs {
		q.owed[i] = plus(q.owed[i], times(of, count))
	}
}

// pay takes one of them away again: it has a node now.
func (q *quota) pay(needs []int64) {
	for i, of := range needs {
		q.owed[i] = max(0, q.owed[i]-of)
	}
}

// move takes instances out of a quota, or puts them into it: with a sign of -1.
func (q *quota) move(needs []int64, sign int64) {
	for i, of := range needs {
		q.left[i] += sign * of
	}
}

// lacks returns the first limit that so many more instances would exceed, if freed were free besides.
func (q *quota) lacks(needs []int64, count int64, freed []int64) (limit int, lacks bool) {
	for i, of := range needs {
		left := q.left[i] - q.owed[i]
		if freed != nil {
			left += freed[i]
		}
		if of > 0 && left/of < count {
			return i, true
		}
	}
	return 0, false
}

// An author may ask for 2147483647 Pods with limits of 2^62 each (C385): what is more than enough ends at these, so that
// no sum and no difference overflows.
const (
	mostOwed = math.MaxInt64 >> 2
	mostOne  = math.MaxInt64 >> 22
)

func plus(a, b int64) int64 { return min(mostOwed, a+min(mostOwed, b)) }

func times(of, count int64) int64 {
	if of > 0 && count > mostOwed/of {
		return mostOwed
	}
	return of * count
}
