/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package bounded

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

// doorman serves connections of a bounded listener: to each request, of one byte, it answers when it is told to.
type doorman struct {
	*http.Server

	address      string
	comes        chan chan struct{} // of each request, what is closed for its answer
	idle, closed chan struct{}
}

func newDoorman(t *testing.T, atOnce, ofOne int) *doorman {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := Listen(inner, atOnce, ofOne)
	d := &doorman{address: inner.Addr().String(), comes: make(chan chan struct{}), idle: make(chan struct{}, 9), closed: make(chan struct{}, 9)}
	d.Server = &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			answer := make(chan struct{})
			d.comes <- answer
			<-answer
		}),
		ConnState: func(conn net.Conn, state http.ConnState) {
			limited.State(conn, state)
			switch state {
			case http.StateIdle:
				d.idle <- struct{}{}
			case http.StateClosed:
				d.closed <- struct{}{}
			}
		},
	}
	go func() { _ = d.Serve(limited) }()
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// visitor is a connection from an address.
type visitor struct {
	net.Conn

	t       *testing.T
	doorman *doorman
	answer  chan struct{}
	answers *bufio.Reader
}

func (d *doorman) visit(t *testing.T, source string) *visitor {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	conn, err := dialer.Dial("tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &visitor{Conn: conn, t: t, doorman: d, answers: bufio.NewReader(conn)}
}

// asks sends a request, and returns when it is worked on.
func (v *visitor) asks() {
	v.t.Helper()
	_, _ = io.WriteString(v, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	v.answer = <-v.doorman.comes
}

// isAnswered lets the doorman answer, and returns when the connection is idle.
func (v *visitor) isAnswered() {
	v.t.Helper()
	close(v.answer)
	answer, err := http.ReadResponse(v.answers, nil)
	if err != nil {
		v.t.Fatalf("O70a: the answer: %v", err)
	}
	_ = answer.Body.Close()
	<-v.doorman.idle
}

// isServed sends a request and gets its answer.
func (v *visitor) isServed() {
	v.t.Helper()
	v.asks()
	v.isAnswered()
}

// isClosed waits until the other side has closed the connection.
func (v *visitor) isClosed() {
	v.t.Helper()
	if _, err := v.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		v.t.Errorf("O70a: the connection is open: %v", err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	const one, other, third = "127.0.0.1", "127.0.0.3", "127.0.0.4"
	t.Run("O70a: above the limit of one address, its longest idle connection is closed", func(t *testing.T) {
		d := newDoorman(t, 9, 2)
		first, second := d.visit(t, one), d.visit(t, one)
		first.isServed()
		second.isServed()
		first.isServed() // and so is not idle for the longest time
		d.visit(t, one).isServed()
		second.isClosed()
		first.isServed()
		d.visit(t, other).isServed()
	})
	t.Run("O70a: one without a request is idle from when it came", func(t *testing.T) {
		d := newDoorman(t, 9, 2)
		silent, speaks := d.visit(t, one), d.visit(t, one)
		speaks.isServed()
		d.visit(t, one).isServed()
		silent.isClosed()
		speaks.isServed()
	})
	t.Run("O70a: one with a request is not closed; if all have one, the new one is", func(t *testing.T) {
		d := newDoorman(t, 9, 2)
		first, second := d.visit(t, one), d.visit(t, one)
		first.asks()
		second.asks()
		d.visit(t, one).isClosed()
		first.isAnswered()
		d.visit(t, one).isServed()
		first.isClosed()
	})
	t.Run("O70a: above the limit of all, the address with the most connections loses one", func(t *testing.T) {
		d := newDoorman(t, 3, 2)
		few := d.visit(t, other)
		few.isServed()
		first, second := d.visit(t, one), d.visit(t, one)
		first.isServed()
		second.isServed()
		d.visit(t, third).isServed()
		first.isClosed()
		few.isServed()
		second.isServed()
	})
	t.Run("O70a: one that was closed counts no more, once", func(t *testing.T) {
		d := newDoorman(t, 9, 2)
		first, second := d.visit(t, one), d.visit(t, one)
		first.isServed()
		second.asks()
		_ = first.Close()
		<-d.closed
		second.isAnswered()
		next := d.visit(t, one)
		next.isServed()
		second.isServed()
		d.visit(t, one).isServed()
		next.isClosed()
	})
}

// impatient is a request that waits for nothing.
func impatient(t *testing.T, body io.Reader, length int64) *http.Request {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequest(http.MethodPost, "/", body).WithContext(ctx)
	r.ContentLength = length
	return r
}

func TestRequestsAreBounded(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	handler := Requests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		inside <- struct{}{}
		<-leave
		_, _ = w.Write(body)
	}), 1, NewBodies())
	first := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		handler.ServeHTTP(first, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("first")))
		close(done)
	}()
	<-inside

	for name, tc := range map[string]struct {
		request *http.Request
		want    int
	}{
		"O70b: one too many is told to try again":           {impatient(t, strings.NewReader("x"), 1), http.StatusTooManyRequests},
		"O70b: one that does not say its length is refused": {impatient(t, strings.NewReader("x"), -1), http.StatusLengthRequired},
		"O70b: one that is too large is refused unread":     {impatient(t, unread{t}, 100<<20), http.StatusRequestEntityTooLarge},
		"O70b: one that ends early is refused":              {impatient(t, strings.NewReader("x"), 2), http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, tc.request)
			if retry := answer.Header().Get("Retry-After") == "1"; answer.Code != tc.want || retry != (tc.want == http.StatusTooManyRequests) {
				t.Errorf("status %d, headers %v, want %d", answer.Code, answer.Header(), tc.want)
			}
		})
	}
	close(leave)
	<-done
	if first.Code != http.StatusOK || first.Body.String() != "first" {
		t.Errorf("status %d and %q", first.Code, first.Body)
	}
}

func TestARefusalReachesAClientThatStillSends(t *testing.T) {
	bodies := NewBodies()
	if err := bodies.memory.Acquire(t.Context(), largeBodies); err != nil {
		t.Fatal(err)
	}
	busyOne := Requests(http.NotFoundHandler(), 1, bodies)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		busyOne.ServeHTTP(w, r.WithContext(impatient(t, nil, 0).Context()))
	}))
	t.Cleanup(server.Close)
	body, rest := io.Pipe()
	t.Cleanup(func() { _ = rest.Close() })
	go func() { _, _ = rest.Write(make([]byte, maxBody/2)) }() // and the other half never
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = maxBody
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatalf("O70b: %v", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusTooManyRequests || !answer.Close {
		t.Errorf("O70b: status %d, closes %t", answer.StatusCode, answer.Close)
	}
}

// unread fails the test if somebody reads from it.
type unread struct{ *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.Error("the body is read")
	return 0, io.EOF
}

func TestLargeRequestsAreBoundedTogether(t *testing.T) {
	bodies := NewBodies()
	inside, leave := make(chan struct{}), make(chan struct{})
	one := Requests(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inside <- struct{}{}
		<-leave
	}), 64, bodies)
	other := Requests(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), 64, bodies)
	large := strings.Repeat("x", smallBody+1)
	for range largeAtOnce {
		go one.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(large)))
		<-inside
	}
	for want, body := range map[int]string{http.StatusTooManyRequests: large, http.StatusOK: large[:smallBody]} {
		answer := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		if want != http.StatusOK {
			r = impatient(t, strings.NewReader(body), int64(len(body)))
		}
		if other.ServeHTTP(answer, r); answer.Code != want {
			t.Errorf("O70b: status %d for a request of %d bytes, want %d", answer.Code, len(body), want)
		}
	}
	close(leave)
}

func TestABodyThatDoesNotComeKeepsNobodyWaiting(t *testing.T) {
	handler := Requests(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), 1, NewBodies())
	serve := func(r *http.Request) int {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		return answer.Code
	}
	var stalled []*io.PipeWriter
	stall := func(length int64) {
		body, writer := io.Pipe()
		stalled = append(stalled, writer)
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.ContentLength = length
		go serve(r)
		_, _ = writer.Write([]byte("x")) // returns when it is read
	}
	for range largeBodies / maxBody {
		stall(maxBody)
	}
	stall(1 << 10)
	if got := serve(httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))); got != http.StatusOK {
		t.Errorf("O70b: status %d for a small request beside bodies that do not come", got)
	}
	if got := serve(impatient(t, unread{t}, maxBody)); got != http.StatusTooManyRequests {
		t.Errorf("O70b: status %d for a large request when there is no memory for it", got)
	}
	for _, writer := range stalled {
		_ = writer.CloseWithError(errors.New("gone"))
	}
}

func TestFewStrangersAtOnceAreAskedAbout(t *testing.T) {
	asked, answer := make(chan string), make(chan bool)
	filter := limitStrangers(func(_ logr.Logger, handler http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- r.Header.Get("Authorization")
			if <-answer {
				handler.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(http.StatusUnauthorized)
		}), nil
	})
	handler, err := filter(logr.Discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	codes := make(chan int, 2*strangersAtOnce)
	scrape := func(token string) {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Authorization", token)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		codes <- recorder.Code
	}
	expect := func(want int) {
		t.Helper()
		if got := <-codes; got != want {
			t.Errorf("O73a: status %d, want %d", got, want)
		}
	}
	go scrape("scraper")
	<-asked
	answer <- true
	expect(http.StatusOK)

	for range strangersAtOnce {
		go scrape("stranger")
		<-asked
	}
	scrape("one too many")
	expect(http.StatusTooManyRequests)
	go scrape("scraper")
	if got := <-asked; got != "scraper" {
		t.Errorf("O73a: asked about %s", got)
	}
	answer <- false // a token ends: any of the five is refused
	expect(http.StatusUnauthorized)
	for range strangersAtOnce {
		answer <- false
		expect(http.StatusUnauthorized)
	}
}

func TestSeparateClientsShareNeitherLimitNorConnections(t *testing.T) {
	shared := &rest.Config{Host: "https://127.0.0.1:1", QPS: 5, Burst: 7}
	own, unlimited := Separate(shared, 3, 4), Separate(shared, -1, 0)
	if own.RateLimiter == nil || own.RateLimiter.QPS() != 3 || unlimited.RateLimiter != nil || shared.QPS != 5 {
		t.Errorf("O77a: limiters %v and %v", own.RateLimiter, unlimited.RateLimiter)
	}
	transports := map[http.RoundTripper]bool{}
	for _, config := range []*rest.Config{shared, own, unlimited} {
		transport, err := rest.TransportFor(config)
		if err != nil {
			t.Fatal(err)
		}
		transports[transport] = true
	}
	if len(transports) != 3 {
		t.Errorf("O77a: three clients have %d transports", len(transports))
	}
}
