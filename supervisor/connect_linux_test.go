/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// fifo makes a pipe with a name, by which a test ends a worker that reads from it.
func (p *pod) fifo() (script string, end func()) {
	p.t.Helper()
	path := p.path("fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return "read x < " + path, func() {
		p.t.Helper()
		if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// away ends the agent: nobody listens any more.
func (p *pod) away() {
	_ = p.conn.Close()
	_ = p.listener.Close()
	_ = os.Remove(p.path(protocol.Socket))
}

func TestAnAgentThatIsAwayChangesNothing(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	script, end := p.fifo()
	p.start([]string{"/bin/sh", "-c", script + "; exit 4"})
	p.listen() // after the supervisor has begun to look for it, or before: both are right
	p.hello()
	p.runs(1)
	p.away()
	p.prints("the agent has ended it")
	p.listen()
	if m := p.hello(); m.State != protocol.Runs || m.Epoch != 1 {
		t.Errorf("P65: it says hello as %+v, want running at 1", m)
	}
	p.say(protocol.Message{Type: protocol.Start, Epoch: 1})
	if m := p.next(protocol.Running); m.Epoch != 1 {
		t.Errorf("P62: a start of the epoch that runs is answered with %+v", m)
	}
	p.away()
	end()
	p.prints("the worker of epoch 1 ended with exit code 4")
	p.listen()
	if m := p.hello(); m.State != protocol.Ended || m.Epoch != 1 || m.Exit == nil || m.Exit.Code != 4 {
		t.Errorf("P65: it says hello as %+v, want ended at 1 with code 4", m)
	}
}

func TestAWorkerFinishesWithoutAnAgent(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	script, end := p.fifo()
	p.listen()
	p.start([]string{"/bin/sh", "-c", script + "; exit 0"})
	p.hello()
	p.runs(1)
	p.away()
	end()
	p.exits(0)
	if _, err := os.Stat(p.own(protocol.DoneFile)); err != nil {
		t.Errorf("P67: %v", err)
	}
}

// TestAMessageIsObeyedWholeOrNotAtAll: an agent may end at any byte (P61).
func TestAMessageIsObeyedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	p := supervise(t, "exit 4")
	for _, m := range []protocol.Message{{Type: protocol.Start, Epoch: 1}, {Type: protocol.Stop}, {Type: protocol.Leave, Because: "x"}} {
		text, err := protocol.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range []int{1, len(text) / 2, len(text) - 1} {
			if m := p.hello(); m.State != protocol.Held {
				t.Fatalf("P61: after a part of a message it says hello as %+v, want held", m)
			}
			// A whole message first, so that the supervisor does not wait longer and longer until it connects.
			p.say(protocol.Message{Type: protocol.Stop})
			p.next(protocol.Ready)
			p.write(string(text[:cut]))
			_ = p.conn.Close()
		}
	}
	p.hello()
	p.runs(1)
	p.ready(1)
}

func TestWhatNobodyUnderstandsEndsTheConnection(t *testing.T) {
	t.Parallel()
	p := supervise(t, "echo up; exec sleep 1000")
	p.hello()
	p.runs(1)
	for _, tc := range []struct{ text, want string }{
		{`{"version":2,"type":"stop"}` + "\n", "a message has version 2, this program speaks 1"},
		{`{"version":0,"type":"stop"}` + "\n", "a message has version 0, this program speaks 1"},
		{`{"version":1,"type":"dance"}` + "\n", `unknown type \"dance\"`},
		{`{"version":1,"type":"hello"}` + "\n", "an agent does not send hello"},
		{"GET / HTTP/1.1\r\n\r\n", "a message is not a JSON object"},
		{strings.Repeat("x", 2*protocol.MaxLine), "a message has more than 4096 bytes"},
	} {
		p.write(tc.text)
		p.quiet()
		p.prints(tc.want)
		if m := p.hello(); m.State != protocol.Runs || m.Epoch != 1 {
			t.Errorf("P61: after %q it says hello as %+v, want running at 1", tc.text, m)
		}
		p.say(protocol.Message{Type: protocol.Start, Epoch: 1})
		p.next(protocol.Running)
	}
}

// TestAnAgentOfAnotherVersionFloodsNoLog: it ends each connection, and the supervisor comes again and again (P61).
func TestAnAgentOfAnotherVersionFloodsNoLog(t *testing.T) {
	t.Parallel()
	p := supervise(t, "exit 1")
	for range 5 {
		p.hello()
		p.write(`{"version":9,"type":"stop"}` + "\n")
		p.quiet()
	}
	p.hello()
	p.signal(syscall.SIGTERM)
	p.exits(143) // and all that it has printed is here
	if n := strings.Count(p.stderr.String(), "version 9"); n != 1 {
		t.Errorf("P61: the log has %d lines about the version, want 1", n)
	}
}

func TestAnAgentThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	p := supervise(t, "exec sleep 1000")
	p.accept()
	p.next(protocol.Hello)
	p.runs(1)
	p.stop(1)
	_ = p.conn.Close()
	deaf, err := p.listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deaf.Close() }()
	stop, err := protocol.Encode(protocol.Message{Type: protocol.Stop})
	if err != nil {
		t.Fatal(err)
	}
	if err := deaf.SetWriteDeadline(time.Now().Add(testPatience)); err != nil {
		t.Fatal(err)
	}
	for err == nil { // each is answered, until the answers fill the socket
		_, err = deaf.Write(stop)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("P61: a supervisor waits for an agent that does not read")
	}
	if m := p.hello(); m.State != protocol.Ended || m.Epoch != 1 {
		t.Errorf("P61: it says hello as %+v, want ended at 1", m)
	}
}

// late is a host that does not notice that its worker has ended, until the supervisor looks because of something else.
type late struct {
	Host
	ended, told bool
}

func (*late) Start(Run) *protocol.Exit  { return nil }
func (*late) Kill()                     {}
func (*late) Changed() <-chan os.Signal { return nil }
func (h *late) Look() (*protocol.Exit, bool) {
	if !h.ended || h.told {
		return nil, h.ended
	}
	h.told = true
	return &protocol.Exit{Code: 7}, true
}

func TestNothingIsSaidBeforeTheHello(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host, agents, terminate := &late{}, make(chan net.Conn), make(chan os.Signal, 1)
		s := Supervisor{Settings: Settings{Container: "worker", KillTimeout: time.Minute}, Host: host, Log: slog.New(slog.DiscardHandler), Terminate: terminate}
		s.Dial = func() (Conn, error) {
			ours, theirs := net.Pipe()
			agents <- theirs
			return ours, nil
		}
		over := make(chan int)
		go func() {
			code, _ := s.Run()
			over <- code
		}()
		hears := func(agent *protocol.Reader, want protocol.Type) protocol.Message {
			t.Helper()
			m, err := agent.Next()
			if err != nil || m.Type != want {
				t.Errorf("P65: the supervisor says %+v, %v, want %s", m, err, want)
			}
			return m
		}
		first := <-agents
		agent := protocol.NewReader(first)
		hears(agent, protocol.Hello)
		start, err := protocol.Encode(protocol.Message{Type: protocol.Start, Epoch: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = first.Write(start)
		hears(agent, protocol.Running)
		_ = first.Close()
		synctest.Wait() // the end of the connection is known, and the supervisor looks when it has the next one
		host.ended = true
		second := <-agents
		if m := hears(protocol.NewReader(second), protocol.Hello); m.State != protocol.Ended || m.Exit == nil || m.Exit.Code != 7 {
			t.Errorf("P65: it says hello as %+v, want ended with code 7", m)
		}
		terminate <- syscall.SIGTERM
		if code := <-over; code != exitTerminated {
			t.Errorf("P69: it ends with %d", code)
		}
	})
}
