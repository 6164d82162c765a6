/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"sync/atomic"
	"time"
)

// A JobSet of thousands of Pods must not cause a pass, or a status write that every agent receives, for
// each single change. Three limits prevent that:
//
//	any event                                passInterval between two passes
//	a Job that changed nothing but counts    a pass after countsDelay
//	a pass that found nothing but counts     countsDelay between two writes
//
// A delay is always left to the queue, as AddAfter or RequeueAfter, and the queue merges requests for one
// JobSet. A queue of our own could hold requests back by itself, but would be more code than startPass.

// passInterval is the least time between two passes over one JobSet.
// Thousands of Pods report within a second; 20 passes a second see them all.
const passInterval = 50 * time.Millisecond

// Passes over more than 2,000 Jobs are further apart, since those of a start cost the square of its Jobs: 250 ms from 10,000 Jobs
// on while passes change Jobs, which does not slow down a start at 500 requests a second, as a pass creates up to 250; 1 s from
// 12,000 on once they change none, unless they restart in place. A pass that follows a pause starts at once. Above 50,000 Jobs leastPerJob
// counts: reading a Job takes one or two microseconds, so passes never take most of a worker's time.
const (
	passIntervalPerJob = 25 * time.Microsecond
	longPassInterval   = 250 * time.Millisecond
	leastPerJob        = 5 * time.Microsecond

	manyJobs            = 2000
	calmIntervalPerMore = 100 * time.Microsecond
	longCalmInterval    = time.Second
)

// countsDelayPerJob and maxCountsDelay set how long a change of nothing but
// counts waits for others of the same JobSet: 50 ms at 100 Jobs, 2 s from 4,000.
const (
	countsDelayPerJob = 500 * time.Microsecond
	maxCountsDelay    = 2 * time.Second
)

// pace spaces out the passes over one JobSet and the writes of its counts.
type pace struct {
	// jobs is how many Jobs the last pass saw. Event handlers read it.
	jobs atomic.Int64
	// lastPass and lastWrite are when the last pass started, and when the status was last written.
	lastPass, lastWrite time.Time
	// calm: the last pass changed no object but the status, left no Job to create or resume, and no group waits for the next one.
	calm bool
}

// startPass returns how long to wait before a pass may start, 0 if it starts now.
func (p *pace) startPass(now time.Time) time.Duration {
	jobs := time.Duration(p.jobs.Load())
	interval := max(passInterval, min(jobs*passIntervalPerJob, longPassInterval), jobs*leastPerJob)
	if p.calm {
		interval = max(interval, min((jobs-manyJobs)*calmIntervalPerMore, longCalmInterval))
	}
	if wait := interval - now.Sub(p.lastPass); wait > 0 && wait <= interval {
		return wait
	}
	p.lastPass = now
	return 0
}

// countsDelay returns how long a change of nothing but counts may wait for others.
func (p *pace) countsDelay() time.Duration {
	return min(time.Duration(p.jobs.Load())*countsDelayPerJob, maxCountsDelay)
}

// untilWrite returns how long a write of nothing but counts has to wait.
func (p *pace) untilWrite(now time.Time, interval time.Duration) time.Duration {
	return max(0, interval-now.Sub(p.lastWrite))
}
