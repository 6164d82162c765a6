/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"math"
	"time"
)

// adviceFactor is by how much a limit should exceed the longest time between two signs that was seen.
const adviceFactor = 5

// AdviseStall proposes stallSeconds for workers of which the longest time between two signs is known: five times that, rounded
// up to seconds (P132). 0: nothing is known, so there is nothing to propose.
func AdviseStall(longestGap time.Duration) int32 {
	if longestGap <= 0 {
		return 0
	}
	seconds := math.Ceil(adviceFactor * longestGap.Seconds())
	return int32(min(max(seconds, MinStallSeconds), math.MaxInt32))
}
