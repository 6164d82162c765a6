/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
	"sigs.k8s.io/jobset/supervisor/shared"
)

// supervisors are what the agent has in place of a Barrier in process mode: a supervisor in each worker container, and
// the files in the volume they share. Only the loop of the agent uses it.
type supervisors struct {
	dir   string
	grace time.Duration
	log   *slog.Logger

	server *server
	// links has the connected ones, by container.
	links map[string]*link
	// complaint is the last problem that was logged.
	complaint string
}

func newSupervisors(cfg Config, deps Deps) (*supervisors, error) {
	listener, err := deps.Listen(filepath.Join(cfg.SupervisorDir, protocol.Socket))
	if err != nil {
		return nil, &setting.Error{
			Setting: protocol.AgentDirEnv, Problem: fmt.Sprintf("is %q, where no socket can be served: %v", cfg.SupervisorDir, err),
			Fix: "set the path at which a volume is mounted that all containers of the Pod share and the agent may write to",
		}
	}
	return &supervisors{
		dir: cfg.SupervisorDir, grace: cfg.StopGrace, log: deps.Log,
		server: serve(listener, len(cfg.Containers)), links: map[string]*link{},
	}, nil
}

// send sends messages. What is lost the next hello tells.
func (s *supervisors) send(sends []Send) {
	for _, send := range sends {
		if (send.Message.Type == protocol.Stop && !send.AtOnce) || send.Message.Type == protocol.Leave {
			send.Message.GraceSeconds = int32(s.grace / time.Second)
		}
		if err := s.links[send.Container].send(send.Message); err != nil {
			s.complain(send.Container, err)
		}
	}
}

// take handles an event of the server. It reports whether that is a message of a supervisor that counts.
func (s *supervisors) take(e event, workers []Worker, now time.Time) (counts bool) {
	if e.from.container == "" {
		s.welcome(e, workers, now)
		return false
	}
	if s.links[e.from.container] != e.from {
		return false // What is unread of an earlier connection is dropped (P62).
	}
	w := worker(workers, e.from.container)
	err := e.err
	if err == nil {
		before := w.State
		*w, err = w.Heard(e.message, now)
		if w.State == Ended && before != Ended {
			s.log.Info("the worker has ended", "container", w.Container, "epoch", w.Epoch, "how", w.ending())
		}
	}
	if err != nil {
		_ = e.from.conn.Close()
		delete(s.links, w.Container)
		*w = w.Disconnected(now)
		s.log.Info("a supervisor is disconnected", "container", w.Container, "error", err)
	}
	return err == nil
}

// welcome takes a connection that says hello, after the end of the earlier one of this supervisor (P62).
func (s *supervisors) welcome(e event, workers []Worker, now time.Time) {
	hello := e.message
	w, err := worker(workers, hello.Container), e.err
	switch {
	case err != nil:
	case hello.Type != protocol.Hello:
		err = fmt.Errorf("the first message is %s, not hello", hello.Type)
	case w == nil:
		err = fmt.Errorf("%s does not name container %q", protocol.WorkerContainersEnv, hello.Container)
	default:
		*w, err = w.Hello(hello, now)
	}
	if err != nil {
		s.complain(hello.Container, err)
		_ = e.from.conn.Close()
		return
	}
	if earlier := s.links[w.Container]; earlier != nil {
		_ = earlier.conn.Close()
	}
	e.from.container, s.complaint = w.Container, ""
	s.links[w.Container] = e.from
	s.log.Info("a supervisor has connected", "container", w.Container, "state", hello.State, "epoch", hello.Epoch)
}

// complain logs a problem once, however often a supervisor comes back with it.
func (s *supervisors) complain(container string, err error) {
	if text := container + err.Error(); text != s.complaint && !ended(err) {
		s.complaint = text
		s.log.Warn("a connection to the socket has ended", "container", container, "error", err)
	}
}

// readDone looks which of those that are not connected have finished (P67).
func (s *supervisors) readDone(workers []Worker) {
	for i, w := range workers {
		if s.links[w.Container] == nil && w.State != Done && s.isDone(w.Container) {
			workers[i] = w.Finished()
			s.log.Info("the worker is done", "container", w.Container)
		}
	}
}

// isDone reports whether a supervisor has left the file that says so.
func (s *supervisors) isDone(container string) bool {
	for _, path := range []string{protocol.OwnFile(s.dir, container, protocol.DoneFile), protocol.SharedFile(s.dir, container, protocol.DoneFile)} {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// writeLeave makes every later agent of this Pod leave, too (P70).
func (s *supervisors) writeLeave(because string) error {
	path := filepath.Join(s.dir, protocol.LeaveFile)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	file, err := shared.OpenRegular(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return fmt.Errorf("writing that this Pod must be replaced: %w", err)
	}
	// The file counts even if there is no room for the reason: a volume that is full may stay so.
	_, _ = file.WriteString(because)
	_ = file.Close()
	return nil
}

// readLeave returns why an earlier agent has decided to leave, or "". Anything of that name means that one has,
// but only a regular file says why: a link could lead to a file that is for the agent alone.
func (s *supervisors) readLeave() string {
	file, err := shared.OpenRegular(filepath.Join(s.dir, protocol.LeaveFile), os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	because := "an earlier agent decided so"
	if err == nil {
		defer func() { _ = file.Close() }()
		if text, err := io.ReadAll(io.LimitReader(file, becauseLimit)); err == nil && len(text) > 0 {
			because = strings.ToValidUTF8(string(text), "")
		}
	}
	return because
}

// worker returns that of a container, nil if there is none.
func worker(workers []Worker, container string) *Worker {
	return find(View{Workers: workers}, func(w Worker) bool { return w.Container == container })
}
