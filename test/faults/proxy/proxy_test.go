/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package proxy

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/jobset/test/process"
)

func everybody(string) bool { return true }

func TestDecide(t *testing.T) {
	read, write, watch := request{client: "a"}, request{client: "a", write: true}, request{client: "a", watch: true}
	cases := map[string]struct {
		plan Plan
		req  request
		want Kind
	}{
		"the zero plan injects no fault":          {req: write, want: None},
		"a share of one meets every request":      {plan: Plan{Kind: Internal, Share: 1, Clients: everybody}, req: read, want: Internal},
		"a share of nothing meets none":           {plan: Plan{Kind: Internal, Clients: everybody}, req: read, want: None},
		"other clients are left alone":            {plan: Plan{Kind: Internal, Share: 1, Clients: func(c string) bool { return c == "b" }}, req: read, want: None},
		"only writes conflict":                    {plan: Plan{Kind: Conflict, Share: 1, Clients: everybody}, req: read, want: None},
		"writes conflict":                         {plan: Plan{Kind: Conflict, Share: 1, Clients: everybody}, req: write, want: Conflict},
		"only watches are closed":                 {plan: Plan{Kind: WatchClosed, Share: 1, Clients: everybody}, req: write, want: None},
		"watches fall silent":                     {plan: Plan{Kind: WatchStalled, Share: 1, Clients: everybody}, req: watch, want: WatchStalled},
		"a watch has no end to be kept to itself": {plan: Plan{Kind: ResetAfter, Share: 1, Clients: everybody}, req: watch, want: None},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := decide(tc.plan, tc.req); got.kind != tc.want {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
		})
	}
	t.Run("the same seed makes the same schedule and another one another", func(t *testing.T) {
		schedule := func(seed uint64) string {
			var fates strings.Builder
			for number := range uint64(64) {
				r := request{client: "a", number: number}
				fates.WriteString(string(decide(Plan{Seed: seed, Kind: Internal, Share: 0.5, Clients: everybody}, r).kind) + ",")
			}
			return fates.String()
		}
		first, again, other := schedule(1), schedule(1), schedule(2)
		if first != again || first == other {
			t.Errorf("seed 1: %s, again: %s, seed 2: %s", first, again, other)
		}
	})
}

// server is an API server of little knowledge: it counts, and its watches tell "tick".
type server struct {
	*httptest.Server
	requests atomic.Int32
	ticks    chan struct{}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if !isWatch(r) {
		_, _ = io.WriteString(w, "done")
		return
	}
	control := http.NewResponseController(w)
	_ = control.Flush()
	for {
		select {
		case <-s.ticks:
			_, _ = io.WriteString(w, "tick")
			_ = control.Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// behind makes a server, a proxy before it, a front and a client of the front.
func behind(t *testing.T) (*server, *Proxy, *Front, *http.Client) {
	t.Helper()
	s := &server{ticks: make(chan struct{})}
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	p, err := New(Options{Upstream: s.URL, CA: ca, Certificate: s.TLS.Certificates[0]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	front, err := p.Front("a")
	if err != nil {
		t.Fatal(err)
	}
	transport := s.Client().Transport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return s, p, front, &http.Client{Transport: transport}
}

func TestRequestsMeetTheirFate(t *testing.T) {
	cases := map[string]struct {
		kind     Kind
		broken   bool
		code     int
		requests int32
	}{
		"without a fault the answer is the server's":                    {kind: None, code: 200, requests: 1},
		"a late request arrives":                                        {kind: Delay, code: 200, requests: 1},
		"a connection that breaks before keeps the request away":        {kind: ResetBefore, broken: true, requests: 0},
		"a connection that breaks after has let the request take place": {kind: ResetAfter, broken: true, requests: 1},
		"429 never reaches the server":                                  {kind: TooMany, code: 429},
		"409 never reaches the server":                                  {kind: Conflict, code: 409},
		"500 never reaches the server":                                  {kind: Internal, code: 500},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, p, front, client := behind(t)
			p.Apply(Plan{Seed: 1, Kind: tc.kind, Share: 1, Clients: everybody})
			// A POST is not repeated by the client on its own.
			answer, err := client.Post(front.URL+"/api", "", strings.NewReader("{}"))
			if (err != nil) != tc.broken {
				t.Fatalf("got error %v, want one: %t", err, tc.broken)
			}
			if err == nil {
				_ = answer.Body.Close()
				if answer.StatusCode != tc.code {
					t.Errorf("got status %d, want %d", answer.StatusCode, tc.code)
				}
			}
			if got := s.requests.Load(); got != tc.requests {
				t.Errorf("the server got %d requests, want %d", got, tc.requests)
			}
			counts := p.Take()
			if want := min(1, len(tc.kind)); counts[tc.kind] != want {
				t.Errorf("counted %v, want %d of %q", counts, want, tc.kind)
			}
		})
	}
}

// tick lets the server tell its watch something, and reads it.
func tick(s *server, body io.Reader) error {
	select {
	case s.ticks <- struct{}{}:
	case <-time.After(time.Minute):
		return errors.New("the server has no watch")
	}
	_, err := io.ReadFull(body, make([]byte, len("tick")))
	return err
}

func TestWatches(t *testing.T) {
	open := func(t *testing.T, front *Front, client *http.Client) io.Reader {
		t.Helper()
		answer, err := client.Get(front.URL + "/api?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer.Body
	}
	t.Run("a watch that is open meets a plan that closes watches", func(t *testing.T) {
		s, p, front, client := behind(t)
		body := open(t, front, client)
		if err := tick(s, body); err != nil {
			t.Fatal(err)
		}
		p.Apply(Plan{Seed: 1, Kind: WatchClosed, Share: 1, Clients: everybody})
		if n, err := body.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("got %d bytes and error %v, want the end", n, err)
		}
		if got := p.Take()[WatchClosed]; got != 1 {
			t.Errorf("counted %d", got)
		}
	})
	t.Run("a client that is cut off hears nothing until it is healed, and then all", func(t *testing.T) {
		s, p, front, client := behind(t)
		body := open(t, front, client)
		if err := tick(s, body); err != nil {
			t.Fatal(err)
		}
		p.Cut("a", true)
		heard := make(chan error, 1)
		go func() { heard <- tick(s, body) }()
		select {
		case err := <-heard:
			t.Fatalf("heard something: %v", err)
		case <-time.After(200 * time.Millisecond):
		}
		p.Heal()
		if err := <-heard; err != nil {
			t.Errorf("after the cut: %v", err)
		}
	})
	t.Run("a client whose connections are refused gets errors until it is healed", func(t *testing.T) {
		s, p, front, client := behind(t)
		body := open(t, front, client)
		if err := tick(s, body); err != nil {
			t.Fatal(err)
		}
		p.Cut("a", false)
		if _, err := body.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("the watch ended with %v, want a broken connection", err)
		}
		if answer, err := client.Post(front.URL, "", http.NoBody); err == nil {
			_ = answer.Body.Close()
			t.Error("a request got through")
		}
		p.Heal()
		answer, err := client.Post(front.URL, "", http.NoBody)
		if err != nil {
			t.Fatalf("after the cut: %v", err)
		}
		_ = answer.Body.Close()
	})
}

func TestConnectionsAreForgotten(t *testing.T) {
	_, p, front, client := behind(t)
	answer, err := client.Get(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		p.mu.Lock()
		left := len(p.gates)
		p.mu.Unlock()
		if left == 0 {
			return
		}
		if process.Pause(ctx, 10*time.Millisecond) != nil {
			t.Fatalf("%d connections are remembered: %v", left, net.ErrClosed)
		}
	}
}
