/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package proxy stands between an API server and those who use it, and does to
// their requests what networks and overloaded servers do: delays, dropped
// connections before or after the request took effect, answers of 429, 409 and
// 500, watches that end or fall silent, clients that are cut off.
//
//	manager-a ──> front ─┐
//	manager-b ──> front ─┼─ Plan: which request of whom meets what ──> API server
//	agents    ──> front ─┘
//
// A Front is one address with a fixed client, or with clients that name
// themselves in their User-Agent. What a request meets is a function of the
// seed of the Plan, its client and its number (schedule.go); the rest of the
// package does it (serve.go, stream.go, gate.go) and counts it.
package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Proxy is what the fronts share: the plan, the cut-off clients, the counts.
type Proxy struct {
	upstream  *url.URL
	transport *http.Transport
	serving   *tls.Config

	mu      sync.Mutex
	plan    Plan
	numbers map[string]uint64
	cuts    map[string]*cut
	gates   map[*gate]struct{}
	streams map[*stream]struct{}
	counts  Counts
	leases  map[string]time.Time
	fronts  []*Front
}

// Counts says how often each fault was done, by kind.
type Counts map[Kind]int

// Options configures New.
type Options struct {
	// Upstream is the URL of the API server, CA the authority that it is verified by.
	Upstream string
	CA       []byte
	// Certificate is what the fronts serve with.
	Certificate tls.Certificate
}

// New makes a proxy without fronts.
func New(o Options) (*Proxy, error) {
	upstream, err := url.Parse(o.Upstream)
	if err != nil {
		return nil, fmt.Errorf("parsing the URL of the API server: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(o.CA) {
		return nil, errors.New("reading the authority of the API server: no certificate in it")
	}
	return &Proxy{
		upstream: upstream,
		transport: &http.Transport{
			TLSClientConfig:    &tls.Config{RootCAs: authority, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2:  true,
			DisableCompression: true,
		},
		serving: &tls.Config{Certificates: []tls.Certificate{o.Certificate}, MinVersion: tls.VersionTLS12},
		numbers: map[string]uint64{}, cuts: map[string]*cut{}, counts: Counts{}, leases: map[string]time.Time{},
		gates: map[*gate]struct{}{}, streams: map[*stream]struct{}{},
	}, nil
}

// Front is one address of the proxy.
type Front struct {
	// URL is what a client connects to.
	URL string

	proxy  *Proxy
	client string
	server *http.Server
	done   chan struct{}
}

// Front opens an address for one client, or, without a name, for clients that
// name themselves in their User-Agent.
func (p *Proxy) Front(client string) (*Front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening a front of the proxy: %w", err)
	}
	f := &Front{URL: "https://" + listener.Addr().String(), proxy: p, client: client, done: make(chan struct{})}
	f.server = &http.Server{
		Handler: f, TLSConfig: p.serving.Clone(), ReadHeaderTimeout: time.Minute,
		// Connections that break are what a proxy of faults is for.
		ErrorLog: log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, gateKey{}, gateOf(c))
		},
	}
	go func() {
		defer close(f.done)
		_ = f.server.ServeTLS(gatedListener{listener, p}, "", "") // ends with Close
	}()
	p.mu.Lock()
	p.fronts = append(p.fronts, f)
	p.mu.Unlock()
	return f, nil
}

// Close drops all connections and stops serving.
func (p *Proxy) Close() {
	p.Heal()
	p.mu.Lock()
	fronts := p.fronts
	p.fronts = nil
	p.mu.Unlock()
	for _, f := range fronts {
		_ = f.server.Close()
		<-f.done
	}
	p.transport.CloseIdleConnections()
}

// Take returns the counts since the last call.
func (p *Proxy) Take() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.counts
	p.counts = Counts{}
	return taken
}

func (p *Proxy) count(kind Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[kind]++
}

// Leader is the client that last wrote a Lease of leader election with success.
func (p *Proxy) Leader() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var leader string
	for client, at := range p.leases {
		if leader == "" || at.After(p.leases[leader]) {
			leader = client
		}
	}
	return leader
}
