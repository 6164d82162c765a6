/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func plannedStop(grace int32, signal string) Event {
	return Event{Message: &protocol.Message{Type: protocol.Stop, GraceSeconds: 2, Planned: &protocol.PlannedStop{GraceSeconds: grace, Signal: signal}}}
}

func TestPlannedStops(t *testing.T) {
	runs := []Event{startAt(1), begun}
	saves := after(runs, plannedStop(60, "USR1"))
	for name, tc := range map[string]struct {
		events []Event
		want   string
	}{
		"P142: TERM, and its time":                         {after(runs, plannedStop(60, "TERM")), "signal 15, timeout 1m0s"},
		"P142: TERM if no signal is named":                 {after(runs, plannedStop(60, "")), "signal 15, timeout 1m0s"},
		"P142: another signal":                             {saves, "signal 10, timeout 1m0s"},
		"P142: the other signal":                           {after(runs, plannedStop(60, "USR2")), "signal 12, timeout 1m0s"},
		"P142: one that only a later version knows":        {after(runs, plannedStop(60, "HUP")), "signal 15, timeout 1m0s"},
		"P142: more time than may be given":                {after(runs, plannedStop(1<<30, "")), "signal 15, timeout 5m0s"},
		"P142: no time is the shortest":                    {after(runs, plannedStop(-1, "")), "signal 15, timeout 1s"},
		"P142: the signal goes once":                       {after(saves, plannedStop(60, "USR1")), ""},
		"P142: a failure meanwhile waits for the grace":    {after(saves, stopIn(2)), ""},
		"P142: a TERM of the kubelet is not passed on":     {after(saves, received(syscall.SIGTERM)), ""},
		"P142: after one no other signal is sent":          {after(runs, received(syscall.SIGTERM), plannedStop(60, "USR1")), ""},
		"P142: a stop that is under way keeps its time":    {after(runs, stopIn(2), plannedStop(60, "USR1")), ""},
		"P63b, P142: the rest has the signal and the time": {after(saves, exit(0)), "signal 10"},
		"P67, P142: exit 0 ends only the epoch":            {after(saves, exit(0), gone), "ready 1 code 0 stopped"},
		"P63, P142: SIGKILL follows":                       {after(saves, over(Running)), "kill, timeout 10s"},
		"P131, P142: whoever saves is not taken for hung":  {[]Event{watchAt(1), begun, plannedStop(60, ""), silent()}, ""},
		"P63, P142: where nothing runs there is nothing":   {[]Event{plannedStop(60, "USR1")}, "ready 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var actions []Action
			s := State{Phase: Held}
			for _, e := range tc.events {
				s, actions = Step(s, e, Settings{Container: "w", KillTimeout: 10 * time.Second})
			}
			if got := show(actions); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
