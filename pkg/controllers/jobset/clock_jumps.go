/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"time"

	"k8s.io/utils/clock"
)

// Times in the status are those of a wall clock, which may be set, and jumps when a virtual machine resumes. The monotonic clock of a
// process does neither. If they differ between two looks, then time that the wall clock shows did not pass, and nobody could be
// seen acting in it: no deadline counts it (P21a).

// clockJumps notices that a wall clock jumped, forward or back.
type clockJumps struct {
	// last is the last look, jumped the first one after the last jump, zero if there was none.
	last, jumped time.Time
}

// smallestJump is more than what a clock that is only slowed down or sped up gains between two looks.
const smallestJump = time.Second

// check looks at a clock that shows a time now, and reports whether it jumped since the last look.
func (c *clockJumps) check(at clock.PassiveClock, now time.Time) bool {
	last := c.last
	if c.last = now; last.IsZero() {
		return false
	}
	// Round strips the reading of the monotonic clock, which Since uses.
	jump := now.Round(0).Sub(last.Round(0)) - at.Since(last)
	if jump.Abs() < smallestJump {
		return false
	}
	c.jumped = now
	return true
}
