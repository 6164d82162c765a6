/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"syscall"
	"testing"
	"time"
)

// TestWhoIsToldToEnd is about what comes after a signal: the rest of a process group, the end of the container, what outlives SIGKILL.
func TestWhoIsToldToEnd(t *testing.T) {
	set := Settings{Container: "w", KillTimeout: 10 * time.Second, StopSignal: syscall.SIGUSR2}
	runs := []Event{startAt(1), begun}
	asked := after(runs, stopIn(5))
	failed := after(runs, exit(1))
	outlived := after(failed, over(Killing))
	signalled := after(runs, received(syscall.SIGTERM))
	for name, tc := range map[string]struct {
		events []Event
		want   string
	}{
		"P63b: after a stop the rest gets the signal, and keeps the grace": {after(asked, exit(143)), "signal 15"},
		"P63b: after SIGTERM, too":                              {after(signalled, exit(143)), "signal 15"},
		"P63b: after the signal that came last":                 {after(signalled, received(syscall.SIGINT), exit(143)), "signal 2"},
		"P63b: not what was only passed on":                     {after(asked, received(syscall.SIGUSR1), exit(143)), "signal 15"},
		"P63b: not after an end by itself":                      {after(runs, received(syscall.SIGUSR1), exit(1)), "kill, timeout 10s"},
		"P63b: not when the time to end is over":                {after(asked, over(Running), exit(137)), ""},
		"P70b: stuck with a tree that is empty after all":       {after(outlived, gone), "ready 1 code 1"},
		"P70b: and then the next epoch may start":               {after(outlived, gone, startAt(2)), "spawn 2/false/7"},
		"P70b: as it ended, whoever asked it to":                {after(asked, over(Running), over(Killing), exit(0), gone), "ready 1 code 0 stopped"},
		"P70b: not before the main process has ended":           {after(asked, over(Running), over(Killing), gone), ""},
		"P70b: what is left is named":                           {after(failed, Event{Timeout: Killing, Left: "pid 7 in state D"}, connected), "hello w running 1, stuck 1 (pid 7 in state D)"},
		"P69b: the signal that the template names is passed on": {after(runs, received(syscall.SIGUSR2)), "signal 12"},
		"P69b: after it, exit 0 is not done":                    {after(runs, received(syscall.SIGUSR2), exit(0), gone), "finish 143"},
		"P69b: and nothing is started":                          {after(runs, received(syscall.SIGUSR2), startAt(1)), "refused 1"},
		"P69b: it ends a supervisor that is held":               {[]Event{received(syscall.SIGUSR2)}, "finish 143"},
		"P69b: after a stop it is not passed on":                {after(asked, received(syscall.SIGUSR2)), ""},
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
