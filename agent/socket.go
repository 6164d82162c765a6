/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sigs.k8s.io/jobset/agent/internal/accept"
	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/shared"
)

const (
	// helloWithin is how long a connection may take to say hello.
	helloWithin = 10 * time.Second
	// sendWithin is how long a write may take. Messages are much smaller than the buffer of
	// a socket, so it blocks only if the other side has not read for a long time.
	sendWithin = time.Second
	// strangers bounds the connections beyond one for each container, and so the memory
	// that a process of the Pod can make the agent use.
	strangers = 16
)

// link is a connection of a supervisor, or of whoever reached the socket.
type link struct {
	conn net.Conn
	// container is that of its hello, empty before. Only the loop of the agent touches it.
	container string
}

// event is a message of a link, or its end if err is set.
type event struct {
	from    *link
	message protocol.Message
	err     error
}

// server accepts connections and delivers their messages.
type server struct {
	listener net.Listener
	events   chan event
	broken   chan error
	ctx      context.Context
	cancel   context.CancelFunc
	slots    chan struct{}
	readers  sync.WaitGroup
}

// listenUnix binds the socket in the shared volume (P61). Any process of the Pod may connect, by any user.
func listenUnix(path string) (net.Listener, error) {
	// The hook that installs the supervisor runs at the same time, and makes the directory with the same mode (P75). In
	// Pods with an init container for that it exists.
	if err := makeRunDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	// A predecessor that was killed has left it.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := shared.Chmod(path, os.ModeSocket, 0o666); err != nil {
		_ = listener.Close()
		return nil, err
	}
	return listener, nil
}

// makeRunDir makes a directory in which everybody may create files and only their owners remove them.
func makeRunDir(path string) error {
	switch err := os.Mkdir(path, 0o700); {
	case errors.Is(err, os.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return shared.Chmod(path, os.ModeDir, 0o777|os.ModeSticky) // mkdir alone would take the umask away
}

func serve(listener net.Listener, containers int) *server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{
		listener: listener, events: make(chan event), broken: make(chan error, 1),
		ctx: ctx, cancel: cancel, slots: make(chan struct{}, containers+strangers),
	}
	s.readers.Go(s.accept)
	return s
}

func (s *server) accept() {
	for {
		select {
		case s.slots <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		conn, err := s.listener.Accept()
		switch {
		case err == nil:
			s.readers.Go(func() {
				s.read(conn)
				<-s.slots
			})
		case s.ctx.Err() != nil:
			return
		case accept.IsShort(err):
			<-s.slots
			if !sleep(s.ctx, accept.RetryAfter) {
				return
			}
		default:
			s.broken <- fmt.Errorf("accepting connections of supervisors: %w", err)
			return
		}
	}
}

// read delivers what one connection says, and its end.
func (s *server) read(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetReadDeadline(time.Now().Add(helloWithin))
	from, messages := &link{conn: conn}, protocol.NewReader(conn)
	for {
		message, err := messages.Next()
		select {
		case s.events <- event{from, message, err}:
		case <-s.ctx.Done():
			return
		}
		if err != nil {
			return
		}
		_ = conn.SetReadDeadline(time.Time{})
	}
}

// close ends all connections and waits for their readers.
func (s *server) close() {
	s.cancel()
	_ = s.listener.Close()
	s.readers.Wait()
}

// send writes a message. After an error the connection is closed, which its reader notices.
func (l *link) send(m protocol.Message) error {
	line, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	_ = l.conn.SetWriteDeadline(time.Now().Add(sendWithin))
	if _, err := l.conn.Write(line); err != nil {
		_ = l.conn.Close()
		return fmt.Errorf("sending %s: %w", m.Type, err)
	}
	return nil
}

// ended reports whether an error is the ordinary end of a connection.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}
