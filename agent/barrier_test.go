/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/jobset/supervisor/setting"
)

// hold starts a barrier on a free port.
func hold(t *testing.T) *ProbeBarrier {
	t.Helper()
	b := NewProbeBarrier("127.0.0.1", 0)
	if _, err := b.Hold(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// ask sends a probe and returns what it gets.
func ask(t *testing.T, b *ProbeBarrier, target string) (int, string) {
	t.Helper()
	response, err := http.Get("http://" + b.Addr().String() + target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestTheProbe(t *testing.T) {
	t.Parallel()
	held, lifted := hold(t), hold(t)
	lifted.Release()
	for name, tc := range map[string]struct {
		barrier *ProbeBarrier
		target  string
		want    int
		body    string
	}{
		"P35, O53: 503 while the worker is held":     {held, "/barrier-is-lifted", 503, "not lifted"},
		"P35, O53: 200 once it is released":          {lifted, "/barrier-is-lifted", 200, "lifted"},
		"P35: no wait at all is a wait of 0":         {held, "/barrier-is-lifted?wait=0", 503, "not lifted"},
		"P35: a wait ends at once when released":     {lifted, "/barrier-is-lifted?wait=3600", 200, "lifted"},
		"P35: a wait in words":                       {held, "/barrier-is-lifted?wait=long", 400, `wait is "long"; it must be a whole number of seconds from 0 to 3600`},
		"P35: a wait with a unit":                    {held, "/barrier-is-lifted?wait=5s", 400, "whole number"},
		"P35: a negative wait":                       {held, "/barrier-is-lifted?wait=-1", 400, "whole number"},
		"P35: an endless wait":                       {held, "/barrier-is-lifted?wait=3601", 400, "whole number"},
		"P35: an empty wait":                         {held, "/barrier-is-lifted?wait=", 400, "whole number"},
		"P35: a wrong wait is wrong when lifted too": {lifted, "/barrier-is-lifted?wait=x", 400, "whole number"},
		"P35, O56: another path":                     {lifted, "/", 404, "/barrier-is-lifted"},
		"P35, O56: a path below":                     {lifted, "/barrier-is-lifted/x", 404, "/barrier-is-lifted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, body := ask(t, tc.barrier, tc.target)
			if code != tc.want || !strings.Contains(body, tc.body) {
				t.Errorf("%s answers %d %q, want %d %q", tc.target, code, body, tc.want, tc.body)
			}
			asked, err := url.Parse(tc.target)
			if err != nil {
				t.Fatal(err)
			}
			// No answer but a success may close the port.
			if last := tc.barrier.answer(t.Context(), http.MethodGet, asked).Last; last != (code == http.StatusOK) {
				t.Errorf("%s answers %d, and that this is the last answer: %t", tc.target, code, last)
			}
		})
	}
	t.Run("P35: nothing but reading", func(t *testing.T) {
		t.Parallel()
		response, err := http.Post("http://"+lifted.Addr().String()+BarrierPath, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST answers %d, Allow: %q", response.StatusCode, response.Header.Get("Allow"))
		}
	})
	t.Run("P35: HEAD gets no body", func(t *testing.T) {
		t.Parallel()
		response, err := http.Head("http://" + lifted.Addr().String() + BarrierPath)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("HEAD answers %d", response.StatusCode)
		}
	})
}

// waiting is a probe that waits, in a synctest bubble.
type waiting struct {
	code   int
	after  time.Duration
	ended  chan struct{}
	cancel context.CancelFunc
}

func startWaiting(t *testing.T, b *ProbeBarrier, target string) *waiting {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &waiting{ended: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(w.ended)
		started := time.Now()
		request := httptest.NewRequest(http.MethodGet, target, nil)
		w.code, w.after = b.answer(ctx, request.Method, request.URL).Code, time.Since(started)
	}()
	synctest.Wait()
	return w
}

func (w *waiting) want(t *testing.T, code int, after time.Duration) {
	t.Helper()
	<-w.ended
	if w.code != code || w.after != after {
		t.Errorf("the probe got %d after %v, want %d after %v", w.code, w.after, code, after)
	}
}

func TestTheProbeThatWaits(t *testing.T) {
	const target = "/barrier-is-lifted?wait=50"
	bubble(t, "P35: until the release", func(t *testing.T, _ *fakeAPI) {
		b := NewProbeBarrier("", 0)
		w := startWaiting(t, b, target)
		pass(10 * time.Second)
		b.Release()
		w.want(t, 200, 10*time.Second)
	})
	bubble(t, "P35: until the time is over", func(t *testing.T, _ *fakeAPI) {
		startWaiting(t, NewProbeBarrier("", 0), target).want(t, 503, 50*time.Second)
	})
	bubble(t, "P35: until the client goes away", func(t *testing.T, _ *fakeAPI) {
		w := startWaiting(t, NewProbeBarrier("", 0), target)
		pass(time.Second)
		w.cancel()
		w.want(t, 503, time.Second)
	})
	bubble(t, "P35: until the agent ends, which releases nobody", func(t *testing.T, _ *fakeAPI) {
		b := NewProbeBarrier("", 0)
		w := startWaiting(t, b, target)
		pass(time.Second)
		b.Close()
		w.want(t, 503, time.Second)
	})
}

func TestTheBarrierOverTheNetwork(t *testing.T) {
	t.Parallel()
	t.Run("P37, C298: a port that is taken is a wrong setting", func(t *testing.T) {
		t.Parallel()
		taken := hold(t).Addr().(*net.TCPAddr)
		_, err := NewProbeBarrier("127.0.0.1", taken.Port).Hold()
		var wrong *setting.Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "BARRIER_PORT") || !strings.Contains(err.Error(), "in use") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("the port is free again after Close, which may come twice or without Hold", func(t *testing.T) {
		t.Parallel()
		b := hold(t)
		address := b.Addr().String()
		b.Close()
		b.Close()
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = listener.Close()
		NewProbeBarrier("", 0).Close()
	})
}
