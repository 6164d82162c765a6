/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/test/process"
)

// ServeHTTP lets a request meet its fate and passes it on.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	client := f.client
	if client == "" {
		client = r.UserAgent()
	}
	g, _ := r.Context().Value(gateKey{}).(*gate)
	if g == nil {
		http.Error(w, "the proxy has lost the connection", http.StatusInternalServerError)
		return
	}
	g.name(client)
	if c := f.proxy.cutOf(client); c != nil {
		if c.silent {
			select {
			case <-c.over:
			case <-r.Context().Done():
			}
		}
		abort(g)
	}
	fate := f.proxy.fateOf(client, r)
	switch fate.kind {
	case None, WatchClosed, WatchStalled:
	default:
		f.proxy.count(fate.kind)
	}
	switch fate.kind {
	case Delay:
		if process.Pause(r.Context(), fate.lasts) != nil {
			return
		}
	case ResetBefore:
		abort(g)
	case TooMany:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "TooManyRequests", `,"details":{"retryAfterSeconds":1}`)
		return
	case Conflict:
		refuse(w, http.StatusConflict, "Conflict", "")
		return
	case Internal:
		refuse(w, http.StatusInternalServerError, "InternalError", "")
		return
	}
	f.forward(w, r, g, client, fate)
}

func (f *Front) forward(w http.ResponseWriter, r *http.Request, g *gate, client string, fate fate) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := r.Clone(ctx)
	out.RequestURI = ""
	out.URL.Scheme, out.URL.Host, out.Host = f.proxy.upstream.Scheme, f.proxy.upstream.Host, f.proxy.upstream.Host
	answer, err := f.proxy.transport.RoundTrip(out)
	if err != nil {
		abort(g) // the server is away: so is whoever stands before it
	}
	defer answer.Body.Close() //nolint:errcheck // read to its end, or given up
	if r.Method != http.MethodGet && answer.StatusCode < 300 && ofElection(r.URL.Path) {
		f.proxy.wroteLease(client)
	}
	if fate.kind == ResetAfter {
		_, _ = io.Copy(io.Discard, answer.Body)
		abort(g)
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if isWatch(r) {
		f.proxy.relay(ctx, cancel, w, answer.Body, client, fate)
		return
	}
	if _, err := io.Copy(w, answer.Body); err != nil {
		abort(g)
	}
}

// ofElection says whether a path is that of a Lease of a leader election. Agents report in others.
func ofElection(path string) bool {
	_, name, named := strings.Cut(path, "/leases/")
	return named && !strings.HasPrefix(name, protocol.LeasePrefix)
}

func (p *Proxy) wroteLease(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leases[client] = time.Now()
}

// abort breaks the connection that a request came by.
func abort(g *gate) {
	g.drop()
	panic(http.ErrAbortHandler)
}

// refuse answers as an API server does that says no.
func refuse(w http.ResponseWriter, code int, reason, more string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
		`"message":"this request met a fault on purpose","reason":%q%s,"code":%d}`, reason, more, code)
}
