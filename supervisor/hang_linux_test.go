/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// watched starts a worker at an epoch with deadlines of a second, so that tests need not wait for five.
func (p *pod) watched(epoch int32) {
	p.t.Helper()
	p.say(protocol.Message{Type: protocol.Start, Epoch: epoch, Progress: &protocol.Progress{StartSeconds: 3600, StallSeconds: 1, MaxExtensionSeconds: 3600}})
	p.next(protocol.Running)
}

// It takes some seconds: each case has two runs, and the shortest limit is a second after the progress file was looked at.
func TestAWorkerThatGivesNoSignIsKilled(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"P133: it sleeps and ignores SIGTERM":       `trap '' TERM; echo 119 > $JOBSET_PROGRESS_FILE; echo up; sleep 1000; sleep 1000`,
		"P133: it was stopped by SIGSTOP":           `echo 119 > $JOBSET_PROGRESS_FILE; echo up; kill -STOP $$`,
		"P133: it left its session with a child":    `echo 119 > $JOBSET_PROGRESS_FILE; setsid sh -c 'echo up; exec sleep 1000'; sleep 1000`,
		"P133: it would be done, had it been asked": `trap 'exit 0' TERM; echo 119 > $JOBSET_PROGRESS_FILE; echo up; while :; do sleep 1000 & wait; done`,
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, place option) {
				p := supervise(t, script, place, env(protocol.PassExitCodesEnv+"=1-255"))
				p.hello()
				p.watched(2)
				p.prints("up\n")
				exit := p.ready(2)
				if h := exit.Hung; exit.Stopped || exit.Signal != int(syscall.SIGKILL) || !h.Signed || h.Step != 119 || h.SilentSeconds < 1 || h.Triggered {
					t.Errorf("it ended as %+v, want by SIGKILL as one that hung at step 119", exit)
				}
				p.isEmpty()
				p.prints("the worker of epoch 2 hangs, and is killed: no sign for 1 s at step 119")
				p.watched(3)
				p.ready(3)
			})
		})
	}
}

func TestTheLineOfAnEndHasTheLastStep(t *testing.T) {
	t.Parallel()
	p := supervise(t, `echo 119 > $JOBSET_PROGRESS_FILE; exit 7`)
	p.hello()
	p.watched(2)
	p.ready(2)
	p.prints(" run=end epoch=2 code=7 step=119\n") // P129
	p.watched(3)
	p.ready(3)
	p.prints(" run=end epoch=3 code=7 step=119\n")
}

// It takes 2.5 seconds: the worker gives signs for longer than its limit.
func TestAWorkerThatGivesSignsIsLeftAlone(t *testing.T) {
	t.Parallel()
	p := supervise(t, `echo "socket $NOTIFY_SOCKET watchdog $WATCHDOG_USEC"; i=0; while [ $i -lt 25 ]; do i=$((i+1)); echo $i > $JOBSET_PROGRESS_FILE; sleep 0.1; done; exit 7`,
		env("NOTIFY_SOCKET=/of/the/container"))
	p.hello()
	p.watched(1)
	p.prints("socket " + p.own(protocol.NotifyPrefix+"1") + " watchdog 1000000\n")
	if exit := p.ready(1); exit.Code != 7 || exit.Hung.Hung() {
		t.Errorf("P131: it ended as %+v, want by itself with 7", exit)
	}
}

// It takes three seconds: that is longer than the limit that a worker has in these tests.
func TestNobodyWatchesAWorkerThatWasNotAskedForSigns(t *testing.T) {
	t.Parallel()
	p := supervise(t, `echo "socket $NOTIFY_SOCKET file $JOBSET_PROGRESS_FILE"; sleep 3; exit 7`, env("NOTIFY_SOCKET=/of/the/container"))
	p.hello()
	p.runs(1)
	p.prints("socket /of/the/container file \n")
	if exit := p.ready(1); exit.Code != 7 {
		t.Errorf("P130: it ended as %+v, want by itself with 7", exit)
	}
}

// newMailbox opens the mailbox of epoch 1 in a volume.
func newMailbox(t *testing.T, p *pod) *mailbox {
	t.Helper()
	m, err := openMailbox(Settings{Dir: p.dir, Container: "worker"}, Run{Epoch: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.close() })
	return m
}

// sender returns a function that sends a datagram to a mailbox, with a descriptor if there are rights.
func sender(t *testing.T, m *mailbox) func(datagram string, rights []byte) {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	return func(datagram string, rights []byte) {
		t.Helper()
		if err := syscall.Sendmsg(socket, []byte(datagram), rights, &syscall.SockaddrUnix{Name: m.path}, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAMailbox(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	m := newMailbox(t, p)
	send := sender(t, m)
	for _, datagram := range []string{"WATCHDOG=1", "", strings.Repeat("x", 4*maxDatagram), "X_JOBSET_STEP=12"} {
		send(datagram, nil)
	}
	// A descriptor that comes along, as of sd_notify_barrier, is closed at once.
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	send("BARRIER=1", syscall.UnixRights(int(theirs.Fd())))
	_ = theirs.Close()
	if n, err := ours.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("P130: a read from the pipe: %d, %v, want its end", n, err)
	}
	got := m.take()
	if got.Ago <= 0 || got.Ago > time.Minute {
		t.Errorf("P131: the last sign came %s ago", got.Ago)
	}
	got.Ago = 0
	if want := (Signs{Alive: true, Step: 12, Stepped: true}); got != want {
		t.Errorf("P130: got %+v, want %+v", got, want)
	}
	if got := m.take(); got != (Signs{}) {
		t.Errorf("P130: the same signs are taken again: %+v", got)
	}
}

func TestALongDatagramCountsUpToItsLastWholeLine(t *testing.T) {
	t.Parallel()
	m := newMailbox(t, newPod(t))
	send := sender(t, m)
	const step, extend = "X_JOBSET_STEP=12\n", "EXTEND_TIMEOUT_USEC=600000000"
	status := func(size int) string { return "STATUS=" + strings.Repeat("x", size-len("STATUS=\n")) + "\n" }
	for _, tc := range []struct {
		name, datagram string
		want           Signs
	}{
		{"P130: a number that fits", step + status(maxDatagram-len(step+extend)) + extend, Signs{Step: 12, Stepped: true, Extend: 10 * time.Minute}},
		{"P130: a number that is cut", step + status(maxDatagram-len(step+extend)+1) + extend, Signs{Step: 12, Stepped: true}},
		{"P130: nothing but a part of a line", strings.Repeat("x", 4*maxDatagram), Signs{}},
		{"P130: a line that ends where the reading does", step + status(maxDatagram-len(step)) + extend, Signs{Step: 12, Stepped: true}},
	} {
		send(tc.datagram, nil)
		send("WATCHDOG=1", nil)
		var got Signs
		waitFor(t, "both are read", func() bool {
			signs := m.take()
			got.Step, got.Stepped, got.Extend = max(got.Step, signs.Step), got.Stepped || signs.Stepped, max(got.Extend, signs.Extend)
			return signs.Alive
		})
		if got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// It takes a second: the signs come as slowly as those of a trainer whose steps are short. A machine that has much else to do may
// be as late as a supervisor that takes them for a flood, but not each time.
func TestAWorkerThatGivesFewSignsIsNoFlood(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for range 3 {
		m := newMailbox(t, newPod(t))
		send := sender(t, m)
		steps := time.NewTicker(4 * time.Millisecond)
		for range burst {
			send("STATUS=x", nil)
			<-steps.C
		}
		began := time.Now()
		send("X_JOBSET_STEP=12", nil)
		waitFor(t, "the sign is read", func() bool { return m.take().Stepped })
		if took = append(took, time.Since(began)); took[len(took)-1] < 900*time.Millisecond {
			return
		}
	}
	t.Errorf("P130: signs were read after %s, as if the worker flooded its supervisor", took)
}

func TestAProgressFile(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	m := newMailbox(t, p)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(m.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, text string
		want       Signs
	}{
		{"P130: a number", "5\n", Signs{Alive: true, Step: 5, Stepped: true}},
		{"P130: the same again", "5\n", Signs{}},
		{"P130: a number and more", "6 of 100", Signs{Alive: true, Step: 6, Stepped: true}},
		{"P130: words", "evaluating", Signs{Alive: true}},
		{"P130: a long text", strings.Repeat("9", 1<<20), Signs{Alive: true}},
	} {
		write(tc.text)
		if got := m.take(); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
	// What a neighbour puts in its place is no file: nobody waits for a pipe, nor follows a link.
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("7"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func() error{
		"P130: a pipe": func() error { return syscall.Mkfifo(m.file, 0o666) },
		"P130: a link": func() error { return os.Symlink(secret, m.file) },
	} {
		if err := os.Remove(m.file); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if got := m.take(); got != (Signs{}) {
			t.Errorf("%s: got %+v, want nothing", name, got)
		}
	}
}

func TestASocketThatCannotBeBoundLeavesTheWorkerUnwatched(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	if err := os.MkdirAll(p.own(protocol.NotifyPrefix+"1/taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.listen()
	p.start([]string{"/bin/sh", "-c", `sleep 2; echo "socket $NOTIFY_SOCKET"; exit 7`})
	p.hello()
	p.watched(1)
	p.prints("the worker is not watched for hangs")
	if exit := p.ready(1); exit.Code != 7 || exit.Hung.Hung() {
		t.Errorf("P131: it ended as %+v, want by itself with 7", exit)
	}
}
