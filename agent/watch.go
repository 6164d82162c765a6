/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The watch of one JobSet (P30), step 1 of the picture in doc.go and the trigger of all others.
//
// The first read must not be stale: an agent that reads an S from before its worker ran
// would report an epoch that the worker has already failed in, and rejoin it alone. So the
// initial state is requested without a resourceVersion, which makes the API server confirm it
// with etcd, and no state is used before the server marks the initial state as complete. After
// each disconnect the watch starts over in the same way. That is simpler than resuming, also
// handles 410 Gone, and costs one object.

var (
	// errNoAnswer: the server did not even begin to answer.
	errNoAnswer = errors.New("the API server did not answer in time")
	// errInitialEvents: the initial state did not arrive in time.
	errInitialEvents = errors.New("the initial state did not arrive in time")
	// errStalled: the server should have ended the watch before.
	errStalled = errors.New("the watch outlived its time")
	// errEnded: the server ended the watch early, as it does when it stops.
	errEnded = errors.New("the watch ended")
	// errDue: the server ended the watch at the requested timeout.
	errDue = errors.New("the watch ended in due time")
)

// stallGrace is how much longer than requested a watch may live.
const stallGrace = 10 * time.Second

type watcher struct {
	api    *api
	name   string
	place  Place
	timing Timing
	rand   func() float64
	log    *slog.Logger
	// see is called with every state of the JobSet, one at a time.
	see func(JobSet)
	// lifted reports whether the worker was released, so that no group waits for this agent.
	lifted func() bool

	// listFirst: the server does not support streaming the initial state.
	listFirst bool
	// seen: this attempt has delivered a state.
	seen bool
	// workers is how many the group has, as last seen; 0 if no state was ever delivered.
	workers int
	errs    retryLog
}

func (w *watcher) tell(js JobSet) {
	w.seen, w.workers = true, max(1, js.Workers)
	w.errs.succeeded(watching)
	w.see(js)
}

// run watches until the context ends. Errors are never fatal: until the JobSet can be
// read again, a held worker stays held and a running one keeps running.
func (w *watcher) run(ctx context.Context) {
	retries := backoff{timing: w.timing, rand: w.rand}
	w.errs = retryLog{log: w.log}
	if !sleep(ctx, time.Duration(w.rand()*float64(w.timing.Spread))) {
		return
	}
	for {
		w.seen = false
		started := time.Now()
		err := w.once(ctx)
		if ctx.Err() != nil {
			return
		}
		// A watch that was shorter than the longest delay may be one of a series that fails quickly.
		if w.seen && time.Since(started) > w.timing.BackoffCap {
			retries.reset()
		}
		var delay time.Duration
		if errors.Is(err, errDue) && w.seen {
			// Each watch has a different length, so agents do not reconnect together, and a
			// longer gap would delay a group that breaks just now.
			delay = time.Duration(w.rand() * float64(w.timing.Spread))
		} else {
			delay = retries.next(err, !w.lifted(), w.workers)
		}
		if !errors.Is(err, errEnded) && !errors.Is(err, errDue) {
			w.errs.failed(watching, err, delay)
		}
		if !w.pause(ctx, delay, func() time.Duration { return retries.next(err, true, w.workers) }) {
			return
		}
	}
}

// pause waits before the next attempt. An agent that begins to hold meanwhile does not wait on as if its worker ran, since a
// group may wait for it now (P155).
func (w *watcher) pause(ctx context.Context, delay time.Duration, held func() time.Duration) bool {
	for w.lifted() && delay > checkInterval {
		if !sleep(ctx, checkInterval) {
			return false
		}
		if delay -= checkInterval; !w.lifted() {
			delay = min(delay, held())
		}
	}
	return sleep(ctx, delay)
}

// once reads the initial state and follows it until an error; it never returns nil.
func (w *watcher) once(ctx context.Context) error {
	if !w.listFirst {
		err := w.stream(ctx, "")
		switch {
		case w.seen || ctx.Err() != nil:
			return err
		case hasCode(err, http.StatusUnprocessableEntity, http.StatusBadRequest):
			w.listFirst = true
		case errors.Is(err, errInitialEvents), hasCode(err, http.StatusGatewayTimeout):
		default:
			return err
		}
		w.log.Info("the API server does not stream the initial state, listing instead", "error", err)
	}
	version, err := w.list(ctx)
	if err != nil {
		return fmt.Errorf("listing: %w", err)
	}
	return w.stream(ctx, version)
}

// query selects the one JobSet, so that the server can authorize by its name and
// sends no other object.
func (w *watcher) query() url.Values {
	return url.Values{"fieldSelector": {"metadata.name=" + w.name}}
}

// list passes on the current state and returns the version to watch from. It sets no
// resourceVersion: with version 0 a stale cache may answer.
func (w *watcher) list(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, w.timing.Request)
	defer cancel()
	body, err := w.api.get(ctx, w.query())
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	var list wireList
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return "", fmt.Errorf("decoding: %w", err)
	}
	if list.Metadata.ResourceVersion == "" {
		return "", errors.New("the list has no resourceVersion")
	}
	state := JobSet{}
	for i := range list.Items {
		if list.Items[i].Metadata.Name == w.name {
			state = list.Items[i].jobSet(w.place)
		}
	}
	w.tell(state)
	return list.Metadata.ResourceVersion, nil
}

// stream watches from a version, or, if it is "", with the initial state in the stream.
func (w *watcher) stream(ctx context.Context, version string) error {
	began := time.Now()
	lifetime := w.timing.Watch + time.Duration(w.rand()*float64(w.timing.Watch))
	lifetime = max(time.Second, lifetime.Truncate(time.Second))
	query := w.query()
	query.Set("watch", "true")
	query.Set("allowWatchBookmarks", "true")
	query.Set("timeoutSeconds", strconv.Itoa(int(lifetime/time.Second)))
	if version == "" {
		query.Set("sendInitialEvents", "true")
		query.Set("resourceVersionMatch", "NotOlderThan")
	} else {
		query.Set("resourceVersion", version)
	}

	// Pings detect a dead connection within 45 s; the deadline handles what pings do not detect.
	ctx, cancelStalled := context.WithTimeoutCause(ctx, lifetime+stallGrace, errStalled)
	defer cancelStalled()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	body, err := w.open(ctx, query, cancel)
	if err == nil {
		defer func() { _ = body.Close() }()
		initial := time.AfterFunc(w.timing.InitialEvents, func() { cancel(errInitialEvents) })
		defer initial.Stop()
		if version != "" {
			initial.Stop()
		}
		err = w.follow(body, version == "", func() { initial.Stop() })
	}
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return cause
	case errors.Is(err, errEnded) && time.Since(began) >= lifetime:
		return errDue
	}
	return err
}

// open sends the request and waits for the answer to begin. A busy server keeps a watch in its queues like any other
// request (see DefaultTiming); the initial state is due only from the answer on. A thousand agents that gave up
// meanwhile and listed would ask for everything once more.
func (w *watcher) open(ctx context.Context, query url.Values, cancel context.CancelCauseFunc) (io.ReadCloser, error) {
	answer := time.AfterFunc(w.timing.Request, func() { cancel(errNoAnswer) })
	defer answer.Stop()
	return w.api.get(ctx, query)
}

// follow reads events until an error. If initial, it passes on no state before the bookmark
// that ends the initial events, and then calls begun.
func (w *watcher) follow(body io.Reader, initial bool, begun func()) error {
	events := json.NewDecoder(body)
	state := JobSet{}
	for {
		var event wireEvent
		if err := events.Decode(&event); errors.Is(err, io.EOF) {
			return errEnded
		} else if err != nil {
			return fmt.Errorf("reading an event: %w", err)
		}
		if event.Type == "ERROR" {
			return eventError(event.Object)
		}
		var object wireJobSet
		if err := json.Unmarshal(event.Object, &object); err != nil {
			return fmt.Errorf("decoding the object of event %s: %w", event.Type, err)
		}
		switch event.Type {
		case "BOOKMARK":
			if !initial || object.Metadata.Annotations[initialEventsEndKey] != "true" {
				continue
			}
			initial = false
			begun()
		case "ADDED", "MODIFIED", "DELETED":
			// The selector excludes other names. Ignore a server that sends them anyway.
			if object.Metadata.Name != w.name {
				continue
			}
			state = object.jobSet(w.place)
			if event.Type == "DELETED" {
				state = JobSet{}
			}
		default:
			continue
		}
		if !initial {
			w.tell(state)
		}
	}
}

// eventError turns an ERROR event into an error: 410 if the version is too old, 504 if
// the server could not catch up, 429 or 500 if it is overloaded or broken.
func eventError(object json.RawMessage) error {
	var status wireStatus
	if err := json.Unmarshal(object, &status); err != nil {
		return fmt.Errorf("decoding an ERROR event: %w", err)
	}
	return status.asError()
}
