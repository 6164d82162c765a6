/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		rand    float64
		awaited bool
		workers int
		err     error
		want    []time.Duration
	}{
		"P36, P155: the shortest delays of who is awaited and was never connected": {0, true, 0, broken, []time.Duration{
			25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
			250 * time.Millisecond, 250 * time.Millisecond,
		}},
		"P36, P155, C299: the longest delays of who is awaited and was never connected are capped": {1, true, 0, broken, []time.Duration{
			500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second,
		}},
		"P155: the shortest delays of who has lifted":         {0, false, 8, broken, []time.Duration{1500 * time.Millisecond, 1500 * time.Millisecond}},
		"P155: the longest delays of who has lifted":          {1, false, 8, broken, []time.Duration{30 * time.Second, 30 * time.Second}},
		"P155: half of the agents that have lifted take half": {0.5, false, 8, broken, []time.Duration{15750 * time.Millisecond}},
		"P155: who holds returns over a second and a millisecond for each worker of the group": {1, true, 8, broken, []time.Duration{
			1008 * time.Millisecond, 2016 * time.Millisecond, 4032 * time.Millisecond, 5 * time.Second, 5 * time.Second,
		}},
		"P155: in a group of thousands that is longer than the cap": {1, true, 5000, broken, []time.Duration{6 * time.Second, 6 * time.Second}},
		"P155: an answer means that the API server is not lost":     {1, true, 5000, &statusError{code: 500}, []time.Duration{500 * time.Millisecond, time.Second}},
		"P36, C299: Retry-After comes on top": {1, true, 0, &statusError{code: 429, retryAfter: 3 * time.Second}, []time.Duration{
			3500 * time.Millisecond, 4 * time.Second,
		}},
		"P36, P155: Retry-After comes on top for who has lifted": {1, false, 8, &statusError{code: 429, retryAfter: 3 * time.Second}, []time.Duration{
			33 * time.Second,
		}},
		"P36: one of many that are told to wait for half a minute comes back early": {0, true, 0, &statusError{code: 429, retryAfter: 32 * time.Second}, []time.Duration{
			5025 * time.Millisecond,
		}},
		"P36: and another late": {1, true, 0, &statusError{code: 429, retryAfter: 32 * time.Second}, []time.Duration{
			32500 * time.Millisecond,
		}},
		"P36: an absurd Retry-After is bounded": {1, true, 0, &statusError{code: 503, retryAfter: 24 * time.Hour}, []time.Duration{
			time.Minute + 500*time.Millisecond,
		}},
		"P36: an answer without Retry-After": {1, true, 0, &statusError{code: 500}, []time.Duration{500 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := backoff{timing: DefaultTiming(), rand: func() float64 { return tc.rand }}
			for i, want := range tc.want {
				if got := b.next(tc.err, tc.awaited, tc.workers); got != want {
					t.Errorf("delay %d is %v, want %v", i, got, want)
				}
			}
			b.reset()
			if got := b.next(tc.err, tc.awaited, tc.workers); got != tc.want[0] {
				t.Errorf("delay after a reset is %v, want %v", got, tc.want[0])
			}
		})
	}
}

func TestReadStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header, body string
		want         statusError
	}{
		"a Status": {
			"", `{"kind":"Status","message":"no","reason":"Forbidden","code":403}`,
			statusError{429, "Forbidden", "no", 0},
		},
		"P36: Retry-After in the header":       {"2", `{"message":"no"}`, statusError{429, "Too Many Requests", "no", 2 * time.Second}},
		"P36: Retry-After in the details":      {"", `{"message":"no","details":{"retryAfterSeconds":3}}`, statusError{429, "Too Many Requests", "no", 3 * time.Second}},
		"P36: a Retry-After that is no number": {"soon", "", statusError{429, "Too Many Requests", "", 0}},
		"not from an API server":               {"", "<html>" + strings.Repeat("x", 500), statusError{429, "Too Many Requests", "<html>" + strings.Repeat("x", 194), 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := readStatus(&http.Response{
				StatusCode: 429, Header: http.Header{"Retry-After": {tc.header}}, Body: io.NopCloser(strings.NewReader(tc.body)),
			})
			if *got != tc.want {
				t.Errorf("got %+v, want %+v", *got, tc.want)
			}
		})
	}
}

func TestARepeatedErrorIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := retryLog{log: slog.New(slog.NewTextHandler(&text, nil))}
	for range 100 {
		log.failed("watching", errors.New("refused"), time.Second)
	}
	log.failed("watching", errors.New("forbidden"), time.Second)
	log.succeeded("watching")
	log.succeeded("watching")
	if lines := strings.Count(text.String(), "\n"); lines != 3 {
		t.Errorf("%d lines, want 3:\n%s", lines, text.String())
	}
}
