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

func passes(g Gate) Event { return Event{Gate: g} }

func early(code int) Event { return Event{StandbyEnded: &protocol.Exit{Code: code}} }

func TestTheLifeOfAStandby(t *testing.T) {
	set := Settings{Container: "w", KillTimeout: 10 * time.Second, WarmStart: true, StandbyDelay: 30 * time.Second}
	dueNow := Event{StandbyDue: true}
	runs := []Event{startAt(1), begun}
	passed := after(runs, passes(ProgramPassed))
	waits := after(passed, dueNow)
	stopped := after(waits, stopIn(5))
	ended1 := after(stopped, exit(143), gone)
	warm := after(ended1, startAt(2), passes(StandbyPassed))
	for name, tc := range map[string]struct {
		events []Event
		want   string
	}{
		"P161: a program that has not opened its gate gets no standby":          {after(runs, dueNow), ""},
		"P161: the standby is due a while after the gate was opened":            {passed, "standby in 30s"},
		"P161: a gate that is opened twice makes no second standby":             {after(passed, passes(ProgramPassed)), ""},
		"P161: not even beside one that waits":                                  {after(waits, passes(ProgramPassed)), ""},
		"P161: then it is started":                                              {waits, "prepare"},
		"P161: not for a program that was told to end":                          {after(passed, stopIn(5), dueNow), ""},
		"P161: nor for one that has ended":                                      {after(passed, exit(1), gone, dueNow), ""},
		"P161: nor in a container that ends":                                    {after(passed, received(syscall.SIGTERM), dueNow), ""},
		"P161: a stop spares it":                                                {stopped, "signal 15, timeout 5s"},
		"P161: so does the kill of what the old program left":                   {after(stopped, over(Running)), "kill, timeout 10s"},
		"P162: it keeps nobody from being ready":                                {ended1, "ready 1 code 143 stopped warm:false"},
		"P162: it is no worker: hello says that the last has ended":             {after(ended1, connected), "hello w ended 1 code 143 stopped warm:false"},
		"P162: its end is no end of a worker":                                   {after(ended1, early(0)), ""},
		"P160: the next start opens its gate":                                   {after(ended1, startAt(2)), "open 2"},
		"P160: and it is the worker of that epoch":                              {warm, "running 2 warm:true, standby in 30s"},
		"P62: once it is through, that epoch has run":                           {after(warm, exit(1), gone, startAt(2)), "ready 2 code 1 warm:true"},
		"P62: the line is written once: a start again is only acknowledged":     {after(warm, startAt(2)), "running 2 warm:true"},
		"P161: one that is not at its gate is killed, and the start is cold":    {after(ended1, startAt(2), passes(StandbyAbsent)), "drop, spawn 2/false/7"},
		"P161: what starts cold is told as cold":                                {after(ended1, startAt(2), passes(StandbyAbsent), begun), "running 2 warm:false"},
		"P161: a bypass starts cold":                                            {after(ended1, bypass()), "drop, spawn 0/true/0"},
		"P161: a program outside of all epochs gets no standby":                 {[]Event{bypass(), begun, passes(ProgramPassed)}, ""},
		"P162: no gate opens for an epoch that is being stopped":                {after(stopped, startAt(1)), ""},
		"P162: nor for the next one meanwhile":                                  {after(stopped, startAt(2)), "refused 2"},
		"P69: nor after a signal that ends the container":                       {after(waits, received(syscall.SIGTERM), startAt(2)), "refused 2"},
		"P70: nor in a Pod that is to be replaced":                              {after(waits, leave(), startAt(2)), "refused 2"},
		"P161: one that ended early is followed by another":                     {after(waits, early(1)), "standby in 30s"},
		"P161: two in a row are followed by none":                               {after(waits, early(1), dueNow, early(1)), ""},
		"P161: not even in the next epoch":                                      {after(waits, early(1), dueNow, early(1), exit(1), gone, startAt(2), begun, passes(ProgramPassed)), ""},
		"P161: one that got through between them makes it no row":               {after(waits, early(1), dueNow, exit(1), gone, startAt(2), passes(StandbyPassed), dueNow, early(1)), "standby in 30s"},
		"P161: one that ended while its program stopped is told and no failure": {after(stopped, early(1)), ""},
		"P161: the next start is cold then":                                     {after(stopped, early(1), exit(143), gone, startAt(2)), "spawn 2/false/7"},
	} {
		t.Run(name, func(t *testing.T) {
			var actions []Action
			s := State{Phase: Held}
			for _, e := range tc.events {
				s, actions = Step(s, e, set)
			}
			if got := show(actions); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestAContainerInWhichAStandbyTookAllMemoryGetsNone(t *testing.T) {
	set := Settings{WarmStart: true, StandbyDelay: time.Second}
	s := State{Phase: Held, Standby: Standby{Off: true}}
	var actions []Action
	for _, e := range []Event{startAt(1), begun, passes(ProgramPassed)} {
		s, actions = Step(s, e, set)
	}
	if len(actions) != 0 || s.Standby.Life != NoStandby {
		t.Errorf("P161: got %s and %+v, want no standby", show(actions), s.Standby)
	}
}
