/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Barrier holds the worker of this Pod back and releases it. How, nobody but the
// implementation knows: by a startup probe (ProbeBarrier), or one day by starting and
// stopping the worker as a child process.
type Barrier interface {
	// Hold begins to hold. Run calls it once, before anything is read of the JobSet: no
	// kubelet takes back a startup probe that succeeded, so a restart is the end of the
	// process. A barrier that can stop its worker could be held again instead. The channel,
	// which may be nil, tells of a barrier that broke afterwards.
	Hold() (broken <-chan error, err error)
	// Release lets the worker start.
	Release() error
	// Close gives back what Hold took and does not release anything.
	Close() error
}

const (
	// BarrierPath is what the startup probe asks for.
	BarrierPath = "/barrier-is-lifted"

	// longestWait bounds ?wait=SECONDS. A kubelet gives up long before.
	longestWait = 3600
)

// ProbeBarrier is the startup probe of a sidecar: as long as it fails, the kubelet starts
// no container after the sidecar. The port is bound from the start, so that a port that is
// taken shows at once and not when the group is about to start.
type ProbeBarrier struct {
	address string
	// second is a second, but for tests.
	second time.Duration

	listener net.Listener
	server   *http.Server
	served   sync.WaitGroup

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

// Hold binds the port and answers 503.
func (b *ProbeBarrier) Hold() (<-chan error, error) {
	listener, err := net.Listen("tcp", b.address)
	if err != nil {
		return nil, &SettingError{
			Setting: envBarrierPort + " or " + envBarrierAddress,
			Problem: fmt.Sprintf("cannot be listened on: %v", err),
			Fix: "set " + envBarrierPort + " to a port that nothing else in the Pod uses (with hostNetwork: on the node), " +
				"and the port of the agent's startup probe to the same",
		}
	}
	b.listener = listener
	b.server = &http.Server{
		Handler: b,
		// No write timeout: a probe that waits is written to after as long as it asked for.
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
	broken := make(chan error, 1)
	b.served.Go(func() {
		if err := b.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			broken <- fmt.Errorf("serving the startup probe on %s: %w", listener.Addr(), err)
		}
	})
	return broken, nil
}

// Addr is where the barrier listens while it holds.
func (b *ProbeBarrier) Addr() net.Addr { return b.listener.Addr() }

// Release makes the probe succeed, also those that wait at this moment.
func (b *ProbeBarrier) Release() error {
	b.release.Do(func() { close(b.released) })
	return nil
}

// Close frees the port. Probes that wait end without success.
func (b *ProbeBarrier) Close() error {
	b.close.Do(func() { close(b.closed) })
	if b.server == nil {
		return nil
	}
	err := b.server.Close()
	b.served.Wait()
	if err != nil {
		return fmt.Errorf("closing the startup probe: %w", err)
	}
	return nil
}

// ServeHTTP answers the probe.
func (b *ProbeBarrier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != BarrierPath {
		http.Error(w, "not found; the startup probe is "+BarrierPath, http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	seconds := 0
	if query := r.URL.Query(); query.Has("wait") {
		var err error
		if seconds, err = strconv.Atoi(query.Get("wait")); err != nil || seconds < 0 || seconds > longestWait {
			http.Error(w, fmt.Sprintf("wait is %q; it must be a whole number of seconds from 0 to %d",
				query.Get("wait"), longestWait), http.StatusBadRequest)
			return
		}
	}
	if !b.lifted(r.Context(), time.Duration(seconds)*b.second) {
		http.Error(w, "the barrier is not lifted", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintln(w, "the barrier is lifted")
}

// lifted waits for the release, but not longer than told, nor than the client or the agent live.
func (b *ProbeBarrier) lifted(ctx context.Context, wait time.Duration) bool {
	// First, so that no coin is tossed between a release that is there and a time that is over.
	select {
	case <-b.released:
		return true
	default:
	}
	if wait <= 0 {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-b.released:
		return true
	case <-timer.C:
	case <-b.closed:
	case <-ctx.Done():
	}
	return false
}
