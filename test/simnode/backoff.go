/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import "time"

// backoffEntry is what a node remembers about the crashes of one container. It outlives a RestartAllContainers, which
// neither obeys nor resets it (measured on a kubelet).
type backoffEntry struct {
	Delay   time.Duration
	Updated time.Time
}

// heldUntil returns the time before which a container that ended at finished must not start again, or false when it may
// start now. The first crash has no entry yet, so the first restart is immediate.
func (b backoffEntry) heldUntil(t Timings, finished, now time.Time) (time.Time, bool) {
	if b.Delay == 0 || b.expired(t, finished) {
		return time.Time{}, false
	}
	until := finished.Add(b.Delay)
	return until, now.Before(until)
}

// afterStart returns the entry to keep once the container is started again after it ended at finished.
func (b backoffEntry) afterStart(t Timings, finished, now time.Time) backoffEntry {
	if b.Delay == 0 || b.expired(t, finished) {
		return backoffEntry{Delay: t.BackoffInitial, Updated: now}
	}
	return backoffEntry{Delay: min(2*b.Delay, t.BackoffMax), Updated: now}
}

// expired: a container that ran long enough since its last restart has earned a clean record.
func (b backoffEntry) expired(t Timings, finished time.Time) bool {
	return finished.Sub(b.Updated) > t.BackoffReset
}
