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
		rand float64
		err  error
		want []time.Duration
	}{
		"P36: the shortest delays": {0, broken, []time.Duration{
			62500 * time.Microsecond, 125 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
			time.Second, 1250 * time.Millisecond, 1250 * time.Millisecond,
		}},
		"P36, C299: the longest delays are capped": {1, broken, []time.Duration{
			250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second,
			4 * time.Second, 5 * time.Second, 5 * time.Second,
		}},
		"P36, C299: Retry-After comes on top": {1, &statusError{code: 429, retryAfter: 3 * time.Second}, []time.Duration{
			3250 * time.Millisecond, 3500 * time.Millisecond,
		}},
		"P36: an absurd Retry-After is bounded": {1, &statusError{code: 503, retryAfter: 24 * time.Hour}, []time.Duration{
			time.Minute + 250*time.Millisecond,
		}},
		"P36: an answer without Retry-After": {1, &statusError{code: 500}, []time.Duration{250 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := backoff{timing: DefaultTiming(), rand: func() float64 { return tc.rand }}
			for i, want := range tc.want {
				if got := b.next(tc.err); got != want {
					t.Errorf("delay %d is %v, want %v", i, got, want)
				}
			}
			b.reset()
			if got := b.next(tc.err); got != tc.want[0] {
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
