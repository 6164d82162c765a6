/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/test/supervised"
)

// pod is a Pod in process mode, in a synctest bubble: its shared volume, and the way to the socket.
type pod struct {
	// address is what its agent tells of it, empty if nothing.
	address string
	place   Place
	// leases: its agent reports in a Lease.
	leases     bool
	name       string
	containers []string
	dir        string
	// network is in memory: a bubble cannot wait for a real socket.
	network supervised.Network
}

func newPod(t *testing.T, name string, containers ...string) *pod {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, protocol.RunDir), 0o700); err != nil {
		t.Fatal(err)
	}
	return &pod{name: name, containers: containers, dir: dir, network: supervised.Pipes()}
}

// dial connects to the agent; nil if none listens.
func (p *pod) dial() net.Conn {
	conn, err := p.network.Dial(filepath.Join(p.dir, protocol.Socket))
	if err != nil {
		return nil
	}
	return conn
}

// start starts the agent of the Pod and waits until it is idle.
func (p *pod) start(t *testing.T, fake *fakeAPI) *agentProcess {
	t.Helper()
	cfg := testConfig
	cfg.PodName, cfg.Containers, cfg.SupervisorDir, cfg.StopGrace = p.name, p.containers, p.dir, 2*time.Second
	cfg.Address, cfg.Place = p.address, p.place
	if p.leases {
		cfg.ReportsInLease, cfg.PodUID = true, "uid-of-"+p.name
	}
	ctx, stop := context.WithCancelCause(t.Context())
	a := &agentProcess{stop: stop, ended: make(chan struct{}), log: &lockedBuffer{}}
	log := slog.New(slog.NewTextHandler(a.log, nil))
	go func() {
		defer close(a.ended)
		a.outcome, a.err = Run(ctx, cfg, Deps{
			API: &rest.Config{Host: "http://fake", Transport: inProcess{fake}}, Listen: p.network.Listen, Log: log, Rand: half,
		})
	}()
	t.Cleanup(func() {
		stop(nil)
		<-a.ended
	})
	pass(100 * time.Millisecond)
	return a
}

// crash ends the agent as SIGKILL would.
func (a *agentProcess) crash() {
	a.stop(errors.New("killed"))
	<-a.ended
	synctest.Wait()
}

// actor is a supervisor that does as the protocol says, and a worker that does as the test says.
type actor struct {
	t         *testing.T
	pod       *pod
	container string

	mu   sync.Mutex
	conn net.Conn
	// state, epoch, bypass and exit are what the next hello says.
	state  protocol.State
	epoch  int32
	bypass bool
	exit   *protocol.Exit
	gone   bool
	// hangs: the worker does not end when it is stopped. deaf: nothing is answered or obeyed.
	hangs, deaf bool
	// loyal: it connects again whenever the connection ends. wrap, if set, changes a new connection.
	loyal bool
	wrap  func(net.Conn) net.Conn
	// ran has all epochs in which its worker was started.
	ran []int32
	// heard has all messages of the agent.
	heard []protocol.Message
}

// supervise starts the supervisor of a container and connects it.
func (p *pod) supervise(t *testing.T, container string) *actor {
	t.Helper()
	s := &actor{t: t, pod: p, container: container, state: protocol.Held}
	t.Cleanup(func() { s.kill() })
	s.connect()
	synctest.Wait()
	return s
}

// connect connects, says hello, and obeys until the connection ends.
func (s *actor) connect() {
	s.t.Helper()
	conn := s.pod.dial()
	if conn == nil {
		return // no agent listens
	}
	s.mu.Lock()
	if s.wrap != nil {
		conn = s.wrap(conn)
	}
	s.conn = conn
	hello := protocol.Message{
		Type: protocol.Hello, Container: s.container, State: s.state, Epoch: s.epoch, Bypass: s.bypass, Exit: s.exit,
	}
	s.mu.Unlock()
	s.say(hello)
	go s.obey(conn)
}

// say sends a message; an error is the end of the connection, which obey notices.
func (s *actor) say(m protocol.Message) {
	line, err := protocol.Encode(m)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	_, _ = conn.Write(line)
}

func (s *actor) obey(conn net.Conn) {
	messages := protocol.NewReader(conn)
	for {
		m, err := messages.Next()
		if err != nil {
			_ = conn.Close()
			s.mu.Lock()
			again := s.loyal && !s.gone
			s.mu.Unlock()
			if again {
				select {
				case <-time.After(10 * time.Millisecond):
					s.connect()
				case <-s.t.Context().Done():
				}
			}
			return
		}
		s.mu.Lock()
		s.heard = append(s.heard, m)
		deaf := s.deaf
		s.mu.Unlock()
		if !deaf {
			s.follow(m)
		}
	}
}

func (s *actor) follow(m protocol.Message) {
	switch m.Type {
	case protocol.Start:
		s.mu.Lock()
		s.state, s.epoch, s.bypass, s.exit = protocol.Runs, m.Epoch, m.Bypass, nil
		s.ran = append(s.ran, m.Epoch)
		s.mu.Unlock()
		s.say(protocol.Message{Type: protocol.Running, Epoch: m.Epoch, Bypass: m.Bypass})
	case protocol.Stop:
		s.mu.Lock()
		hangs := s.hangs
		s.mu.Unlock()
		if !hangs {
			s.end(protocol.Exit{Code: 143, Signal: 15, Stopped: true})
		}
	case protocol.Leave:
		s.kill()
	}
}

// end is the end of the worker, if one runs.
func (s *actor) end(exit protocol.Exit) {
	exit.Time = time.Now().UTC()
	s.mu.Lock()
	if s.state == protocol.Runs {
		s.state, s.exit = protocol.Ended, &exit
	}
	m := protocol.Message{Type: protocol.Ready, Epoch: s.epoch, Bypass: s.bypass, Exit: s.exit}
	s.mu.Unlock()
	s.say(m)
}

// fails is a worker that exits with a code.
func (s *actor) fails(code int) {
	s.end(protocol.Exit{Code: code})
	synctest.Wait()
}

// finishes is a worker that exits with 0, and its supervisor with it.
func (s *actor) finishes() {
	s.t.Helper()
	done := protocol.OwnFile(s.pod.dir, s.container, protocol.DoneFile)
	if err := errors.Join(os.MkdirAll(filepath.Dir(done), 0o700), os.WriteFile(done, nil, 0o600)); err != nil {
		s.t.Fatal(err)
	}
	s.say(protocol.Message{Type: protocol.Done, Epoch: s.epoch, Exit: &protocol.Exit{Time: time.Now().UTC()}})
	s.kill()
	synctest.Wait()
}

// disconnect breaks the connection.
func (s *actor) disconnect() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	_ = conn.Close()
	synctest.Wait()
}

// kill ends the supervisor and its worker.
func (s *actor) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	_ = s.conn.Close()
}

// restart is the kubelet that starts the container again.
func (s *actor) restart() {
	s.t.Helper()
	s.kill()
	synctest.Wait()
	s.mu.Lock()
	s.state, s.epoch, s.bypass, s.exit, s.gone = protocol.Held, 0, false, nil, false
	s.mu.Unlock()
	s.connect()
	synctest.Wait()
}

// back connects again.
func (s *actor) back() {
	s.connect()
	synctest.Wait()
}

func (s *actor) isGone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// runs returns the epoch at which the worker runs, 0 if it runs outside of all, -1 if none does.
func (s *actor) runs() int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || s.state != protocol.Runs {
		return -1
	}
	return s.epoch
}

// told returns the messages of a type that the agent has sent.
func (s *actor) told(kind protocol.Type) []protocol.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []protocol.Message
	for _, m := range s.heard {
		if m.Type == kind {
			found = append(found, m)
		}
	}
	return found
}

func wantRuns(t *testing.T, a *agentProcess, epoch int32, actors ...*actor) {
	t.Helper()
	for _, s := range actors {
		if got := s.runs(); got != epoch {
			t.Fatalf("container %s of Pod %s runs at %d, want %d; log:\n%s", s.container, s.pod.name, got, epoch, a.log)
		}
	}
}
