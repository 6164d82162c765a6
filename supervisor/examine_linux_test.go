/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"log/slog"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// It takes some seconds: each case has two runs, and the shortest limit is a second after the progress file was looked at.
func TestWhatAWorkerThatHangsDid(t *testing.T) {
	t.Parallel()
	needNamespaces(t) // where the process table is short, which is read for a tenth of a second at most
	for name, tc := range map[string]struct {
		script string
		seen   string
	}{
		"P134: it was stopped by SIGSTOP":                {`kill -STOP $$`, "T"},
		"P134: it reads from a FIFO":                     {`mkfifo fifo; exec sh -c 'exec 3<>fifo; read x <&3'`, ""},
		"P134: it sleeps, and a child of it was stopped": {`sh -c 'kill -STOP $$' & wait`, "T"},
	} {
		t.Run(name, func(t *testing.T) {
			p := supervise(t, `cd $(dirname $JOBSET_PROGRESS_FILE); echo 119 > $JOBSET_PROGRESS_FILE; echo up; `+tc.script, inNamespace)
			p.hello()
			p.watched(2)
			p.prints("up\n")
			exit := p.ready(2)
			if !exit.Hung.Hung() || exit.Seen != tc.seen {
				t.Errorf("it ended as %+v, want seen %q", exit, tc.seen)
			}
			p.prints("the worker gives no sign")
			p.watched(3)
			p.ready(3)
		})
	}
}

// It takes some seconds: the shortest limit is one, and so is the shortest time for stacks.
func TestStacksAreWrittenBeforeTheEnd(t *testing.T) {
	t.Parallel()
	needNamespaces(t) // where the process table is short, which is read for a tenth of a second at most
	for name, tc := range map[string]struct{ script, prints string }{
		"P134: by a process that catches the signal":        {`trap 'echo stack' USR1; echo up; while :; do sleep 0.1; done`, "stack\n"},
		"P134: others live on, until they are killed":       {`trap 'echo unasked' TERM; echo up; while :; do sleep 0.1; done`, "hangs, and is killed: "},
		"P134: one that ignores it has nothing to wait for": {`trap '' USR1; echo up; while :; do sleep 0.1; done`, "hangs, and is killed: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := supervise(t, `echo 119 > $JOBSET_PROGRESS_FILE; `+tc.script, inNamespace)
			p.hello()
			p.say(protocol.Message{Type: protocol.Start, Epoch: 2, Progress: &protocol.Progress{StallSeconds: 1, DumpSignal: "USR1", DumpSeconds: 1}})
			p.next(protocol.Running)
			p.prints("up\n")
			p.prints(tc.prints)
			if exit := p.ready(2); !exit.Hung.Hung() || exit.Signal != int(syscall.SIGKILL) {
				t.Errorf("it ended as %+v, want by SIGKILL as one that hung", exit)
			}
		})
	}
}

// sight counts how often the processes of a worker were looked at, and gives its signs.
type sight struct {
	Host
	times int
	signs Signs
	state string
}

func (h *sight) Processes(time.Duration) Processes {
	h.times++
	return Processes{{7, "S"}, {8, h.state}}
}

func (h *sight) Signs() Signs { return h.signs }

func TestAStopThatFindsAWorkerSilentLooksAtIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		message protocol.Type
		silent  time.Duration
		times   int
	}{
		"P134: half of the limit is over":                 {protocol.Stop, 6 * time.Second, 1},
		"P134: it gave a sign in the last half":           {protocol.Stop, 5 * time.Second, 0},
		"P134: half of the limit is over, and it is left": {protocol.Leave, 6 * time.Second, 1},
		"P134: it is told to start":                       {protocol.Start, 6 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			host := &sight{state: "T"}
			s := Supervisor{Host: host, Log: slog.New(slog.DiscardHandler), watch: watch{limits: protocol.Progress{StallSeconds: 12}, signed: true, sign: time.Minute, now: time.Minute + tc.silent}}
			s.state.Phase, s.state.Run.Progress = Running, &s.watch.limits
			s.examine(&Event{Message: &protocol.Message{Type: tc.message}})
			if host.times != tc.times || (s.state.Seen != "") != (tc.times > 0) {
				t.Errorf("it was looked at %d times, seen %q; want %d times", host.times, s.state.Seen, tc.times)
			}
		})
	}
}

// A node that stood still, or had no time for anybody, is no hang of its workers (P131).
func TestAWorkerHasAnotherBeatAfterAStandstill(t *testing.T) {
	t.Parallel()
	late := watch{limits: protocol.Progress{StallSeconds: 12}, signed: true, sign: time.Minute, now: time.Minute + 11*time.Second + time.Second/2}
	for name, tc := range map[string]struct {
		ago   time.Duration
		signs Signs
		hangs bool
	}{
		"P131: the limit is over":                           {time.Second, Signs{}, true},
		"P131: the limit is over, and the node stood still": {time.Minute, Signs{}, false},
		"P130: the worker says that it hangs":               {time.Minute, Signs{Stuck: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := Supervisor{Host: &sight{signs: tc.signs}, lastBeat: time.Now().Add(-tc.ago), watch: late}
				s.state.Phase, s.state.Run.Progress = Running, &s.watch.limits
				if hang := s.look(); hang.Hung() != tc.hangs {
					t.Errorf("it hangs: %+v, want %v", hang, tc.hangs)
				}
				if next := s.watch.next(); next != beat {
					t.Errorf("the next look is after %s", next)
				}
				if hang := s.look(); !hang.Hung() {
					t.Error("it does not hang at the next look")
				}
			})
		})
	}
}

func TestAHangEndsWithItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := &sight{}
		s := Supervisor{Host: host, beat: stopped()}
		s.state.Phase, s.state.Run.Progress = Running, &protocol.Progress{StallSeconds: 2}
		s.begin()
		began := time.Now()
		<-s.beat.C
		host.signs = Signs{Alive: true, Ago: 700 * time.Millisecond}
		hang := s.judge()
		for host.signs = (Signs{}); hang == nil; hang = s.judge() {
			<-s.beat.C
		}
		if got := time.Since(began); got != 2300*time.Millisecond {
			t.Errorf("P131: it hangs after %s, want 2 s after its sign at 0.3 s", got)
		}
	})
}

// When one that hung is killed, its peers may end by themselves, or a launcher of theirs be left.
func TestTheStateThatTellsMostIsTold(t *testing.T) {
	t.Parallel()
	exited, stop, hung := Event{Exited: &protocol.Exit{Code: 1}}, Event{Message: &protocol.Message{Type: protocol.Stop}}, Event{Hung: &protocol.Hang{SilentSeconds: 12}}
	for name, tc := range map[string]struct {
		noted string
		sign  bool
		then  string
		event Event
		want  string
	}{
		"P134: of one that hangs":                                {"T", false, "T", hung, "T"},
		"P134: of one that is continued":                         {"T", false, "S", hung, "T"},
		"P134: of one that was stopped since":                    {"S", false, "T", hung, "T"},
		"P134: of one that is stopped since by nobody":           {"S", false, "S", stop, ""},
		"P134: of a worker that ends by itself":                  {"T", false, "S", exited, "T"},
		"P134: of one that cannot be interrupted":                {"D", false, "D", stop, "D"},
		"P134: of one that writes a file for a moment":           {"D", false, "R", hung, ""},
		"P134: of one that begins to":                            {"S", false, "D", hung, ""},
		"P134: of one that could be interrupted after all":       {"D", false, "S", exited, ""},
		"P134: not of one that has given a sign before its end":  {"T", true, "S", exited, ""},
		"P134: nor of one that has given a sign before its stop": {"T", true, "S", stop, ""},
	} {
		t.Run(name, func(t *testing.T) {
			host := &sight{state: tc.noted}
			s := Supervisor{Host: host, Log: slog.New(slog.DiscardHandler), lastBeat: time.Now(),
				watch: watch{limits: protocol.Progress{StallSeconds: 12}, signed: true, sign: time.Minute, now: time.Minute + 6*time.Second}}
			s.state.Phase, s.state.Run.Progress = Running, &s.watch.limits
			s.look()
			host.signs.Alive, host.state = tc.sign, tc.then
			if tc.sign && tc.event.Message != nil {
				s.look() // a beat
			}
			s.examine(&tc.event)
			if s.state.Seen != tc.want {
				t.Errorf("seen %q, want %q", s.state.Seen, tc.want)
			}
		})
	}
}
