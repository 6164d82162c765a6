/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package bounded limits what strangers cost the manager: whoever reaches its ports, and whoever may create objects
// that its webhooks are called for.
package bounded

import (
	"net"
	"sync"
)

// listener closes the connections that are above a limit. One that waited would make the API server wait, too.
type listener struct {
	net.Listener

	atOnce, ofOne int

	mu      sync.Mutex
	sources map[string]int // open connections by address
	open    int
}

// Listen returns a listener with at most atOnce connections, ofOne address at most ofOne.
func Listen(inner net.Listener, atOnce, ofOne int) net.Listener {
	return &listener{Listener: inner, atOnce: atOnce, ofOne: ofOne, sources: map[string]int{}}
}

// Accept returns the next connection that is within the limits.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		source, _, err := net.SplitHostPort(conn.RemoteAddr().String())
		if err != nil {
			source = conn.RemoteAddr().String()
		}
		if l.enter(source) {
			return &connection{Conn: conn, leave: sync.OnceFunc(func() { l.leave(source) })}, nil
		}
		_ = conn.Close()
	}
}

func (l *listener) enter(source string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == l.atOnce || l.sources[source] == l.ofOne {
		return false
	}
	l.open++
	l.sources[source]++
	return true
}

func (l *listener) leave(source string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.sources[source]--; l.sources[source] == 0 {
		delete(l.sources, source)
	}
}

type connection struct {
	net.Conn

	leave func()
}

// Close closes the connection, and counts it no more.
func (c *connection) Close() error {
	c.leave()
	return c.Conn.Close()
}
