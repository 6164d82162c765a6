/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestEvictee(t *testing.T) {
	t.Parallel()
	asked := func(from string) *clientConn { return &clientConn{from: netip.MustParseAddr(from), asked: true} }
	silent := func(from string) *clientConn { return &clientConn{from: netip.MustParseAddr(from)} }
	for name, tc := range map[string]struct {
		conns []*clientConn
		comes string
		want  int
	}{
		"P35: of an address with many connections the oldest that is silent": {
			[]*clientConn{asked("10.0.0.1"), silent("10.0.0.9"), asked("10.0.0.2"), silent("10.0.0.2"), silent("10.0.0.2")}, "10.0.0.3", 3,
		},
		"P35: of an address with many connections the oldest, if none is silent": {
			[]*clientConn{asked("10.0.0.1"), asked("10.0.0.2"), asked("10.0.0.2"), asked("10.0.0.2")}, "10.0.0.3", 1,
		},
		"P35: a probe that has not asked yet stays, if others come often": {
			[]*clientConn{silent("10.0.0.1"), asked("10.0.0.2"), asked("10.0.0.2")}, "10.0.0.3", 1,
		},
		"P35: a probe that waits stays, if many addresses are silent": {
			[]*clientConn{asked("10.0.0.1"), silent("10.0.0.2"), silent("10.0.0.3"), silent("10.0.0.4")}, "10.0.0.5", 1,
		},
		"P35: the oldest of one each":              {[]*clientConn{asked("10.0.0.3"), asked("10.0.0.2"), asked("10.0.0.1")}, "10.0.0.4", 0},
		"P35: of the address that comes once more": {[]*clientConn{asked("10.0.0.3"), asked("10.0.0.2"), silent("10.0.0.1")}, "10.0.0.2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := evictee(tc.conns, netip.MustParseAddr(tc.comes)); got != tc.want {
				t.Errorf("connection %d is evicted, want %d", got, tc.want)
			}
		})
	}
}

// narrow starts a barrier that serves two connections, with the given other limits.
func narrow(t *testing.T, change func(*limits)) *ProbeBarrier {
	t.Helper()
	b := NewProbeBarrier("127.0.0.1", 0)
	b.limits.connections = 2
	// Long, so that no test passes because of a timeout.
	b.limits.requestTimeout, b.limits.responseTimeout, b.limits.linger = time.Hour, time.Hour, time.Hour
	change(&b.limits)
	if _, err := b.Hold(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// call connects from a loopback address and sends a text.
func call(t *testing.T, b *ProbeBarrier, from, text string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.Dial("tcp", b.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

const waitingProbe = "GET /barrier-is-lifted?wait=3600 HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n"

// wantAnswer reads an answer and closes the connection, as a kubelet does.
func wantAnswer(t *testing.T, conn net.Conn, code int) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	_ = conn.Close()
	if response.StatusCode != code {
		t.Errorf("answer %d, want %d", response.StatusCode, code)
	}
}

// wantBroken waits until the other side has reset a connection without an answer.
func wantBroken(t *testing.T, conn net.Conn) {
	t.Helper()
	got, err := io.ReadAll(conn)
	if len(got) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %q, %v", got, err)
	}
}

// wantRefused waits until nothing listens any more.
func wantRefused(t *testing.T, b *ProbeBarrier) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", b.Addr().String())
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			return
		case err == nil:
			_ = conn.Close()
		}
	}
	t.Fatal("the port is still open")
}

// waitingFor returns once that many requests wait for the release.
func waitingFor(t *testing.T, b *ProbeBarrier, requests int) {
	t.Helper()
	for t.Context().Err() == nil {
		runtime.Gosched()
		b.server.mu.Lock()
		asked := 0
		for _, g := range b.server.conns {
			if g.asked {
				asked++
			}
		}
		b.server.mu.Unlock()
		if asked == requests {
			return
		}
	}
}

func TestProbeServer(t *testing.T) {
	t.Parallel()
	t.Run("P35: a probe that waits keeps its place while others flood, and is answered at the release", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(*limits) {})
		kubelet := call(t, b, "127.0.0.1", waitingProbe)
		waitingFor(t, b, 1)
		for range 200 {
			call(t, b, "127.0.0.2", "GET /")
			call(t, b, "127.0.0.2", waitingProbe)
		}
		b.Release()
		wantAnswer(t, kubelet, http.StatusOK)
	})
	t.Run("P35: a connection beyond the limit evicts the oldest silent one", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(*limits) {})
		first, second := call(t, b, "127.0.0.2", ""), call(t, b, "127.0.0.2", "")
		third := call(t, b, "127.0.0.3", waitingProbe)
		wantBroken(t, first)
		b.Release()
		wantAnswer(t, third, http.StatusOK)
		_ = second.Close()
	})
	t.Run("P35: a connection that sends nothing is closed", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(l *limits) { l.requestTimeout = time.Millisecond })
		wantBroken(t, call(t, b, "127.0.0.1", ""))
	})
	t.Run("P35: the size of a request is limited", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(*limits) {})
		conn := call(t, b, "127.0.0.1", "GET / HTTP/1.1\r\nCookie: "+strings.Repeat("x", 4<<10))
		wantAnswer(t, conn, http.StatusBadRequest)
	})
	t.Run("P35: text that is not HTTP gets an answer", func(t *testing.T) {
		t.Parallel()
		wantAnswer(t, call(t, narrow(t, func(*limits) {}), "127.0.0.1", "hello\r\n\r\n"), http.StatusBadRequest)
	})
	t.Run("P35: the port is closed after a probe succeeded", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(l *limits) { l.linger = time.Millisecond })
		kubelet := call(t, b, "127.0.0.1", waitingProbe)
		waitingFor(t, b, 1)
		b.Release()
		wantAnswer(t, kubelet, http.StatusOK)
		wantRefused(t, b)
	})
	t.Run("P35: no other answer closes the port", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(l *limits) { l.linger = time.Nanosecond })
		wantAnswer(t, call(t, b, "127.0.0.1", "GET /barrier-is-lifted HTTP/1.0\r\n\r\n"), http.StatusServiceUnavailable)
		b.Release()
		wantAnswer(t, call(t, b, "127.0.0.1", "GET / HTTP/1.0\r\n\r\n"), http.StatusNotFound)
		kubelet := call(t, b, "127.0.0.1", "GET /barrier-is-lifted HTTP/1.0\r\n\r\n")
		wantAnswer(t, kubelet, http.StatusOK)
		wantRefused(t, b)
	})
	for name, fails := range map[string]func(net.Conn){
		"does not hang up": func(net.Conn) {},
		"breaks off":       func(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0); _ = conn.Close() },
	} {
		t.Run("P35: a success does not close the port if the client "+name, func(t *testing.T) {
			t.Parallel()
			b := narrow(t, func(l *limits) { l.linger, l.responseTimeout = time.Nanosecond, time.Millisecond })
			probe := call(t, b, "127.0.0.1", waitingProbe)
			waitingFor(t, b, 1)
			b.server.mu.Lock()
			served := b.server.conns[0]
			b.server.mu.Unlock()
			fails(probe)
			b.Release()
			<-served.gone
			b.server.mu.Lock()
			defer b.server.mu.Unlock()
			if b.server.closed || b.server.closeTimer != nil {
				t.Error("the port is closed")
			}
		})
	}
	t.Run("P35: the port stays open longer after each eviction, which may have hit the kubelet", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(*limits) {})
		b.Release()
		wantAnswer(t, call(t, b, "127.0.0.1", waitingProbe), http.StatusOK)
		// running stops the timer that closes the port, and reports whether it ran.
		running := func() bool {
			b.server.mu.Lock()
			defer b.server.mu.Unlock()
			return b.server.closeTimer != nil && b.server.closeTimer.Stop()
		}
		for !running() {
			if t.Context().Err() != nil {
				t.Fatal("the timer that closes the port was not started")
			}
		}
		first := call(t, b, "127.0.0.2", "")
		call(t, b, "127.0.0.2", "")
		call(t, b, "127.0.0.2", "")
		wantBroken(t, first)
		if !running() {
			t.Error("the timer did not start over")
		}
	})
}

// bufferSize remembers the largest buffer that it was to read into, and has nothing to read.
type bufferSize int

func (b *bufferSize) Read(into []byte) (int, error) {
	*b = max(*b, bufferSize(len(into)))
	return 0, io.EOF
}

func TestAConnectionThatWaitsTakesLittleMemory(t *testing.T) {
	t.Parallel()
	var largest bufferSize
	if err := readToEnd(&largest); err != nil || largest > 256 {
		t.Errorf("P35: it is read into %d bytes, want at most 256; error %v", largest, err)
	}
}

func TestProbeServerLimitsConnections(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	most := make(chan int32, 1000)
	d, err := newProbeServer("127.0.0.1:0", limits{connections: 3, backlog: 8, request: 1 << 10, receive: 4 << 10, requestTimeout: time.Hour, responseTimeout: time.Hour},
		func(ctx context.Context, _ string, _ *url.URL) reply {
			most <- served.Add(1)
			defer served.Add(-1)
			<-ctx.Done()
			return reply{code: http.StatusServiceUnavailable}
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	for range 100 {
		conn, err := net.Dial("tcp", d.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, waitingProbe); err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			t.Fatal(err)
		}
		if n := <-most; n > 3 {
			t.Fatalf("P35: %d connections are served, want at most 3", n)
		}
	}
}
