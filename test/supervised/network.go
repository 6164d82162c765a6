/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervised

import (
	"net"
	"sync"
	"syscall"
)

// Network is how agents and supervisors reach one another.
type Network struct {
	// Listen is for agent.Deps; nil is a real socket.
	Listen func(path string) (net.Listener, error)
	Dial   func(path string) (net.Conn, error)
}

// Sockets are real ones.
func Sockets() Network {
	return Network{Dial: func(path string) (net.Conn, error) { return net.Dial("unix", path) }}
}

// Pipes is a network in memory, which needs no file descriptors: thousands of Pods fit into one process.
func Pipes() Network {
	p := &pipes{listeners: map[string]*listener{}}
	return Network{Listen: p.listen, Dial: p.dial}
}

type pipes struct {
	mu        sync.Mutex
	listeners map[string]*listener
}

// listen takes a path over from whoever has it, as an agent does with the socket of its predecessor.
func (p *pipes) listen(path string) (net.Listener, error) {
	l := &listener{of: p, path: path, conns: make(chan net.Conn), closed: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners[path] = l
	return l, nil
}

func (p *pipes) dial(path string) (net.Conn, error) {
	p.mu.Lock()
	l := p.listeners[path]
	p.mu.Unlock()
	if l == nil {
		return nil, syscall.ENOENT
	}
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, syscall.ECONNREFUSED
	}
}

type listener struct {
	of     *pipes
	path   string
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.of.mu.Lock()
		defer l.of.mu.Unlock()
		if l.of.listeners[l.path] == l {
			delete(l.of.listeners, l.path)
		}
	})
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }
