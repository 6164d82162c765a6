/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package bounded

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxBody is a little more than what the API server sends: an object and its predecessor of 3 MiB each.
	maxBody = 8 << 20
	// smallBody is the largest body that needs no memory of Bodies: nearly all are smaller.
	smallBody = 64 << 10
	// largeBodies is how many bytes all larger bodies have at once, and largeAtOnce how many of them are worked on: to
	// decode and answer one takes tens of milliseconds of a processor, and ten times its memory.
	largeBodies = 64 << 20
	largeAtOnce = 4
	// patience is how long a request waits for others. The API server tries one that was refused again after a second,
	// and gives up after ten.
	patience = 4 * time.Second
)

// Bodies are the limits of requests with large bodies. Handlers share them.
type Bodies struct{ memory, slots *semaphore.Weighted }

// NewBodies returns limits that nobody has used.
func NewBodies() Bodies {
	return Bodies{memory: semaphore.NewWeighted(largeBodies), slots: semaphore.NewWeighted(largeAtOnce)}
}

// Requests lets a handler work on at most atOnce requests. A request counts from when its body is there, so that one
// whose body never comes keeps no other waiting, unless both are large. One that would have to wait for long gets status 429.
func Requests(handler http.Handler, atOnce int64, bodies Bodies) http.Handler {
	small := semaphore.NewWeighted(atOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slots := small
		switch {
		case r.ContentLength < 0:
			http.Error(w, "the request must have a Content-Length", http.StatusLengthRequired)
			return
		case r.ContentLength > maxBody:
			http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
			return
		case r.ContentLength > smallBody:
			if !acquire(r.Context(), bodies.memory, r.ContentLength) {
				busy(w)
				return
			}
			defer bodies.memory.Release(r.ContentLength)
			slots = bodies.slots
		}
		body := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, body); err != nil {
			http.Error(w, "the request ended early", http.StatusBadRequest)
			return
		}
		if !acquire(r.Context(), slots, 1) {
			busy(w)
			return
		}
		defer slots.Release(1)
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler.ServeHTTP(w, r)
	})
}

func acquire(ctx context.Context, from *semaphore.Weighted, n int64) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return from.Acquire(ctx, n) == nil
}

// busy makes an API server, and other clients of Kubernetes, try again.
func busy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many requests at once", http.StatusTooManyRequests)
}
