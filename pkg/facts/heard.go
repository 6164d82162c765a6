/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import "time"

// Heard is what reads past the cache have shown of the Lease that the kubelet of a node renews (P172). Times are those of the reader's
// own clock: those in a Lease are of another, and are never compared with it.
//
//	read 1          read 2          read 3          read 4
//	sent  answered  sent  answered  sent  answered  sent  answered
//	      |<------------- unchanged for ------------>|
//
// A change may come just before the answer to the first of these reads, or just after the last one was sent. A reader that was frozen,
// or whose reads failed, begins again: the kubelet could not renew its Lease either while the API server was away.
type Heard struct {
	// Gone: there is no such node any more.
	Gone bool
	// Version is that of the Lease at the last read, empty if there was none, and Lasts how long it lasts.
	Version string
	Lasts   time.Duration
	// From and To are when the first of the reads that show this version was answered, and when the last was sent.
	From, To time.Time
	// Renewed: the node was heard from between the last two reads.
	Renewed bool
}

const (
	// HeardInterval is how often the Lease of a node is read while somebody waits for it.
	HeardInterval = 10 * time.Second
	// longestGap between two reads is what a busy reader needs; a longer one was frozen, or its reads failed.
	longestGap = 2*HeardInterval + HeardInterval/2
	// shortestSilence is more than what a kubelet needs that fails to renew once.
	shortestSilence = 25 * time.Second
)

// Read returns what is known after a read that was sent and answered at these times: the version of the Lease, and how long it lasts.
func (h Heard) Read(version string, lasts time.Duration, sent, answered time.Time) Heard {
	next := Heard{Version: version, Lasts: lasts, From: answered, To: sent}
	if h.Version == "" || sent.Sub(h.To) > longestGap {
		return next
	}
	if next.Renewed = h.Version != version; !next.Renewed {
		next.From = h.From
	}
	return next
}

// Unheard returns what is known of a node that has no Lease: that it is gone, or nothing, so it is never silent.
func Unheard(gone bool, sent time.Time) Heard { return Heard{Gone: gone, To: sent} }

// Older reports whether the last read is so long ago.
func (h Heard) Older(now time.Time, than time.Duration) bool { return now.Sub(h.To) > than }

// Due reports whether it is time for the next read.
func (h Heard) Due(now time.Time) bool { return h.Wait(now) <= 0 }

// Wait returns how long it is until the next read: an interval, or until a silence may have been long enough.
func (h Heard) Wait(now time.Time) time.Duration {
	wait := HeardInterval - now.Sub(h.To)
	if h.Version != "" && h.SilentFor() < h.enough() {
		wait = min(wait, h.enough()-now.Sub(h.From))
	}
	return wait
}

// enough is how long a node that is not lost is never silent for.
func (h Heard) enough() time.Duration { return max(shortestSilence, h.Lasts*5/8) }

// Silent reports whether nothing was heard from the node for so long that it is lost, or cut off. What was read long ago says nothing.
func (h Heard) Silent(now time.Time) bool {
	if h.Older(now, longestGap) {
		return false
	}
	return h.Gone || h.Version != "" && h.SilentFor() >= h.enough()
}

// SilentFor returns how long the Lease is known not to have changed.
func (h Heard) SilentFor() time.Duration { return max(0, h.To.Sub(h.From)) }
