/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"cmp"
	"slices"
	"strings"
)

// score is how much a job has of what it wants above its minimum (P103), exactly.
type score struct{ of, in int64 }

// scoreOf returns the score of a job with a number of instances. One that cannot change is fulfilled.
func scoreOf(has, least, most int32) score {
	if least >= most {
		return score{1, 1}
	}
	return score{int64(has) - int64(least), int64(most) - int64(least)}
}

func (s score) float() float64 { return float64(s.of) / float64(s.in) }

func (s score) compare(other score) int { return cmp.Compare(s.of*other.in, other.of*s.in) }

// compareJobs is the order of P104 and P105: the first has least of what it wants. Of equals the
// one with the smaller instances comes first, so that more of them get something.
func compareJobs(a, b *job) int {
	if c := a.score().compare(b.score()); c != 0 {
		return c
	}
	if c := slices.Compare(a.ties, b.ties); c != 0 {
		return c
	}
	return compareKeys(a.Key, b.Key)
}

func compareKeys(a, b Key) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.JobSet, b.JobSet),
		strings.Compare(a.ReplicatedJob, b.ReplicatedJob))
}

// queue is a heap of jobs.
type queue struct {
	jobs []*job
	// before reports whether a job leaves the queue before another.
	before func(a, b *job) bool
}

func leastFulfilled(a, b *job) bool { return compareJobs(a, b) < 0 }
func mostFulfilled(a, b *job) bool  { return compareJobs(a, b) > 0 }

func (q *queue) Len() int           { return len(q.jobs) }
func (q *queue) Less(i, k int) bool { return q.before(q.jobs[i], q.jobs[k]) }
func (q *queue) Swap(i, k int)      { q.jobs[i], q.jobs[k] = q.jobs[k], q.jobs[i] }
func (q *queue) Push(x any)         { q.jobs = append(q.jobs, x.(*job)) }
func (q *queue) Pop() any {
	last := q.jobs[len(q.jobs)-1]
	q.jobs = q.jobs[:len(q.jobs)-1]
	return last
}

// Score returns how much a job with a number of instances has of what it wants above its minimum (P103).
func Score(has, least, most int32) float64 { return scoreOf(has, least, most).float() }
