/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"math"
	"testing"
	"time"
)

func TestTheAdviceIsFiveTimesTheLongestGap(t *testing.T) {
	t.Parallel()
	for gap, want := range map[time.Duration]int32{
		-time.Second: 0, 0: 0, time.Millisecond: MinStallSeconds, time.Second: 5, 1001 * time.Millisecond: 6, 12 * time.Second: 60, math.MaxInt64: math.MaxInt32,
	} {
		if got := AdviseStall(gap); got != want {
			t.Errorf("P132: after a gap of %v %d s are proposed, want %d", gap, got, want)
		}
	}
}
