/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/shared"
)

const (
	// maxDatagram bounds what is read of one; the rest of a longer one is lost, with the line that it would cut.
	maxDatagram = 512
	// burst is how many datagrams are read before a sender who floods the socket has to wait as long as reading them took.
	burst = 256
	// idle is how long a read waits at an empty socket, at least, for what came before to be no flood.
	idle = time.Millisecond
	// maxProgressFile is how much of the progress file counts.
	maxProgressFile = 256
)

// mailbox receives the signs of one run of a worker (P130). A run has a socket of its own, since a datagram
// outlives its sender. One goroutine reads always and keeps only what the signs add up to.
type mailbox struct {
	socket *os.File
	path   string
	// file is the progress file, content what it held at the last look.
	file, content string

	mu    sync.Mutex
	signs Signs
	// last is when the last datagram came.
	last time.Time
}

// openMailbox binds the socket of a run, and removes what an earlier one left.
func openMailbox(set Settings, r Run) (*mailbox, error) {
	m := &mailbox{
		path: set.own(protocol.NotifyPrefix + strconv.Itoa(int(r.Epoch))),
		file: set.own(protocol.ProgressFile),
	}
	for _, path := range []string{m.path, m.file} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := syscall.Bind(socket, &syscall.SockaddrUnix{Name: m.path}); err != nil {
		_ = syscall.Close(socket)
		return nil, &os.PathError{Op: "bind", Path: m.path, Err: err}
	}
	m.socket = os.NewFile(uintptr(socket), m.path)
	// The program may run as another user than the supervisor.
	if err := shared.Chmod(m.path, os.ModeSocket, 0o666); err != nil {
		return nil, errors.Join(err, m.close())
	}
	go m.read()
	return m, nil
}

// read returns when the socket is closed. It reads without a buffer for control messages, so the kernel drops
// file descriptors that are sent along.
func (m *mailbox) read() {
	buffer := make([]byte, maxDatagram+1) // of a longer datagram one byte more arrives, which tells that it was cut
	for began, count := time.Now(), 0; ; count++ {
		if count == burst {
			<-time.After(min(time.Since(began), time.Second))
			began, count = time.Now(), 0
		}
		asked := time.Now()
		n, err := m.socket.Read(buffer)
		if err != nil && !errors.Is(err, io.EOF) { // an empty datagram looks like the end of a file
			return
		}
		if time.Since(asked) > idle { // time spent waiting is no work: a sender of few signs would wait as long
			began, count = time.Now(), 0
		}
		m.mu.Lock()
		m.signs.add(wholeLines(buffer[:n]))
		m.last = time.Now()
		m.mu.Unlock()
	}
}

// wholeLines returns the lines of a datagram that were not cut: the first digits of a number are another number.
func wholeLines(datagram []byte) []byte {
	if len(datagram) <= maxDatagram {
		return datagram
	}
	return datagram[:bytes.LastIndexByte(datagram, '\n')+1]
}

// take returns the signs since the last call.
func (m *mailbox) take() Signs {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.signs != (Signs{}) {
		m.signs.Ago = time.Since(m.last)
	}
	if content, ok := readProgress(m.file); ok && content != m.content {
		m.content, m.signs.Alive, m.signs.Ago = content, true, 0
		if words := strings.Fields(content); len(words) > 0 {
			m.signs.step([]byte(words[0]))
		}
	}
	signs := m.signs
	m.signs = Signs{}
	return signs
}

func (m *mailbox) close() error {
	return errors.Join(m.socket.Close(), os.Remove(m.path))
}

// readProgress reads the beginning of a file that a worker wrote; only a regular one counts.
func readProgress(path string) (string, bool) {
	file, err := shared.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return "", false
	}
	defer func() { _ = file.Close() }()
	buffer := make([]byte, maxProgressFile)
	n, err := io.ReadFull(file, buffer)
	return string(buffer[:n]), err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
