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
	// doubles up to BackoffCap.
	Backoff, BackoffCap time.Duration
	// Return is that bound for an agent that has lifted. ReturnHeld, and ReturnPerWorker for each worker of the group, is the
	// first one for an agent that holds and has lost the API server.
	Return, ReturnHeld, ReturnPerWorker time.Duration
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
// Return: an API server that restarts breaks all watches at once, and each agent that connects again costs it 17 ms of CPU
// before it is ready. Nothing waits for agents that have lifted, so they come back over half a minute; a break meanwhile reaches
// the last of them that much later. A group may wait for agents that hold, so they come back sooner, the sooner the fewer they are.
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
		Return:          30 * time.Second,
		ReturnHeld:      time.Second,
		ReturnPerWorker: time.Millisecond,
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

// backoff computes the delays between attempts (P36, P155). It is not safe for concurrent use.
type backoff struct {
	timing  Timing
	rand    func() float64
	attempt uint
}

func (b *backoff) reset() { b.attempt = 0 }

// next returns how long to wait after an error: a random part of an interval that doubles up to
// the cap, or of a longer one if no group waits for this agent. An agent that has been connected, and so knows how many workers
// its group has, returns over an interval for so many. If the server sends Retry-After, that is
// added: all of it up to the cap, and a random part of the rest. An API server calculates it for each user,
// up to 32 s, and all agents of a group are one: if each waited for all of it, thousands would come
// back at the same time and be refused again, and the API server would be idle in between.
func (b *backoff) next(err error, awaited bool, workers int) time.Duration {
	var status *statusError
	answered := errors.As(err, &status)
	interval, limit := b.timing.Backoff, b.timing.BackoffCap
	if workers > 0 && !answered {
		interval = b.timing.ReturnHeld + time.Duration(workers)*b.timing.ReturnPerWorker
		limit = max(limit, interval)
	}
	for range b.attempt {
		interval = min(2*interval, limit)
	}
	if interval < limit {
		b.attempt++
	}
	if !awaited {
		interval = b.timing.Return
	}
	// Use the whole interval, to spread many agents, but never 0: a stream that ends
	// as soon as it starts must not become a busy loop.
	least := interval / 20
	if answered && status.retryAfter > 0 {
		interval += min(status.retryAfter, retryAfterLimit)
		least += min(status.retryAfter, b.timing.BackoffCap)
	}
	return least + time.Duration(b.rand()*float64(interval-least))
}

// sleep waits. It returns false if the context ends first.
func sleep(ctx context.Context, delay time.Duration) bool {
	select {
	case <-time.After(delay):
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
