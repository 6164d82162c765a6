/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package bounded limits what strangers cost the manager: whoever reaches its ports, and whoever may create objects
// that its webhooks are called for.
package bounded

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// Listener bounds the connections of an http.Server, whose ConnState must be State. Above a limit it closes the one that
// has been without a request for the longest time: behind one address there may be many clients, with API servers among
// them. If all have one, it closes the new one: if that waited, the API server would, too.
type Listener struct {
	net.Listener

	atOnce, ofOne int

	mu      sync.Mutex
	open    int
	sources map[string]*source
}

// source is an address.
type source struct {
	open int
	idle list.List // of its connections, the longest first
}

// Listen returns a listener with at most atOnce connections, ofOne address at most ofOne.
func Listen(inner net.Listener, atOnce, ofOne int) *Listener {
	return &Listener{Listener: inner, atOnce: atOnce, ofOne: ofOne, sources: map[string]*source{}}
}

// Accept returns the next connection that is within the limits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address, _, err := net.SplitHostPort(inner.RemoteAddr().String())
		if err != nil {
			address = inner.RemoteAddr().String()
		}
		conn := &connection{Conn: inner, listener: l, address: address}
		if l.enter(conn) {
			return conn, nil
		}
		_ = inner.Close()
	}
}

func (l *Listener) enter(conn *connection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.sources[conn.address]
	if from != nil && from.open == l.ofOne {
		if !l.closeIdle(from) {
			return false
		}
	} else if l.open == l.atOnce && !l.closeIdle(l.busiest()) {
		return false
	}
	if from = l.sources[conn.address]; from == nil {
		from = &source{}
		l.sources[conn.address] = from
	}
	l.open++
	from.open++
	conn.waits = from.idle.PushBack(conn)
	return true
}

// busiest returns the address with the most connections, so that whoever fills the port closes their own.
func (l *Listener) busiest() *source {
	var most *source
	for _, s := range l.sources {
		if most == nil || s.open > most.open {
			most = s
		}
	}
	return most
}

// closeIdle closes the connection of an address that is idle for the longest time, if one is.
func (l *Listener) closeIdle(from *source) bool {
	if from == nil || from.idle.Len() == 0 {
		return false
	}
	conn := from.idle.Front().Value.(*connection)
	l.leave(conn)
	_ = conn.Conn.Close()
	return true
}

// leave counts a connection no more.
func (l *Listener) leave(conn *connection) {
	if conn.left {
		return
	}
	conn.left = true
	from := l.sources[conn.address]
	if conn.waits != nil {
		from.idle.Remove(conn.waits)
	}
	l.open--
	if from.open--; from.open == 0 {
		delete(l.sources, conn.address)
	}
}

// State is told what a connection does. One that was just accepted has no request.
func (l *Listener) State(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	ours, ok := conn.(*connection)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch from := l.sources[ours.address]; {
	case ours.left:
	case state == http.StateActive && ours.waits != nil:
		from.idle.Remove(ours.waits)
		ours.waits = nil
	case state == http.StateIdle && ours.waits == nil:
		ours.waits = from.idle.PushBack(ours)
	}
}

// connection is one that a Listener counts. What it knows of it is guarded by the Listener.
type connection struct {
	net.Conn

	listener *Listener
	address  string
	waits    *list.Element // nil while it has a request
	left     bool
}

// Close closes the connection, and counts it no more.
func (c *connection) Close() error {
	c.listener.mu.Lock()
	c.listener.leave(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
