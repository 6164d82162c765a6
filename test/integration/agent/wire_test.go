/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
)

// wire sees every request of an agent and what it reads of JobSets, and can be cut.
type wire struct {
	mu       sync.Mutex
	requests []*http.Request
	next     http.RoundTripper
	cut      atomic.Bool
	// given is what the agent has read. It had read as much as taken when it last asked for more.
	given bytes.Buffer
	taken int
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.requests = append(w.requests, r)
	w.mu.Unlock()
	if w.cut.Load() {
		return nil, errors.New("the wire is cut")
	}
	answer, err := w.next.RoundTrip(r)
	if err == nil && r.Method == http.MethodGet {
		answer.Body = body{answer.Body, w}
	}
	return answer, err
}

// body is that of a watch or list, of which an agent has one at a time.
type body struct {
	io.ReadCloser
	wire *wire
}

func (b body) Read(into []byte) (int, error) {
	b.wire.mu.Lock()
	b.wire.taken = b.wire.given.Len()
	b.wire.mu.Unlock()
	n, err := b.ReadCloser.Read(into)
	b.wire.mu.Lock()
	defer b.wire.mu.Unlock()
	b.wire.given.Write(into[:n])
	return n, err
}

// took reports whether the agent has taken in a line of an answer that has this text, and asked for the next one.
func (w *wire) took(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.given.Bytes()[:w.taken]
	return bytes.Contains(taken[:bytes.LastIndexByte(taken, '\n')+1], []byte(text))
}

// sent returns the requests with a method so far.
func (w *wire) sent(method string) []*url.URL {
	w.mu.Lock()
	defer w.mu.Unlock()
	var urls []*url.URL
	for _, r := range w.requests {
		if r.Method == method {
			urls = append(urls, r.URL)
		}
	}
	return urls
}
