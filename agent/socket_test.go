/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
	"sigs.k8s.io/jobset/test/supervised"
)

// patience bounds how long a test of a real socket waits for something that should happen at once.
const patience = 30 * time.Second

// served is an agent in process mode that serves a real socket.
type served struct {
	t      *testing.T
	fake   *fakeAPI
	socket string
	log    *lockedBuffer
	// listens is closed once the agent listens.
	listens chan struct{}
	// reports receives when an epoch is reported.
	reports chan struct{}
	stop    context.CancelFunc
}

// sharedDir returns a shared volume with a path that is short enough for a socket.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, protocol.RunDir), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func serveSocket(t *testing.T, dir string, containers ...string) *served {
	t.Helper()
	fake := newFakeAPI()
	fake.set(at(0, 0))
	s := &served{
		t: t, fake: fake, socket: filepath.Join(dir, protocol.Socket), log: &lockedBuffer{},
		listens: make(chan struct{}), reports: make(chan struct{}, 100),
	}
	fake.patched = func() { s.reports <- struct{}{} }
	cfg := testConfig
	cfg.Containers, cfg.SupervisorDir, cfg.StopGrace = containers, dir, time.Second
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := Run(ctx, cfg, Deps{
			API: &rest.Config{Host: "http://fake", Transport: inProcess{fake}},
			Listen: func(path string) (net.Listener, error) {
				defer close(s.listens)
				return listenUnix(path)
			},
			Log: slog.New(slog.NewTextHandler(s.log, nil)),
		})
		if err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return s
}

// dial connects once the agent listens.
func (s *served) dial() *talker {
	s.t.Helper()
	<-s.listens
	conn, err := net.Dial("unix", s.socket)
	if err != nil {
		s.t.Fatalf("%v; log:\n%s", err, s.log)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return &talker{s.t, s, conn, protocol.NewReader(conn)}
}

func (s *served) hello(container string) *talker {
	s.t.Helper()
	c := s.dial()
	c.say(protocol.Message{Type: protocol.Hello, Container: container, State: protocol.Held})
	return c
}

// reported waits for the next report.
func (s *served) reported() {
	s.t.Helper()
	select {
	case <-s.reports:
	case <-time.After(patience):
		s.t.Fatalf("no report; log:\n%s", s.log)
	}
}

// talker is the other end of a connection.
type talker struct {
	t    *testing.T
	of   *served
	conn net.Conn
	in   *protocol.Reader
}

func (c *talker) say(m protocol.Message) {
	c.t.Helper()
	line, err := protocol.Encode(m)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(string(line))
}

func (c *talker) write(text string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(text)); err != nil {
		c.t.Fatalf("writing %q: %v", text, err)
	}
}

// hears waits for a message.
func (c *talker) hears(kind protocol.Type, epoch int32) protocol.Message {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	m, err := c.in.Next()
	if err != nil || m.Type != kind || m.Epoch != epoch {
		c.t.Fatalf("got %+v, %v; want %s of epoch %d; log:\n%s", m, err, kind, epoch, c.of.log)
	}
	return m
}

// ends waits for the end of the connection.
func (c *talker) ends() {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	m, err := c.in.Next()
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("got %+v, %v; want the end of the connection; log:\n%s", m, err, c.of.log)
	}
}

func TestTheSocket(t *testing.T) {
	t.Parallel()
	t.Run("P61 P62: two rounds over a real socket, which any user may connect to", func(t *testing.T) {
		t.Parallel()
		s := serveSocket(t, sharedDir(t), "x")
		c := s.hello("x")
		s.reported()
		if info, err := os.Stat(s.socket); err != nil || info.Mode().Perm() != 0o666 {
			t.Errorf("the socket has mode %v, %v", info.Mode(), err)
		}
		s.fake.set(at(0, 1))
		c.hears(protocol.Start, 1)
		c.say(protocol.Message{Type: protocol.Running, Epoch: 1})
		s.fake.set(at(1, 1))
		if stop := c.hears(protocol.Stop, 0); stop.GraceSeconds != 1 {
			t.Errorf("the stop is %+v", stop)
		}
		c.say(protocol.Message{Type: protocol.Ready, Epoch: 1, Exit: &protocol.Exit{Code: 143, Stopped: true}})
		s.reported()
		s.fake.set(at(1, 2))
		c.hears(protocol.Start, 2)
	})
	t.Run("P61: what a predecessor that was killed has left is in nobody's way", func(t *testing.T) {
		t.Parallel()
		dir := sharedDir(t)
		old, err := net.Listen("unix", filepath.Join(dir, protocol.Socket))
		if err != nil {
			t.Fatal(err)
		}
		old.(*net.UnixListener).SetUnlinkOnClose(false)
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		s := serveSocket(t, dir, "x")
		s.hello("x")
		s.reported()
	})
	t.Run("P62: a second connection of a container ends the first one, whose messages count no more", func(t *testing.T) {
		t.Parallel()
		s := serveSocket(t, sharedDir(t), "x")
		first := s.hello("x")
		s.reported()
		second := s.hello("x")
		first.ends()
		s.fake.set(at(0, 1))
		second.hears(protocol.Start, 1)
		third := s.dial()
		third.say(protocol.Message{Type: protocol.Hello, Container: "x", State: protocol.Runs, Epoch: 1})
		second.ends()
		s.fake.set(at(1, 1))
		third.hears(protocol.Stop, 0)
	})
	t.Run("P62: start is never sent again to a supervisor that was restarted", func(t *testing.T) {
		t.Parallel()
		s := serveSocket(t, sharedDir(t), "x")
		c := s.hello("x")
		s.reported()
		s.fake.set(at(0, 1))
		c.hears(protocol.Start, 1)
		_ = c.conn.Close()
		c = s.hello("x")
		s.reported()
		wantReport(t, s.fake, "a", "2")
		s.fake.set(at(1, 1))
		s.fake.set(at(1, 2))
		c.hears(protocol.Start, 2)
	})
	t.Run("P61: the end of the agent ends the connections", func(t *testing.T) {
		t.Parallel()
		s := serveSocket(t, sharedDir(t), "x")
		c := s.hello("x")
		s.reported()
		s.stop()
		c.ends()
	})
}

// shortListener is the socket of a node that is short of a resource, until its errors are used up.
type shortListener struct {
	net.Listener
	errors []error
}

func (l *shortListener) Accept() (net.Conn, error) {
	if len(l.errors) > 0 {
		err := l.errors[0]
		l.errors = l.errors[1:]
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", err)}
	}
	return l.Listener.Accept()
}

func TestANodeThatIsShortOfAResource(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENFILE, syscall.EMFILE, syscall.ENOMEM, syscall.ENOBUFS} {
		t.Run("P61: a connection that cannot be accepted ends no agent: "+errno.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := supervised.Pipes()
				pipes, err := network.Listen("x")
				if err != nil {
					t.Fatal(err)
				}
				listener := &shortListener{Listener: pipes}
				for range 2 * (1 + strangers) { // more often than there are slots
					listener.errors = append(listener.errors, errno)
				}
				s := serve(listener, 1)
				defer s.close()
				accepted := make(chan error, 1)
				go func() {
					_, err := network.Dial("x")
					accepted <- err
				}()
				select {
				case err = <-accepted:
				case err = <-s.broken:
				case <-time.After(time.Minute):
					err = errors.New("nothing is accepted")
				}
				if err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestWhatIsNoSupervisorIsSentAway(t *testing.T) {
	t.Parallel()
	long := `{"version":1,"type":"hello","container":"` + strings.Repeat("x", protocol.MaxLine) + `"}` + "\n"
	hello := `{"version":1,"type":"hello","container":"x","state":"held"}` + "\n"
	for name, tc := range map[string]struct{ text, log string }{
		"P61: a container that nobody expects": {`{"version":1,"type":"hello","container":"z","state":"held"}` + "\n", `WORKER_CONTAINERS does not name container`},
		"P61: no container":                    {`{"version":1,"type":"hello","state":"held"}` + "\n", `WORKER_CONTAINERS does not name container`},
		"P61: a newer version":                 {`{"version":2,"type":"hello","container":"x","state":"held"}` + "\n", "version 2, this program speaks 1"},
		"P61: an older version":                {`{"type":"hello","container":"x","state":"held"}` + "\n", "version 0, this program speaks 1"},
		"P61: an unknown message":              {`{"version":1,"type":"dance","container":"x"}` + "\n", "unknown type"},
		"P61: an unknown state":                {`{"version":1,"type":"hello","container":"x","state":"asleep"}` + "\n", "unknown state"},
		"P61: no hello":                        {`{"version":1,"type":"ready","container":"x"}` + "\n", "the first message is ready, not hello"},
		"P61: garbage":                         {"GET / HTTP/1.1\r\n\r\n", "not a JSON object"},
		"P61: a message without an end":        {long, "more than 4096 bytes"},
		"P61: hello twice":                     {hello + hello, "hello was not expected"},
		"P61: what only an agent says":         {hello + `{"version":1,"type":"start","epoch":1}` + "\n", "start was not expected"},
		"P62: a worker that nobody started":    {hello + `{"version":1,"type":"running","epoch":7}` + "\n", "epoch 7, which was never requested"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveSocket(t, sharedDir(t), "x")
			c := s.dial()
			c.write(tc.text)
			c.ends()
			s.hello("x")
			s.reported()
			if !strings.Contains(s.log.String(), tc.log) {
				t.Errorf("the log does not say %q:\n%s", tc.log, s.log)
			}
		})
	}
}

func TestASocketThatCannotBeServed(t *testing.T) {
	t.Parallel()
	cfg := testConfig
	cfg.Containers, cfg.SupervisorDir = []string{"x"}, "/nowhere"
	outcome, err := Run(t.Context(), cfg, Deps{API: &rest.Config{Host: "http://fake"}})
	var wrong *setting.Error
	if !errors.As(err, &wrong) || wrong.Setting != "SUPERVISOR_DIR" || exitCode(cfg, outcome, err) != 64 {
		t.Errorf("P37: error %v", err)
	}
}

func TestStrangersAtTheSocket(t *testing.T) {
	bubble(t, "P61: many that say nothing delay a supervisor, and no more than that", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		pod := newPod(t, "a", "x")
		agent := pod.start(t, fake)
		for range 3 * strangers {
			go func() {
				if c := pod.dial(); c != nil {
					_, _ = io.Copy(io.Discard, c)
				}
			}()
		}
		pass(time.Millisecond)
		x := &actor{t: t, pod: pod, container: "x", state: protocol.Held}
		go x.connect()
		pass(time.Second)
		wantReport(t, fake, "a", "")
		pass(40 * time.Second)
		wantReport(t, fake, "a", "1")
		t.Cleanup(x.kill)
		fake.set(at(0, 1))
		pass(time.Second)
		wantRuns(t, agent, 1, x)
	})
	bubble(t, "P61: one that does not read is given up", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		pod := newPod(t, "a", "x")
		pod.start(t, fake)
		c := pod.dial()
		line, err := protocol.Encode(protocol.Message{Type: protocol.Hello, Container: "x", State: protocol.Held})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(line); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		wantReport(t, fake, "a", "1")
		fake.set(at(0, 1))
		pass(2 * time.Second)
		if _, err := c.Write(line); err == nil {
			t.Error("the connection is still there")
		}
	})
}

// TestTheAgentMayBeFasterThanTheInstallation: the postStart hook runs beside the agent's first process.
func TestTheAgentMayBeFasterThanTheInstallation(t *testing.T) {
	dir := sharedDir(t)
	run := filepath.Join(dir, protocol.RunDir)
	if err := os.Remove(run); err != nil {
		t.Fatal(err)
	}
	listener, err := listenUnix(filepath.Join(dir, protocol.Socket))
	if err != nil {
		t.Fatalf("P75: %v", err)
	}
	defer func() { _ = listener.Close() }()
	info, err := os.Stat(run)
	if err != nil {
		t.Fatal(err)
	}
	if want := os.ModeDir | os.ModeSticky | 0o777; info.Mode() != want {
		t.Errorf("P61 P75: the mode of the directory is %v, want %v", info.Mode(), want)
	}
}
