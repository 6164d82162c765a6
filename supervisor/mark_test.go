/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestStartsAndEndsOfWorkersAreMarked(t *testing.T) {
	ranked := Event{Message: &protocol.Message{Type: protocol.Start, Epoch: 3, World: &protocol.World{Size: 4, Rank: 2}}}
	start := protocol.Mark{Run: protocol.RunStart, Epoch: 3, Rank: 2}
	end := func(exit protocol.Exit) protocol.Mark {
		return protocol.Mark{Run: protocol.RunEnd, Epoch: 3, Rank: 2, Exit: exit}
	}
	for name, tc := range map[string]struct {
		events []Event
		want   []protocol.Mark
	}{
		"P129: with epoch and rank": {[]Event{ranked, begun, exit(1)}, []protocol.Mark{start, end(protocol.Exit{Code: 1})}},
		"P129: an end that was asked for says so": {
			[]Event{ranked, begun, stopIn(2), exit(143)}, []protocol.Mark{start, end(protocol.Exit{Code: 143, Signal: 15, Stopped: true})},
		},
		"P102 P129: without a rank where the agent tells none": {[]Event{startAt(1)}, []protocol.Mark{{Run: protocol.RunStart, Epoch: 1, Rank: protocol.NoRank}}},
		"P34 P129: without an epoch in a bypass":               {[]Event{bypass()}, []protocol.Mark{{Run: protocol.RunStart, Rank: protocol.NoRank}}},
		"P129: a start that is refused is none":                {[]Event{ranked, begun, startAt(4)}, []protocol.Mark{start}},
	} {
		t.Run(name, func(t *testing.T) {
			state, marks := State{Phase: Held}, []protocol.Mark(nil)
			for _, e := range tc.events {
				var actions []Action
				state, actions = Step(state, e, Settings{Container: "w"})
				for _, a := range actions {
					if a.Mark != nil {
						marks = append(marks, *a.Mark)
					}
				}
			}
			if diff := cmp.Diff(tc.want, marks); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
		})
	}
}
