/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Timing is how patient an agent is. Nil in Deps means DefaultTiming.
type Timing struct {
	// Spread bounds the random delay before the first request.
	Spread time.Duration
	// Backoff is the longest first delay between attempts. It doubles up to BackoffCap.
	Backoff, BackoffCap time.Duration
	// InitialEvents is how long a watch may take to deliver the initial state.
	InitialEvents time.Duration
	// Request is how long any other request may take.
	Request time.Duration
	// Watch is how long a watch lives at least; the server ends it after a random time up to twice as long.
	Watch time.Duration
}

// DefaultTiming is the timing of a real agent.
//
// Spread: kubelets notice exits by a relist each second, which spreads the agents of a
// group over that second already. What is left are the Pods of one node, started by one
// sync within milliseconds, and 50 ms is enough to pull those apart while the slowest
// report still fits into 100 ms after exec (P38).
//
// Request: an API server holds a request in its queues for up to 15 s before it answers
// 429. Giving up earlier would lose the place in the queue.
//
// Watch: what client-go's reflectors use. It bounds how long anything that pings do not
// notice, such as a proxy that keeps a dead stream open, can keep news from the agent.
func DefaultTiming() Timing {
	return Timing{
		Spread:        50 * time.Millisecond,
		Backoff:       250 * time.Millisecond,
		BackoffCap:    5 * time.Second,
		InitialEvents: 10 * time.Second,
		Request:       30 * time.Second,
		Watch:         5 * time.Minute,
	}
}

// retryAfterLimit bounds what a server can make the agent wait for. Servers ask for a
// second or so; a day would be a mistake that nobody notices.
const retryAfterLimit = time.Minute

// backoff yields the delays between attempts (P36). Not for concurrent use.
type backoff struct {
	timing  Timing
	rand    func() float64
	attempt uint
}

func (b *backoff) reset() { b.attempt = 0 }

// next is how long to wait after an error: a random part of an interval that doubles up to
// the cap. If the server says when to come back, the wait is that much and the random part
// on top, so that all who were told the same do not come back in one instant.
func (b *backoff) next(err error) time.Duration {
	interval := b.timing.Backoff
	for range b.attempt {
		interval = min(2*interval, b.timing.BackoffCap)
	}
	if interval < b.timing.BackoffCap {
		b.attempt++
	}
	// At least a quarter: a stream that ends as soon as it starts must not become a busy loop.
	delay := interval/4 + time.Duration(b.rand()*float64(interval-interval/4))
	var status *statusError
	if errors.As(err, &status) && status.retryAfter > 0 {
		delay += min(status.retryAfter, retryAfterLimit)
	}
	return delay
}

// sleep waits; false means that the context ended first.
func sleep(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryLog logs an error that repeats once, and once that it is over: an API server that is
// away for an hour costs two lines.
type retryLog struct {
	log  *slog.Logger
	last string
}

func (r *retryLog) failed(doing string, err error, delay time.Duration) {
	if text := err.Error(); text != r.last {
		r.last = text
		r.log.Warn(doing+" failed, retrying", "error", text, "in", delay.Round(time.Millisecond))
	}
}

func (r *retryLog) succeeded(doing string) {
	if r.last != "" {
		r.last = ""
		r.log.Info(doing + " works again")
	}
}
