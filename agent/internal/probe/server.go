/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package probe serves the startup probe of the agent at a fixed cost, whoever asks. What it answers is decided by its caller, the
// barrier.
//
// Anybody who can reach the Pod can connect to the port, and only the kubelet matters. So the total cost is a number of
// connections, and for each of them a few kilobytes and a short time to send its request. A further connection is accepted all
// the same, since it may be the kubelet's, and another one is closed for it: see evictee. So a flood can delay a worker that
// waits for the probe, but do no other harm.
//
// The port is closed some time after a probe has succeeded: kubelets ask no more after a success.
package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/agent/internal/accept"
)

const (
	// mostConnections is how many connections are served at the same time.
	mostConnections = 32
	// lingerSeconds is how long the port stays open after a probe succeeded. The answer may have gone
	// to somebody else, and the kubelet's next probe comes periodSeconds later, by default 10 s.
	// And a kubelet that restarts within 10 s of the agent's start has forgotten the answer
	// and probes once more (kubeletRestartGracePeriod in its package prober); if the port were
	// closed then, the Pod would never be ready.
	lingerSeconds = 30
)

// Limits bounds the cost of the port.
type Limits struct {
	// Connections is how many are served at the same time.
	Connections int
	// Backlog is how many more the kernel queues until they are accepted.
	Backlog int
	// Request bounds the bytes of a request, Receive the bytes that the kernel buffers for a connection.
	Request, Receive int
	// RequestTimeout is how long a client may take to send its request, ResponseTimeout how long to read the answer.
	RequestTimeout, ResponseTimeout time.Duration
	// Linger is how long the port stays open after a probe succeeded, and after any later
	// connection that was evicted, since it may have been the kubelet's.
	Linger time.Duration
}

// DefaultLimits are those of a real agent.
func DefaultLimits() Limits {
	return Limits{
		Connections: mostConnections, Backlog: 128, Request: 4 << 10, Receive: 8 << 10,
		RequestTimeout: 2 * time.Second, ResponseTimeout: 5 * time.Second, Linger: lingerSeconds * time.Second,
	}
}

// Reply is an answer to a request.
type Reply struct {
	Code int
	Text string
	// Last: a client that has read this answer needs no other.
	Last bool
}

// Server serves the port of the barrier within its limits.
type Server struct {
	limits   Limits
	listener *net.TCPListener
	answer   func(ctx context.Context, method string, url *url.URL) Reply
	// broken receives when the port stops working by itself.
	broken chan error
	// running counts the goroutines.
	running sync.WaitGroup

	mu     sync.Mutex
	conns  []*clientConn // in the order in which they came
	closed bool
	// closeTimer closes the port some time after the last answer; nil until that was read.
	closeTimer *time.Timer
}

// clientConn is a connection that is being served.
type clientConn struct {
	conn *net.TCPConn
	from netip.Addr
	// asked: its whole request has arrived.
	asked bool
	// gone is closed when nothing of it is left.
	gone chan struct{}
}

// New binds the port of an address and serves it. Each request gets what answer returns for its method and URL. answer may wait;
// its context ends when the client disconnects.
func New(address string, limits Limits, answer func(context.Context, string, *url.URL) Reply) (*Server, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		// Set before the socket listens: connections inherit it.
		return onSocket(raw, func(fd int) error {
			return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF, limits.Receive)
		})
	}}
	listener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	d := &Server{limits: limits, listener: listener.(*net.TCPListener), answer: answer, broken: make(chan error, 1)}
	// Package net asks for the largest possible backlog, thousands of connections.
	// Calling listen again changes it.
	raw, err := d.listener.SyscallConn()
	if err == nil {
		err = onSocket(raw, func(fd int) error { return syscall.Listen(fd, limits.Backlog) })
	}
	if err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("setting the backlog: %w", err)
	}
	d.running.Go(d.accept)
	return d, nil
}

func onSocket(raw syscall.RawConn, do func(fd int) error) error {
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// Addr returns the address that is served.
func (d *Server) Addr() net.Addr { return d.listener.Addr() }

// Broken returns a channel that receives an error if the port stops working by itself.
func (d *Server) Broken() <-chan error { return d.broken }

// Close closes the port and all connections, and waits for all goroutines.
func (d *Server) Close() {
	d.closePort()
	d.mu.Lock()
	for _, g := range d.conns {
		g.abort()
	}
	d.mu.Unlock()
	d.running.Wait()
}

// closePort refuses new connections.
func (d *Server) closePort() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closeTimer != nil {
		d.closeTimer.Stop()
	}
	d.closed = true
	_ = d.listener.Close()
}

// accept accepts connections one after the other, and makes room for each.
func (d *Server) accept() {
	for {
		conn, err := d.listener.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case accept.IsShort(err):
			<-time.After(accept.RetryAfter)
			continue
		case err != nil:
			d.broken <- fmt.Errorf("serving the startup probe on %s: %w", d.listener.Addr(), err)
			return
		}
		g := &clientConn{conn: conn, gone: make(chan struct{})}
		if remote, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
			g.from = remote.AddrPort().Addr().Unmap()
		}
		if d.admit(g) {
			d.running.Go(func() { d.serve(g) })
		}
	}
}

// serve reads one request and answers it.
func (d *Server) serve(g *clientConn) {
	var watched sync.WaitGroup
	defer func() {
		_ = g.conn.Close()
		watched.Wait()
		d.remove(g)
		close(g.gone)
	}()

	_ = g.conn.SetReadDeadline(time.Now().Add(d.limits.RequestTimeout))
	limited := io.LimitReader(g.conn, int64(d.limits.Request))
	request, err := http.ReadRequest(bufio.NewReaderSize(limited, 1<<10))
	var broken net.Error
	switch {
	case errors.As(err, &broken), errors.Is(err, io.EOF):
		return
	case err != nil:
		_ = d.write(g, http.MethodGet, Reply{Code: http.StatusBadRequest, Text: "not a valid HTTP request"})
		return
	}
	d.mu.Lock()
	g.asked = true
	d.mu.Unlock()

	// Nothing more is expected from the client. If it closes the connection, the wait ends.
	_ = g.conn.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithCancelCause(context.Background())
	watched.Go(func() { cancel(readToEnd(g.conn)) })
	answer := d.answer(ctx, request.Method, request.URL)
	if err := d.write(g, request.Method, answer); err != nil || !answer.Last {
		return
	}
	// A client that closes the connection cleanly has read the answer.
	_ = g.conn.SetReadDeadline(time.Now().Add(d.limits.ResponseTimeout))
	<-ctx.Done()
	if errors.Is(context.Cause(ctx), context.Canceled) {
		d.done()
	}
}

// readToEnd reads what nobody needs until the end, and returns nil if that is a clean one. It costs less memory than io.Copy to
// io.Discard, which takes 8 KiB whatever buffer it is given.
func readToEnd(r io.Reader) error {
	var unread [256]byte
	for {
		if _, err := r.Read(unread[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (d *Server) write(g *clientConn, method string, answer Reply) error {
	_ = g.conn.SetWriteDeadline(time.Now().Add(d.limits.ResponseTimeout))
	body := answer.Text + "\n"
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n",
		answer.Code, http.StatusText(answer.Code), len(body))
	if answer.Code == http.StatusMethodNotAllowed {
		head += "Allow: GET, HEAD\r\n"
	}
	if method == http.MethodHead {
		body = ""
	}
	if _, err := io.WriteString(g.conn, head+"\r\n"+body); err != nil {
		return err
	}
	return g.conn.CloseWrite()
}
