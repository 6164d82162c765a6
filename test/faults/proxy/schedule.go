/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package proxy

import (
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"time"
)

// Kind names a fault.
type Kind string

// What can happen to a request, to a watch, and to a client.
const (
	None Kind = ""
	// Delay: the request reaches the server late.
	Delay Kind = "delay"
	// ResetBefore: the connection breaks before the request reaches the server.
	ResetBefore Kind = "reset before"
	// ResetAfter: the server did what it was asked, and the answer is lost.
	ResetAfter Kind = "reset after"
	// TooMany: 429 with Retry-After.
	TooMany Kind = "429"
	// Conflict: 409, to writes.
	Conflict Kind = "409"
	// Internal: 500.
	Internal Kind = "500"
	// WatchClosed: the server ends the watch.
	WatchClosed Kind = "watch closed"
	// WatchStalled: the watch falls silent and goes on later.
	WatchStalled Kind = "watch stalled"
	// CutOff: nothing of a client gets through any more.
	CutOff Kind = "cut off"
)

// Plan says which requests get a fault. The zero Plan harms nobody.
type Plan struct {
	Seed uint64
	Kind Kind
	// Share of the requests that meet it, from 0 to 1.
	Share float64
	// Clients selects whose requests these are.
	Clients func(client string) bool
}

// request is what a decision is made on.
type request struct {
	client string
	// number counts the requests of this client since the plan was made.
	number       uint64
	watch, write bool
}

// fate is what a request meets: a fault, after a time or for a time.
type fate struct {
	kind  Kind
	after time.Duration
	lasts time.Duration
}

const (
	longestDelay = 1500 * time.Millisecond
	// A watch is harmed while things happen that it should tell of.
	watchLives  = 2 * time.Second
	longestHush = 5 * time.Second
)

// decide is the schedule: the same plan and request meet the same fate.
func decide(p Plan, r request) fate {
	if p.Kind == None || p.Clients == nil || !p.Clients(r.client) || !concerns(p.Kind, r) {
		return fate{}
	}
	who := fnv.New64a()
	_, _ = who.Write([]byte(r.client))
	dice := rand.New(rand.NewPCG(p.Seed^who.Sum64(), r.number)) //nolint:gosec // a schedule to be repeated
	if dice.Float64() >= p.Share {
		return fate{}
	}
	f := fate{kind: p.Kind}
	switch p.Kind {
	case Delay:
		f.lasts = time.Duration(dice.Float64() * float64(longestDelay))
	case WatchClosed:
		f.after = time.Duration(dice.Float64() * float64(watchLives))
	case WatchStalled:
		f.after = time.Duration(dice.Float64() * float64(watchLives))
		f.lasts = time.Second + time.Duration(dice.Float64()*float64(longestHush))
	}
	return f
}

func concerns(kind Kind, r request) bool {
	switch kind {
	case WatchClosed, WatchStalled:
		return r.watch
	case ResetAfter:
		return !r.watch
	case Conflict:
		return r.write
	}
	return true
}

// Apply replaces the plan. Watches that are open meet it as if they began now.
func (p *Proxy) Apply(plan Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = plan
	clear(p.numbers)
	for s := range p.streams {
		r := request{client: s.client, number: p.numbers[s.client], watch: true}
		p.numbers[s.client]++
		if f := decide(plan, r); f.kind == WatchClosed || f.kind == WatchStalled {
			s.meet(f)
		}
	}
}

// fateOf numbers a request of a client and decides about it.
func (p *Proxy) fateOf(client string, r *http.Request) fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	number := p.numbers[client]
	p.numbers[client]++
	return decide(p.plan, request{
		client: client, number: number,
		watch: isWatch(r), write: r.Method != http.MethodGet && r.Method != http.MethodHead,
	})
}

func isWatch(r *http.Request) bool {
	watch := r.URL.Query().Get("watch")
	return r.Method == http.MethodGet && (watch == "true" || watch == "1")
}
