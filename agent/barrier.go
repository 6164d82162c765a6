/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/jobset/agent/internal/probe"
	"sigs.k8s.io/jobset/supervisor/setting"
)

// Barrier holds the worker of this Pod back and releases it. ProbeBarrier does so by a
// startup probe. In process mode supervisors take its place, since they can hold a worker again.
type Barrier interface {
	// Hold starts to hold. Run calls it once, before it reads the JobSet: a startup probe
	// that has succeeded cannot fail again, so a restart ends the process. The channel,
	// which may be nil, receives an error if the barrier breaks afterwards.
	Hold() (broken <-chan error, err error)
	// Release lets the worker start.
	Release()
	// Close frees what Hold took. It does not release the worker.
	Close()
}

const (
	// BarrierPath is the path that the startup probe requests.
	BarrierPath = "/barrier-is-lifted"

	// longestWait bounds ?wait=SECONDS. A kubelet gives up long before.
	longestWait = 3600
)

// ProbeBarrier is the startup probe of a sidecar: as long as it fails, the kubelet starts
// no container after the sidecar. The port is bound from the start, so that a port that is
// in use shows at once and not when the group is about to start. It is closed some time after a
// probe succeeded. Package probe bounds what other clients can cost.
type ProbeBarrier struct {
	address string
	// second is a second, except in tests.
	second time.Duration

	server *probe.Server

	release, close sync.Once
	released       chan struct{}
	closed         chan struct{}
}

var _ Barrier = (*ProbeBarrier)(nil)

// NewProbeBarrier makes a barrier that listens on an IP address, or on all if it is empty.
func NewProbeBarrier(address string, port int) *ProbeBarrier {
	return &ProbeBarrier{
		address:  net.JoinHostPort(address, strconv.Itoa(port)),
		second:   time.Second,
		released: make(chan struct{}),
		closed:   make(chan struct{}),
	}
}

// Listen binds the port and answers 503. Hold calls it unless it was called before. A process calls it
// first of all, because the kubelet's next probe may come only a second after one that
// was not answered.
func (b *ProbeBarrier) Listen() error {
	server, err := probe.New(b.address, probe.DefaultLimits(), b.answer)
	if err != nil {
		return &setting.Error{
			Setting: envBarrierPort + " or " + envBarrierAddress,
			Problem: fmt.Sprintf("cannot be listened on: %v", err),
			Fix: "set " + envBarrierPort + " to a port that nothing else in the Pod uses (with hostNetwork: on the node), " +
				"and the port of the agent's startup probe to the same",
		}
	}
	b.server = server
	return nil
}

// Hold listens. The channel receives an error if listening fails later.
func (b *ProbeBarrier) Hold() (<-chan error, error) {
	if b.server == nil {
		if err := b.Listen(); err != nil {
			return nil, err
		}
	}
	return b.server.Broken(), nil
}

// Addr returns the address that the barrier listens on.
func (b *ProbeBarrier) Addr() net.Addr { return b.server.Addr() }

// Release makes probes succeed, including those that are waiting.
func (b *ProbeBarrier) Release() { b.release.Do(func() { close(b.released) }) }

// Close frees the port. Probes that are waiting fail.
func (b *ProbeBarrier) Close() {
	b.close.Do(func() { close(b.closed) })
	if b.server != nil {
		b.server.Close()
	}
}

// answer answers a request. It may wait; the context ends when the client disconnects.
func (b *ProbeBarrier) answer(ctx context.Context, method string, asked *url.URL) probe.Reply {
	if asked.Path != BarrierPath {
		return probe.Reply{Code: http.StatusNotFound, Text: "not found; the startup probe is " + BarrierPath}
	}
	if method != http.MethodGet && method != http.MethodHead {
		return probe.Reply{Code: http.StatusMethodNotAllowed, Text: "only GET and HEAD"}
	}
	seconds := 0
	if query := asked.Query(); query.Has("wait") {
		var err error
		if seconds, err = strconv.Atoi(query.Get("wait")); err != nil || seconds < 0 || seconds > longestWait {
			return probe.Reply{Code: http.StatusBadRequest, Text: fmt.Sprintf(
				"wait is %q; it must be a whole number of seconds from 0 to %d", query.Get("wait"), longestWait)}
		}
	}
	if !b.lifted(ctx, time.Duration(seconds)*b.second) {
		return probe.Reply{Code: http.StatusServiceUnavailable, Text: "the barrier is not lifted"}
	}
	return probe.Reply{Code: http.StatusOK, Text: "the barrier is lifted", Last: true}
}

// lifted waits for the release until the time is up, the client disconnects or the barrier is closed.
func (b *ProbeBarrier) lifted(ctx context.Context, wait time.Duration) bool {
	// select picks at random when both are ready, so check released first.
	select {
	case <-b.released:
		return true
	default:
	}
	if wait <= 0 {
		return false
	}
	select {
	case <-b.released:
		return true
	case <-time.After(wait):
	case <-b.closed:
	case <-ctx.Done():
	}
	return false
}
