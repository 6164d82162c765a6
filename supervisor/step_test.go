/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

var (
	begun     = Event{Started: true}
	gone      = Event{Empty: true}
	connected = Event{Connected: true}
)

func startAt(epoch int32) Event {
	return Event{Message: &protocol.Message{Type: protocol.Start, Epoch: epoch, Restarts: 7}}
}

var deadlines = &protocol.Progress{StallSeconds: 10}

// unwatchAt says that a bypass has begun.
func unwatchAt(epoch int32) Event {
	return Event{Message: &protocol.Message{Type: protocol.Start, Epoch: epoch, Unwatched: true}}
}

// watchAt starts a worker that is watched.
func watchAt(epoch int32) Event {
	return Event{Message: &protocol.Message{Type: protocol.Start, Epoch: epoch, Progress: deadlines}}
}

func silent() Event { return Event{Hung: &protocol.Hang{SilentSeconds: 10}} }

func bypass() Event {
	return Event{Message: &protocol.Message{Type: protocol.Start, Bypass: true}}
}

func stopIn(grace int32) Event {
	return Event{Message: &protocol.Message{Type: protocol.Stop, GraceSeconds: grace}}
}

func leave() Event {
	return Event{Message: &protocol.Message{Type: protocol.Leave, GraceSeconds: 3, Because: "of a test"}}
}

func exit(code int) Event {
	e := protocol.Exit{Code: code}
	if code > 128 {
		e.Signal = code - 128
	}
	return Event{Exited: &e}
}

func over(of Phase) Event                 { return Event{Timeout: of} }
func received(n syscall.Signal) Event     { return Event{Signal: n} }
func after(e []Event, m ...Event) []Event { return slices.Concat(e, m) }

// show writes actions in one line, without what is only said.
func show(actions []Action) string {
	var words []string
	for _, a := range actions {
		switch {
		case a.Send != nil:
			words = append(words, showMessage(*a.Send))
		case a.Spawn != nil:
			words = append(words, fmt.Sprintf("spawn %d/%t/%d", a.Spawn.Epoch, a.Spawn.Bypass, a.Spawn.Restarts))
		case a.Open != nil:
			words = append(words, fmt.Sprintf("open %d", a.Open.Epoch))
		case a.Drop:
			words = append(words, "drop")
		case a.Prepare:
			words = append(words, "prepare")
		case a.StandbyIn != 0:
			words = append(words, "standby in "+a.StandbyIn.String())
		case a.Signal != 0:
			words = append(words, fmt.Sprintf("signal %d", int(a.Signal)))
		case a.Kill:
			words = append(words, "kill")
		case a.Timeout != 0:
			words = append(words, "timeout "+a.Timeout.String())
		case a.Done != nil:
			words = append(words, "file")
		case a.Finish:
			words = append(words, fmt.Sprintf("finish %d", a.Code))
		}
	}
	return strings.Join(words, ", ")
}

func showMessage(m protocol.Message) string {
	text := fmt.Sprintf("%s %d", m.Type, m.Epoch)
	if m.Type == protocol.Hello {
		text = fmt.Sprintf("hello %s %s %d", m.Container, m.State, m.Epoch)
	}
	if m.Bypass {
		text += " bypass"
	}
	if m.Exit != nil {
		text += fmt.Sprintf(" code %d", m.Exit.Code)
		if m.Exit.Stopped {
			text += " stopped"
		}
		if m.Exit.Hung.Hung() {
			text += " hung"
		}
	}
	if _, left, ok := strings.Cut(m.Because, "for 10s: "); ok {
		text += fmt.Sprintf(" (%s)", left)
	}
	if m.Warm != nil {
		text += fmt.Sprintf(" warm:%t", m.Warm.Warm)
	}
	return text
}

func TestStep(t *testing.T) {
	set := Settings{Container: "w", KillTimeout: 10 * time.Second}
	set.Pass[42], set.Pass[137] = true, true
	runs := []Event{startAt(1), begun}
	asked := after(runs, stopIn(5))
	failed := after(runs, exit(1))
	ended1 := after(failed, gone)
	outlived := after(failed, over(Killing))
	signalled := after(runs, received(syscall.SIGTERM))
	watched := []Event{watchAt(1), begun}
	hangs := after(watched, silent())
	for name, tc := range map[string]struct {
		events []Event
		want   string
	}{
		"P65: hello of a supervisor that has run nothing":                  {[]Event{connected}, "hello w held 0"},
		"P65: hello while a worker runs":                                   {after(runs, connected), "hello w running 1"},
		"P65: hello while a worker is stopped":                             {after(asked, connected), "hello w running 1"},
		"P65: hello while leftovers are killed":                            {after(failed, connected), "hello w running 1"},
		"P65: hello after a worker ended":                                  {after(ended1, connected), "hello w ended 1 code 1"},
		"P65: hello outside of all epochs":                                 {[]Event{bypass(), begun, connected}, "hello w running 0 bypass"},
		"P70: hello of a supervisor that is stuck":                         {after(outlived, connected), "hello w running 1, stuck 1"},
		"P62: a start runs the command":                                    {[]Event{startAt(1)}, "spawn 1/false/7"},
		"P62: a start outside of all epochs runs the command":              {[]Event{bypass()}, "spawn 0/true/0"},
		"P62: what was started is said":                                    {runs, "running 1"},
		"P62: a start without an epoch is refused":                         {[]Event{startAt(0)}, "refused 0"},
		"P62: a start with a negative epoch is refused":                    {[]Event{startAt(-1)}, "refused -1"},
		"P62: a start of the epoch that runs is acknowledged again":        {after(runs, startAt(1)), "running 1"},
		"P62: a start of another epoch while one runs is refused":          {after(runs, startAt(2)), "refused 2"},
		"P62: a start of another kind while one runs is refused":           {after(runs, bypass()), "refused 0 bypass"},
		"P62: a start of the epoch that is stopped is answered by its end": {after(asked, startAt(1)), ""},
		"P62: a start of another epoch while one is stopped is refused":    {after(asked, startAt(2)), "refused 2"},
		"P62: a start of the epoch that has ended is answered by its end":  {after(ended1, startAt(1)), "ready 1 code 1"},
		"P62: a start of the next epoch runs the command":                  {after(ended1, startAt(2)), "spawn 2/false/7"},
		"P62: a start of the next epoch waits until leftovers are gone":    {after(failed, startAt(2)), "refused 2"},
		"P34: a bypass that has ended may run again":                       {[]Event{bypass(), begun, exit(1), gone, bypass()}, "spawn 0/true/0"},
		"P62: a command that cannot be executed is an exit":                {[]Event{startAt(1), exit(127)}, "kill, timeout 10s"},
		"P62: and is reported as one":                                      {[]Event{startAt(1), exit(127), gone}, "ready 1 code 127"},
		"P63: a stop is answered at once if nothing has run":               {[]Event{stopIn(5)}, "ready 0"},
		"P63: a stop is answered at once if the worker has ended":          {after(ended1, stopIn(5)), "ready 1 code 1"},
		"P63: a stop is a SIGTERM":                                         {asked, "signal 15, timeout 5s"},
		"P63: a stop without grace kills at once":                          {after(runs, stopIn(0)), "signal 15, timeout 1ns"},
		"P63: a negative grace is none":                                    {after(runs, stopIn(-5)), "signal 15, timeout 1ns"},
		"P63: a second stop changes nothing":                               {after(asked, stopIn(1)), ""},
		"P63: SIGKILL follows":                                             {after(asked, over(Running)), "kill, timeout 10s"},
		"P63: a time that was over in an earlier phase is nothing":         {after(failed, over(Running)), ""},
		"P63: the main process is killed, its children still die":          {after(asked, over(Running), exit(137)), ""},
		"P63: ready once nobody is left":                                   {after(asked, over(Running), exit(137), gone), "ready 1 code 137 stopped"},
		"P63: leftovers are killed after an end by itself":                 {failed, "kill, timeout 10s"},
		"P63a: and is killed when that is over":                            {after(asked, exit(143), over(Running)), "kill, timeout 10s"},
		"P63a: and then the epoch has ended":                               {after(asked, exit(143), over(Running), gone), "ready 1 code 143 stopped"},
		"P63a: ready as soon as nobody is left":                            {after(asked, exit(143), gone), "ready 1 code 143 stopped"},
		"P63a: hello while the rest of the tree has its grace":             {after(asked, exit(143), connected), "hello w running 1"},
		"P63a: nothing is started beside the rest of the tree":             {after(asked, exit(143), startAt(2)), "refused 2"},
		"P63a: leave while the rest of the tree has its grace":             {after(asked, exit(143), leave()), ""},
		"P63a: it leaves when nobody is left":                              {after(asked, exit(143), leave(), gone), "finish 65"},
		"P63a: it leaves when the grace is over":                           {after(asked, exit(143), leave(), over(Running), gone), "finish 65"},
		"P63a: SIGTERM while the rest of the tree has its grace":           {after(asked, exit(143), received(syscall.SIGTERM)), ""},
		"P63a: the code is that of the main process":                       {after(asked, exit(7), received(syscall.SIGTERM), gone), "finish 7"},
		"P63: ready after an end by itself":                                {ended1, "ready 1 code 1"},
		"P63: a stop while leftovers are killed is answered by ready":      {after(failed, stopIn(5)), ""},
		"P63: no child is no news while none is awaited":                   {[]Event{gone}, ""},
		"P63: what SIGKILL does not kill makes it stuck":                   {outlived, "stuck 1, timeout 2m0s"},
		"P63: a stop of a supervisor that is stuck":                        {after(outlived, stopIn(5)), "stuck 1"},
		"P63: a start of a supervisor that is stuck":                       {after(outlived, startAt(1)), "stuck 1"},
		"P63: another start of a supervisor that is stuck":                 {after(outlived, startAt(2)), "refused 2"},
		"P70: stuck with a main process that ends after all":               {after(asked, over(Running), over(Killing), exit(137)), ""},
		"P70: a supervisor that is stuck leaves when told":                 {after(outlived, leave()), "finish 65"},
		"P70: a supervisor that is stuck leaves by itself":                 {after(outlived, over(Stuck)), "finish 65"},
		"P70: a supervisor that is held leaves":                            {[]Event{leave()}, "finish 65"},
		"P70: a supervisor whose worker has ended leaves":                  {after(ended1, leave()), "finish 65"},
		"P70: leave stops the worker first":                                {after(runs, leave()), "signal 15, timeout 3s"},
		"P70: leave of a worker that is stopped waits for its end":         {after(asked, leave()), ""},
		"P70: leave after the worker's end":                                {after(runs, leave(), exit(0), gone), "finish 65"},
		"P70: leave of a worker that ignores SIGTERM":                      {after(runs, leave(), over(Running)), "kill, timeout 10s"},
		"P70: leave of a worker that SIGKILL does not kill":                {after(runs, leave(), over(Running), over(Killing)), "finish 65"},
		"P70: leave while leftovers are killed":                            {after(failed, leave()), "finish 65"},
		"P70: nothing is started any more":                                 {after(runs, leave(), startAt(1)), "refused 1"},
		"P67: exit 0 is done: file, message, end":                          {after(runs, exit(0)), "file, done 1 code 0, finish 0"},
		"P67: exit 0 outside of all epochs is done":                        {[]Event{bypass(), begun, exit(0)}, "file, done 0 bypass code 0, finish 0"},
		"P67: exit 0 after a stop only ends the epoch":                     {after(asked, exit(0)), "signal 15"},
		"P67: and is told as stopped":                                      {after(asked, exit(0), gone), "ready 1 code 0 stopped"},
		"P67: an earlier stop says nothing about the next epoch":           {after(asked, exit(0), gone, startAt(2), begun, exit(0)), "file, done 2 code 0, finish 0"},
		"P68: a code that is not ours ends the container":                  {after(runs, exit(42)), "finish 42"},
		"P68: so does a signal":                                            {after(runs, exit(137)), "finish 137"},
		"P68: not after a stop":                                            {after(asked, exit(42), gone), "ready 1 code 42 stopped"},
		"P69: SIGTERM while held ends the container":                       {[]Event{received(syscall.SIGTERM)}, "finish 143"},
		"P69: SIGINT after the worker's end ends the container":            {after(ended1, received(syscall.SIGINT)), "finish 143"},
		"P69: SIGQUIT while leftovers are killed":                          {after(failed, received(syscall.SIGQUIT)), "finish 143"},
		"P69: SIGTERM of a supervisor that is stuck":                       {after(outlived, received(syscall.SIGTERM)), "finish 143"},
		"P69: SIGTERM is passed on":                                        {signalled, "signal 15"},
		"P69: SIGINT is passed on":                                         {after(runs, received(syscall.SIGINT)), "signal 2"},
		"P69: another signal is passed on":                                 {after(runs, received(syscall.SIGUSR1)), "signal 10"},
		"P69: another signal while held is nothing":                        {[]Event{received(syscall.SIGUSR1)}, ""},
		"P69: another signal changes nothing":                              {after(runs, received(syscall.SIGUSR1), exit(0)), "file, done 1 code 0, finish 0"},
		"P69: the child's result is the supervisor's":                      {after(signalled, exit(7), gone), "finish 7"},
		"P69: but never 0":                                                 {after(signalled, exit(0), gone), "finish 143"},
		"P69: never 0 after a stop and a signal":                           {after(asked, received(syscall.SIGTERM), exit(0), gone), "finish 143"},
		"P69: a stop after a signal":                                       {after(signalled, stopIn(5)), ""},
		"P69a: SIGTERM after a stop is not passed on":                      {after(asked, received(syscall.SIGTERM)), ""},
		"P69a: nor is SIGINT":                                              {after(asked, received(syscall.SIGINT)), ""},
		"P69a: nor is SIGTERM after leave":                                 {after(runs, leave(), received(syscall.SIGTERM)), ""},
		"P69a: the kubelet's grace ends the time of a stop":                {after(asked, received(syscall.SIGTERM), over(Running)), ""},
		"P69a: also for the rest of the tree":                              {after(asked, exit(143), received(syscall.SIGTERM), over(Running)), ""},
		"P69a: SIGTERM when the time of a stop is over":                    {after(asked, over(Running), received(syscall.SIGTERM)), "finish 143"},
		"P69a: another signal after a stop is passed on":                   {after(asked, received(syscall.SIGUSR1)), "signal 10"},
		"P69: after a signal nothing is started":                           {after(signalled, startAt(1)), "refused 1"},
		"P69: a signal and leave":                                          {after(signalled, leave(), exit(0), gone), "finish 143"},
		"P133: a worker that hangs is killed at once":                      {hangs, "kill, timeout 10s"},
		"P133: and is told as one that hung":                               {after(hangs, exit(137), gone), "ready 1 code 137 hung"},
		"P133: whatever its code, no code is passed on":                    {after(hangs, exit(42), gone), "ready 1 code 42 hung"},
		"P133: nor is it done":                                             {after(hangs, exit(0), gone), "ready 1 code 0 hung"},
		"P133: hello while it is killed":                                   {after(hangs, connected), "hello w running 1"},
		"P133: a stop while it is killed":                                  {after(hangs, stopIn(5)), ""},
		"P133: SIGTERM while it is killed":                                 {after(hangs, received(syscall.SIGTERM)), "finish 143"},
		"P133: what SIGKILL does not kill makes it stuck":                  {after(hangs, over(Killing)), "stuck 1, timeout 2m0s"},
		"P133: the next epoch has not hung":                                {after(hangs, exit(137), gone, startAt(2), begun, exit(1), gone), "ready 2 code 1"},
		"P133: it has ended before":                                        {after(watched, exit(1), silent()), ""},
		"P131: it was told to stop before":                                 {after(watched, stopIn(5), silent()), ""},
		"P131: the container is ending":                                    {after(watched, received(syscall.SIGTERM), silent()), ""},
		"P131: nobody watches it":                                          {after(runs, silent()), ""},
		"P131a: nobody watches any longer when a bypass begins":            {[]Event{watchAt(1), begun, unwatchAt(1), silent()}, ""},
		"P131a: that is not about another run":                             {[]Event{watchAt(1), begun, unwatchAt(2), silent()}, "kill, timeout 10s"},
		"P131a: one that has ended is not started again":                   {after(watched, exit(1), gone, unwatchAt(1)), ""},
		"P131a: nor is one started that was not":                           {[]Event{unwatchAt(1)}, ""},
		"P131a: the next epoch is watched":                                 {after(watched, unwatchAt(1), exit(1), gone, watchAt(2), begun, silent()), "kill, timeout 10s"},
		"P131: nobody watches a bypass":                                    {[]Event{{Message: &protocol.Message{Type: protocol.Start, Bypass: true, Progress: deadlines}}, begun, silent()}, ""},
		"P61: a message that is nobody's is nothing":                       {[]Event{{Message: &protocol.Message{Type: protocol.Done}}}, ""},
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

// world is what a supervisor acts on, as far as its decisions depend on it.
type world struct {
	s State
	// alive: the main process lives. left: other processes of the worker may.
	alive, left bool
	// timer is the phase that a time was set in, "" if there is none.
	timer Phase
	// stopped: a stop, a leave or a signal came since the start.
	stopped, terminated bool
	// standby: there is one; due: the time of the next is set.
	standby, due bool
}

// possible are the events that may happen in a world.
func (w world) possible() []Event {
	events := []Event{connected, startAt(1), watchAt(2), bypass(), stopIn(0), plannedStop(9, "USR1"), leave(), received(syscall.SIGTERM), received(syscall.SIGHUP), silent()}
	if w.alive {
		events = append(events, exit(0), exit(1), exit(42), exit(137))
	} else {
		events = append(events, gone)
	}
	if w.timer != "" {
		events = append(events, over(w.timer))
	}
	if w.alive {
		events = append(events, passes(ProgramPassed))
	}
	if w.due {
		events = append(events, Event{StandbyDue: true})
	}
	if w.standby {
		events = append(events, early(1))
	}
	return events
}

// events are the possible ones, or only the result at a gate that is being opened.
func (w world) events() []Event {
	if w.s.Standby.Life == Passing {
		return []Event{passes(StandbyPassed), passes(StandbyAbsent)}
	}
	return w.possible()
}

// apply returns the world after an event, and nil if the supervisor ended.
func (w world) apply(t *testing.T, e Event, set Settings) *world {
	w.terminated = w.terminated || e.Signal == syscall.SIGTERM
	w.stopped = w.stopped || e.Signal == syscall.SIGTERM || e.Message != nil && (e.Message.Type == protocol.Stop || e.Message.Type == protocol.Leave)
	if e.Exited != nil {
		w.alive = false
	}
	if e.Empty {
		w.left = false
	}
	if e.StandbyEnded != nil {
		w.standby = false
	}
	w.due = w.due && !e.StandbyDue
	if e.Gate == StandbyPassed {
		w.alive, w.left, w.stopped, w.standby = true, true, false, false
	}
	before := w.s
	next, actions := Step(w.s, e, set)
	w.s = next
	if next.Phase != before.Phase {
		w.timer = ""
	}
	filed := false
	told := before.Phase == Running && (before.Stopping || before.Terminated)
	for i, a := range actions {
		switch {
		case told && w.left && (a.Kill || a.Finish) && (e.Timeout == "" || w.terminated):
			t.Errorf("P63a P69a: the worker is killed within its grace: %+v, %+v", before, e)
		case before.Stopping && a.Signal != 0 && a.Signal != syscall.SIGHUP && (e.Exited == nil || a.Signal != before.Asked): // which is for the rest (P63b)
			t.Errorf("P69a P142: the worker is told twice: %+v, %+v", before, e)
		}
		switch {
		case a.Timeout != 0:
			w.timer = next.Phase
		case a.Done != nil:
			filed = true
		case a.Spawn != nil:
			if w.alive || w.left {
				t.Errorf("P62: a worker is started beside another one: %+v, %+v", before, e)
			}
			if w.terminated {
				t.Errorf("P69: a worker is started after SIGTERM: %+v, %+v", before, e)
			}
			if before.Exited && !a.Spawn.Bypass && *a.Spawn == before.Run {
				t.Errorf("P62: an epoch is started again: %+v, %+v", before, e)
			}
			w.alive, w.left, w.stopped = true, true, false
		case a.Open != nil:
			if w.alive || w.left || w.terminated || !w.standby || next.Run.Bypass {
				t.Errorf("P162: a gate is opened that must not be: %+v, %+v", before, e)
			}
			// The result comes before anything else; TestEverySequenceOfEventsIsSafe takes both.
		case a.Drop:
			if before.Standby.Life != Passing && !next.Run.Bypass {
				t.Errorf("P161: a standby is killed that could wait: %+v, %+v", before, e)
			}
			w.standby = false
		case a.Prepare:
			if w.standby || !w.alive {
				t.Errorf("P161: a second standby, or one beside no program: %+v, %+v", before, e)
			}
			w.standby = true
		case a.StandbyIn != 0:
			w.due = true
		case a.Send != nil && a.Send.Type == protocol.Ready && (w.alive || w.left):
			t.Errorf("P63: ready while processes are left: %+v, %+v", before, e)
		case a.Finish:
			if i != len(actions)-1 {
				t.Errorf("an action follows the end: %s", show(actions))
			}
			natural := e.Exited != nil && e.Exited.Code == 0 && !w.stopped && !w.terminated && !before.Hung.Hung()
			if (a.Code == 0) != natural || filed != natural {
				t.Errorf("P67 P69: it ends with %d, file: %t: %+v, %+v", a.Code, filed, before, e)
			}
			return nil
		}
	}
	return &w
}

func TestEverySequenceOfEventsIsSafe(t *testing.T) {
	set := Settings{Container: "w", KillTimeout: 10 * time.Second}
	set.Pass[42] = true
	first := world{s: State{Phase: Held}}
	seen := map[world]bool{first: true}
	for queue := []world{first}; len(queue) > 0; queue = queue[1:] {
		for _, e := range queue[0].events() {
			next := queue[0].apply(t, e, set)
			if next == nil || seen[*next] {
				continue
			}
			if next.s.Phase == Killing && next.timer == "" || next.s.Phase == Stuck && next.timer == "" || next.s.Stopping && !next.s.Terminated && next.s.Phase == Running && next.timer == "" {
				t.Errorf("P63: nothing ends the wait: %+v", next)
			}
			seen[*next] = true
			queue = append(queue, *next)
		}
	}
	t.Logf("%d states", len(seen))
	if len(seen) < 50 {
		t.Errorf("%d states are too few to mean anything", len(seen))
	}
}
