/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package bounded

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

// knock opens a connection from an address, and reports whether it is served: what is written to it comes back.
func knock(t *testing.T, source, address string) (conn net.Conn, served bool) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Write([]byte("x")); err != nil {
		return conn, false
	}
	_, err = io.ReadFull(conn, make([]byte, 1))
	return conn, err == nil
}

func TestConnectionsAreBounded(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := Listen(inner, 3, 2)
	left := make(chan struct{})
	go func() {
		for {
			conn, err := limited.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
				_ = conn.Close() // counts once
				left <- struct{}{}
			}()
		}
	}()
	t.Cleanup(func() { _ = limited.Close() })
	address := inner.Addr().String()
	first, served := knock(t, "127.0.0.1", address)
	if _, second := knock(t, "127.0.0.1", address); !served || !second {
		t.Fatal("O70a: connections within the limit are not served")
	}
	if _, served := knock(t, "127.0.0.1", address); served {
		t.Error("O70a: a third connection of one address is served")
	}
	if _, served := knock(t, "127.0.0.3", address); !served {
		t.Error("O70a: another address is not served")
	}
	if _, served := knock(t, "127.0.0.4", address); served {
		t.Error("O70a: a fourth connection is served")
	}
	_ = first.Close()
	<-left
	if _, served := knock(t, "127.0.0.1", address); !served {
		t.Error("O70a: a connection that was closed still counts")
	}
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
