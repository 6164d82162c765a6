/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package probe

import (
	"net/netip"
	"slices"
	"time"
)

// admit makes room for a connection. It returns false if the port was closed.
func (d *Server) admit(g *clientConn) bool {
	d.mu.Lock()
	for !d.closed && len(d.conns) >= d.limits.Connections {
		evicted := d.conns[evictee(d.conns, g.from)]
		if d.closeTimer != nil {
			// The evicted connection may have been the kubelet's.
			d.closeTimer.Reset(d.limits.Linger)
		}
		d.mu.Unlock()
		evicted.abort()
		// Wait until it is gone: the limit bounds memory.
		<-evicted.gone
		d.mu.Lock()
	}
	defer d.mu.Unlock()
	if d.closed {
		g.abort()
		return false
	}
	d.conns = append(d.conns, g)
	return true
}

// evictee returns the index of the connection to close when the limit is reached and another one comes
// from an address: of the address with the most connections, the oldest that has not sent its
// request, else the oldest. The kubelet has one connection from its own address, and sends its
// request at once. So a flood from one address evicts only its own connections; to evict the
// kubelet's takes as many addresses as there may be connections, and then the kubelet retries.
func evictee(conns []*clientConn, comes netip.Addr) int {
	connections := map[netip.Addr]int{comes: 1}
	for _, g := range conns {
		connections[g.from]++
	}
	found := 0
	for i, g := range conns {
		best := conns[found]
		switch more := connections[g.from] - connections[best.from]; {
		case more > 0, more == 0 && best.asked && !g.asked:
			found = i
		}
	}
	return found
}

// abort resets a connection, so that the kernel keeps no state of it either.
func (g *clientConn) abort() {
	_ = g.conn.SetLinger(0)
	_ = g.conn.Close()
}

// done closes the port soon: a client has read that the barrier is lifted.
func (d *Server) done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closeTimer == nil && !d.closed {
		d.closeTimer = time.AfterFunc(d.limits.Linger, d.closePort)
	}
}

func (d *Server) remove(g *clientConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns = slices.DeleteFunc(d.conns, func(other *clientConn) bool { return other == g })
}
