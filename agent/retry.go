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

// Timing holds the timeouts and delays of an agent.
type Timing struct {
	// Spread bounds the random delay before the first request.
	Spread time.Duration
	// Backoff bounds the first delay between attempts of an agent that holds its worker. The bound
	// doubles up to BackoffCap. For an agent that has lifted it is BackoffCap from the start.
	Backoff, BackoffCap time.Duration
	// InitialEvents is how long a watch may take to deliver the initial state, once it is answered.
	InitialEvents time.Duration
	// Request is the timeout of any other request, and how long the answer to a watch may take to begin.
	Request time.Duration
	// Watch is the shortest lifetime of a watch; the server ends it after a random time of up to twice as long.
	Watch time.Duration
	// Repeat, and RepeatPerWorker for each worker of the group, is the delay before an accepted report is repeated in
	// process mode. It doubles up to RepeatCap.
	Repeat, RepeatPerWorker, RepeatCap time.Duration
}

// DefaultTiming is the timing of a real agent.
//
// Spread: kubelets notice exits by a relist once a second, which already spreads the agents of a
// group over that second. The Pods of one node are still started within milliseconds, and
// 50 ms is enough to spread those, while the slowest report stays within 100 ms after
// exec (P38).
//
// Backoff: an API server that restarts breaks all watches at once. It must not get thousands of
// TLS handshakes at once. Nothing waits for agents that have lifted, so they reconnect
// over 5 s. A group may wait for agents that hold, so they reconnect sooner.
//
// Request: an API server keeps a request in its queues for up to 15 s before it answers
// 429. Giving up earlier would lose the place in the queue.
//
// RepeatPerWorker: what the report of one worker costs an API server of one core.
//
// Watch: the same as in client-go's reflectors. It bounds the effect of failures that pings do
// not detect, such as a proxy that keeps a dead stream open.
func DefaultTiming() Timing {
	return Timing{
		Spread:          50 * time.Millisecond,
		Backoff:         500 * time.Millisecond,
		BackoffCap:      5 * time.Second,
		InitialEvents:   10 * time.Second,
		Request:         30 * time.Second,
		Watch:           5 * time.Minute,
		Repeat:          20 * time.Second,
		RepeatPerWorker: 20 * time.Millisecond,
		RepeatCap:       5 * time.Minute,
	}
}

// retryAfterLimit bounds how long a server can make the agent wait. Servers ask for about a
// second; a day would be a mistake that goes unnoticed.
const retryAfterLimit = time.Minute

// backoff computes the delays between attempts (P36, P49). It is not safe for concurrent use.
type backoff struct {
	timing  Timing
	rand    func() float64
	attempt uint
}

func (b *backoff) reset() { b.attempt = 0 }

// next returns how long to wait after an error: a random part of an interval that doubles up to
// the cap, or of the cap if no group waits for this agent. If the server sends Retry-After, that is
// added: all of it up to the cap, and a random part of the rest. An API server calculates it for each user,
// up to 32 s, and all agents of a group are one: if each waited for all of it, thousands would come
// back at the same time and be refused again, and the API server would be idle in between.
func (b *backoff) next(err error, awaited bool) time.Duration {
	interval := b.timing.Backoff
	for range b.attempt {
		interval = min(2*interval, b.timing.BackoffCap)
	}
	if interval < b.timing.BackoffCap {
		b.attempt++
	}
	if !awaited {
		interval = b.timing.BackoffCap
	}
	// Use the whole interval, to spread many agents, but never 0: a stream that ends
	// as soon as it starts must not become a busy loop.
	least := interval / 20
	var status *statusError
	if errors.As(err, &status) && status.retryAfter > 0 {
		interval += min(status.retryAfter, retryAfterLimit)
		least += min(status.retryAfter, b.timing.BackoffCap)
	}
	return least + time.Duration(b.rand()*float64(interval-least))
}

// sleep waits. It returns false if the context ends first.
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

// retryLog logs a repeated error once, and once that it is over: an API server that is
// down for an hour costs two lines.
type retryLog struct {
	log  *slog.Logger
	last string
}

func (r *retryLog) failed(what operation, err error, delay time.Duration) {
	text := err.Error()
	if text == r.last {
		return
	}
	r.last = text
	attributes := []any{"error", text, "in", delay.Round(time.Millisecond)}
	if fix := remedy(what, err); fix != "" {
		attributes = append(attributes, "fix", fix)
	}
	r.log.Warn(string(what)+" failed, retrying", attributes...)
}

func (r *retryLog) succeeded(what operation) {
	if r.last != "" {
		r.last = ""
		r.log.Info(string(what) + " works again")
	}
}
