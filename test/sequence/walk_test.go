/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	seedFlag  = flag.Int64("sequence.seed", -1, "make only the random schedule of this seed, and show it")
	walksFlag = flag.Int64("sequence.walks", 0, "how many random schedules are made; 0: 200, 5,000 or 100,000 by the level")
)

// TestRandomSchedules makes long schedules for groups of up to 64 workers, in which all that
// the model knows may happen, and looks for properties 1 to 6.
func TestRandomSchedules(t *testing.T) {
	if *seedFlag >= 0 {
		w := newWalk(*seedFlag)
		w.trace = newTrace(w.w)
		err := w.run()
		t.Logf("rjobs %v, maxRestarts %d, caches up to %d events behind\n%s\n%s", w.sc.rjobs, w.sc.maxRestarts, w.sc.lag, w.trace, legend)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	walks := *walksFlag
	if walks == 0 {
		walks = map[level]int64{quick: 200, bounded: 5_000, full: 100_000}[chosenLevel(t)]
	}
	var seed, steps atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for at := seed.Add(1) - 1; at < walks && !t.Failed(); at = seed.Add(1) - 1 {
				found, n := findByWalk(at)
				steps.Add(int64(n))
				if found != nil {
					t.Errorf("%v\n%s\n%s\nto see it again: go test ./test/sequence -run TestRandomSchedules -sequence.seed=%d", found.err, found.trace, legend, at)
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d schedules, %d steps", walks, steps.Load())
}
