/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestWhatAWorkerThatHangsDid(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		seen   func(protocol.Evidence) bool
	}{
		"P134: it was stopped by SIGSTOP": {`kill -STOP $$`, func(e protocol.Evidence) bool { return e.Has('T') }},
		"P134: it reads from a FIFO": {`mkfifo fifo; exec sh -c 'exec 3<>fifo; read x <&3'`,
			func(e protocol.Evidence) bool {
				return e.Has('S') && !e.Has('T') && strings.Contains(string(e), "read(fifo)")
			}},
		"P134: it sleeps, and a child of it was stopped": {`sh -c 'kill -STOP $$' & wait`,
			func(e protocol.Evidence) bool { return e.Has('S') && e.Has('T') }},
	} {
		t.Run(name, func(t *testing.T) {
			p := supervise(t, `cd $(dirname $JOBSET_PROGRESS_FILE); echo 119 > $JOBSET_PROGRESS_FILE; echo up; `+tc.script)
			p.hello()
			p.watched(2)
			p.prints("up\n")
			exit := p.ready(2)
			if !exit.Hung.Hung() || !tc.seen(exit.Seen) {
				t.Errorf("it ended as %+v, seen %q", exit, exit.Seen)
			}
			p.prints(evidenceBegins)
			p.prints(evidenceEnds)
			p.watched(3)
			p.ready(3)
		})
	}
}

func TestStacksAreWrittenBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, prints string }{
		"P134: by a process that catches the signal":        {`trap 'echo stack' USR1; echo up; while :; do sleep 0.1; done`, "stack\n"},
		"P134: others live on, until they are killed":       {`trap 'echo unasked' TERM; echo up; while :; do sleep 0.1; done`, "hangs, and is killed: "},
		"P134: one that ignores it has nothing to wait for": {`trap '' USR1; echo up; while :; do sleep 0.1; done`, "hangs, and is killed: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := supervise(t, `echo 119 > $JOBSET_PROGRESS_FILE; `+tc.script)
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

func TestAStopThatFindsAWorkerSilentLooksAtIt(t *testing.T) {
	t.Parallel()
	p := supervise(t, `mkfifo $JOBSET_PROGRESS_FILE.fifo; exec 3<>$JOBSET_PROGRESS_FILE.fifo; echo 119 > $JOBSET_PROGRESS_FILE; echo up; read x <&3`)
	p.hello()
	limits := &protocol.Progress{StallSeconds: 12}
	p.say(protocol.Message{Type: protocol.Start, Epoch: 2, Progress: limits})
	p.next(protocol.Running)
	p.prints("up\n")
	p.say(protocol.Message{Type: protocol.Stop, GraceSeconds: 1})
	if exit := p.ready(2); exit.Seen != "" {
		t.Errorf("P134: a worker that had just given a sign was looked at: %q", exit.Seen)
	}
	_ = os.Remove(p.path(protocol.ProgressPrefix + "worker.fifo"))
	p.say(protocol.Message{Type: protocol.Start, Epoch: 3, Progress: limits})
	p.next(protocol.Running)
	p.prints("up\n")
	<-time.After(7 * time.Second) // more than half the limit, in beats of the supervisor, and far from all of it
	p.say(protocol.Message{Type: protocol.Stop, GraceSeconds: 1})
	if exit := p.ready(3); !exit.Stopped || exit.Hung.Hung() || !strings.Contains(string(exit.Seen), "read(fifo)") {
		t.Errorf("P134: it ended as %+v, seen %q", exit, exit.Seen)
	}
}

func TestTheProcessTableIsRead(t *testing.T) {
	t.Parallel()
	o, ok := parseObserved(7, []byte("7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 1 0 5"))
	if !ok || o.name != "a) b" || o.state != 'S' || o.cpu.Seconds() != 3 {
		t.Errorf("P134: got %+v, %v", o, ok)
	}
	for _, text := range []string{"", "7", "7 (a", "7 (a) S 1 7", "7 )a( S", "7 (a) S 1 7 7 0 -1 4194560 1 2 3 4 x 50 0"} {
		if o, ok := parseObserved(7, []byte(text)); ok {
			t.Errorf("P134: %q is read as %+v", text, o)
		}
	}
}
