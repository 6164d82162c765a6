/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package proxy

import (
	"net"
	"sync"
)

// gate is a connection that can fall silent, as in a network that loses every
// packet: nothing is closed, nothing arrives, and what was under way arrives
// when the network is back.
type gate struct {
	net.Conn
	forget func()
	silent silence

	mu     sync.Mutex
	client string
	once   sync.Once
	closed chan struct{}
}

type gateKey struct{}

// gatedListener puts a gate around each connection.
type gatedListener struct {
	net.Listener
	proxy *Proxy
}

func (l gatedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &gate{Conn: conn, closed: make(chan struct{})}
	g.forget = func() {
		l.proxy.mu.Lock()
		defer l.proxy.mu.Unlock()
		delete(l.proxy.gates, g)
	}
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.proxy.gates[g] = struct{}{}
	return g, nil
}

// gateOf finds the gate below TLS.
func gateOf(conn net.Conn) *gate {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	g, _ := conn.(*gate)
	return g
}

func (g *gate) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if !g.silent.wait(g.closed) {
		return 0, net.ErrClosed
	}
	return n, err
}

func (g *gate) Write(b []byte) (int, error) {
	if !g.silent.wait(g.closed) {
		return 0, net.ErrClosed
	}
	return g.Conn.Write(b)
}

func (g *gate) Close() error {
	g.once.Do(func() {
		close(g.closed)
		g.forget()
	})
	return g.Conn.Close()
}

// drop ends the connection without a word of farewell.
func (g *gate) drop() {
	if tcp, ok := g.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset instead of an orderly end
	}
	_ = g.Close()
}

func (g *gate) name(client string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.client = client
}

func (g *gate) belongsTo(client string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.client == client
}

// cut is a client without a network.
type cut struct {
	silent bool
	over   chan struct{}
}

// Cut takes the network from a client until Heal: its connections fall silent
// and new ones hang, or, if not silent, they break and new ones are refused.
func (p *Proxy) Cut(client string, silent bool) {
	p.mu.Lock()
	if _, already := p.cuts[client]; already {
		p.mu.Unlock()
		return
	}
	p.cuts[client] = &cut{silent: silent, over: make(chan struct{})}
	p.counts[CutOff]++
	var its []*gate
	for g := range p.gates {
		if g.belongsTo(client) {
			its = append(its, g)
		}
	}
	p.mu.Unlock()
	for _, g := range its {
		if silent {
			g.silent.begin()
		} else {
			g.drop()
		}
	}
}

// Heal ends the plan and every cut.
func (p *Proxy) Heal() {
	p.mu.Lock()
	p.plan = Plan{}
	for client, c := range p.cuts {
		close(c.over)
		delete(p.cuts, client)
	}
	for s := range p.streams {
		s.heal()
	}
	gates := make([]*gate, 0, len(p.gates))
	for g := range p.gates {
		gates = append(gates, g)
	}
	p.mu.Unlock()
	for _, g := range gates {
		g.silent.end()
	}
}

func (p *Proxy) cutOf(client string) *cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts[client]
}
