/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

func newTestGate(t *testing.T) *gate {
	t.Helper()
	g, err := newGate()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.abandon)
	return g
}

// says is the word of a program that it has come to its gate.
func (g *gate) says(t *testing.T) {
	t.Helper()
	if _, err := syscall.Write(g.teller, []byte("\n")); err != nil {
		t.Fatal(err)
	}
}

func TestAGateThatIsAbandonedHoldsNobody(t *testing.T) {
	t.Parallel()
	for i := range 2000 {
		g := newTestGate(t)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			g.attend(make(chan os.Signal, 1))
		}()
		<-time.After(time.Duration(i%100) * time.Microsecond) // at any moment of whoever attends it
		g.abandon()
		select {
		case <-ended:
		case <-time.After(testPatience):
			t.Fatalf("P160: after %d gates one is still attended that was abandoned", i)
		}
		if g.passed() {
			t.Fatal("P160: nobody came to the gate, and somebody was let through")
		}
	}
}

func TestWhoIsLetThroughAGate(t *testing.T) {
	t.Parallel()
	const line = `{"JOBSET_EPOCH":"2"}` + "\n"
	never, soon := func() bool { return false }, func() bool { return true }
	for name, tc := range map[string]struct {
		// comes: the program says that it is at its gate; reads is how much it reads there.
		comes bool
		reads int
		gone  func() bool
		err   error
	}{
		"P160a: one that says nothing gets nothing":                 {false, 0, never, errNotThere},
		"P160a: one that has come and reads is the program":         {true, len(line), never, nil},
		"P160a: the line is taken back from one that reads nothing": {true, 0, never, errNotRead},
		"P160a: and from one that reads a part":                     {true, 5, never, errNotRead},
		"P160a: one that has ended gets nothing, and nobody waits":  {true, 0, soon, errNotRead},
		"P62 P160a: one that read it all and then ended has run":    {true, len(line), soon, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTestGate(t)
			if tc.comes {
				g.says(t)
			}
			got := make(chan []byte, 1)
			reader := os.NewFile(uintptr(g.reader), "gate")
			g.reader = -1
			go func() {
				part := make([]byte, tc.reads)
				_, _ = io.ReadFull(reader, part)
				got <- part
			}()
			if tc.reads > 0 { // it is at its gate
				gone := tc.gone
				tc.gone = func() bool { return bytesIn(g.rest) < len(line) && gone() }
			}
			if err := g.pass([]byte(line), tc.gone); !errors.Is(err, tc.err) {
				t.Fatalf("got %v, want %v", err, tc.err)
			}
			if part := <-got; string(part) != line[:tc.reads] {
				t.Errorf("it read %q", part)
			}
			if tc.err == nil { // its reader comes to the end
				if rest, err := io.ReadAll(reader); err != nil || len(rest) != 0 {
					t.Errorf("P160a: behind its line it reads %q, %v", rest, err)
				}
			} else if n := bytesIn(g.rest); n > 0 {
				t.Errorf("P160a: %d bytes are left in the gate", n)
			}
		})
	}
}
