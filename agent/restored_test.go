/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"testing"
	"testing/synctest"
)

// TestAStatusThatWentBack: an agent that lifted at S and now reads a smaller
// S knows that the status was reset, even by one.
func TestAStatusThatWentBack(t *testing.T) {
	bubble(t, "C275, C276: a failed worker stays out of the epoch it ran, also when the status went back by one", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(2, 3))
		fake.set(at(2, 2))
		a, b := startAgent(t, fake, "a"), startAgent(t, fake, "b")
		fake.set(at(2, 3))
		synctest.Wait()
		a.want(t, true)
		b.want(t, true)
		a.stop(nil) // the worker of a fails in epoch 3
		<-a.ended
		fake.set(at(1, 2)) // the status of a backup
		synctest.Wait()

		startAgent(t, fake, "a")

		wantReport(t, fake, "a", "3")
		b.wantRestart(t, "lost or restored")
	})
}
