/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAGateThatIsAbandonedHoldsNoThread(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gate")
	for i := range 2000 {
		g, err := newGate(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.attend([]byte("{}\n"), make(chan os.Signal, 1)); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(i%100) * time.Microsecond) // at any moment of whoever attends it
		g.abandon()
		select {
		case <-g.attended:
		case <-time.After(testPatience):
			t.Fatalf("P160: after %d gates one is still attended that was abandoned", i)
		}
		if g.passed.Load() {
			t.Fatal("P160: nobody came to the gate, and somebody was let through")
		}
	}
}
