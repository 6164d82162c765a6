/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package probe

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

// barrier is a server whose probes wait for a release, as those of the agent do.
type barrier struct {
	*Server
	released chan struct{}
}

func (b *barrier) release() { close(b.released) }

// answer waits for the release and succeeds; but no other path is a probe.
func (b *barrier) answer(ctx context.Context, _ string, asked *url.URL) Reply {
	if asked.Path != "/probe" {
		return Reply{Code: http.StatusNotFound}
	}
	select {
	case <-b.released:
		return Reply{Code: http.StatusOK, Last: true}
	case <-ctx.Done():
		return Reply{Code: http.StatusServiceUnavailable}
	}
}

// narrow starts a barrier that serves two connections, with the given other limits.
func narrow(t *testing.T, change func(*Limits)) *barrier {
	t.Helper()
	limits := DefaultLimits()
	limits.Connections = 2
	// Long, so that no test passes because of a timeout.
	limits.RequestTimeout, limits.ResponseTimeout, limits.Linger = time.Hour, time.Hour, time.Hour
	change(&limits)
	b := &barrier{released: make(chan struct{})}
	server, err := New("127.0.0.1:0", limits, b.answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	b.Server = server
	return b
}

// call connects from a loopback address and sends a text.
func call(t *testing.T, b *barrier, from, text string) net.Conn {
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

const waitingProbe = "GET /probe HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n"

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
func wantRefused(t *testing.T, b *barrier) {
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
func waitingFor(t *testing.T, b *barrier, requests int) {
	t.Helper()
	for t.Context().Err() == nil {
		runtime.Gosched()
		b.mu.Lock()
		asked := 0
		for _, g := range b.conns {
			if g.asked {
				asked++
			}
		}
		b.mu.Unlock()
		if asked == requests {
			return
		}
	}
}

// served returns once no connection is left.
func served(t *testing.T, b *barrier) {
	t.Helper()
	for t.Context().Err() == nil {
		runtime.Gosched()
		b.mu.Lock()
		left := len(b.conns)
		b.mu.Unlock()
		if left == 0 {
			return
		}
	}
}

// wantOpen requires that the port is open, and stays so.
func wantOpen(t *testing.T, b *barrier) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.closeTimer != nil {
		t.Error("the port is closed")
	}
}

func TestProbeServer(t *testing.T) {
	t.Parallel()
	t.Run("P35: a probe that waits keeps its place while others flood, and is answered at the release", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(*Limits) {})
		kubelet := call(t, b, "127.0.0.1", waitingProbe)
		waitingFor(t, b, 1)
		for range 200 {
			call(t, b, "127.0.0.2", "GET /")
			call(t, b, "127.0.0.2", waitingProbe)
		}
		b.release()
		wantAnswer(t, kubelet, http.StatusOK)
	})
	t.Run("P35: a connection beyond the limit evicts the oldest silent one", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(*Limits) {})
		first, second := call(t, b, "127.0.0.2", ""), call(t, b, "127.0.0.2", "")
		third := call(t, b, "127.0.0.3", waitingProbe)
		wantBroken(t, first)
		b.release()
		wantAnswer(t, third, http.StatusOK)
		_ = second.Close()
	})
	t.Run("P35: a connection that sends nothing is closed", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(l *Limits) { l.RequestTimeout = time.Millisecond })
		wantBroken(t, call(t, b, "127.0.0.1", ""))
	})
	t.Run("P35: the size of a request is limited", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(*Limits) {})
		conn := call(t, b, "127.0.0.1", "GET / HTTP/1.1\r\nCookie: "+strings.Repeat("x", 4<<10))
		wantAnswer(t, conn, http.StatusBadRequest)
	})
	t.Run("P35: text that is not HTTP gets an answer", func(t *testing.T) {
		t.Parallel()
		wantAnswer(t, call(t, narrow(t, func(*Limits) {}), "127.0.0.1", "hello\r\n\r\n"), http.StatusBadRequest)
	})
	t.Run("P35: the port is closed after a probe succeeded", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(l *Limits) { l.Linger = time.Millisecond })
		kubelet := call(t, b, "127.0.0.1", waitingProbe)
		waitingFor(t, b, 1)
		b.release()
		wantAnswer(t, kubelet, http.StatusOK)
		wantRefused(t, b)
	})
	t.Run("P35: no other answer closes the port", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(l *Limits) { l.Linger = time.Nanosecond })
		b.release()
		wantAnswer(t, call(t, b, "127.0.0.1", "GET / HTTP/1.0\r\n\r\n"), http.StatusNotFound)
		served(t, b)
		wantOpen(t, b)
		kubelet := call(t, b, "127.0.0.1", "GET /probe HTTP/1.0\r\n\r\n")
		wantAnswer(t, kubelet, http.StatusOK)
		wantRefused(t, b)
	})
	for name, fails := range map[string]func(net.Conn){
		"does not hang up": func(net.Conn) {},
		"breaks off":       func(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0); _ = conn.Close() },
	} {
		t.Run("P35: a success does not close the port if the client "+name, func(t *testing.T) {
			t.Parallel()
			b := narrow(t, func(l *Limits) { l.Linger, l.ResponseTimeout = time.Nanosecond, time.Millisecond })
			probe := call(t, b, "127.0.0.1", waitingProbe)
			waitingFor(t, b, 1)
			fails(probe)
			b.release()
			served(t, b)
			wantOpen(t, b)
		})
	}
	t.Run("P35: the port stays open longer after each eviction, which may have hit the kubelet", func(t *testing.T) {
		t.Parallel()
		b := narrow(t, func(*Limits) {})
		b.release()
		wantAnswer(t, call(t, b, "127.0.0.1", waitingProbe), http.StatusOK)
		// running stops the timer that closes the port, and reports whether it ran.
		running := func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.closeTimer != nil && b.closeTimer.Stop()
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
	d, err := New("127.0.0.1:0", Limits{Connections: 3, Backlog: 8, Request: 1 << 10, Receive: 4 << 10, RequestTimeout: time.Hour, ResponseTimeout: time.Hour},
		func(ctx context.Context, _ string, _ *url.URL) Reply {
			most <- served.Add(1)
			defer served.Add(-1)
			<-ctx.Done()
			return Reply{Code: http.StatusServiceUnavailable}
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	for range 100 {
		conn, err := net.Dial("tcp", d.Addr().String())
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
