/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package player

import (
	"context"
	"net"
	"sync"
)

// sockets are the connections of one agent process. They end with it, as the
// kernel sees to it for a real one.
type sockets struct {
	mu    sync.Mutex
	over  bool
	conns map[net.Conn]struct{}
}

func (s *sockets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	s.conns[conn] = struct{}{}
	return &socket{Conn: conn, of: s}, nil
}

func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.conns = nil
}

type socket struct {
	net.Conn
	of *sockets
}

func (s *socket) Close() error {
	s.of.mu.Lock()
	delete(s.of.conns, s.Conn)
	s.of.mu.Unlock()
	return s.Conn.Close()
}
