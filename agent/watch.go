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

// The watch of one JobSet (P30), step 1 of the picture and the thread through all others.
//
// The first read must not be stale: an agent that reads an S from before its worker ran
// would report an epoch that the worker has already failed in, and rejoin it alone. So the
// initial state is asked for at no resourceVersion, which makes the API server confirm with
// etcd, and nothing is told before the server says that this state is complete. After
// each disconnect it starts over in the same way; that is simpler than resuming, is right
// after 410 Gone too, and costs one object.

var (
	// errInitialEvents: the initial state did not arrive in time.
	errInitialEvents = errors.New("the initial state did not arrive in time")
	// errStalled: the server should have ended the watch long ago.
	errStalled = errors.New("the watch outlived its time")
	// errEnded: the server ended the watch, as it does from time to time.
	errEnded = errors.New("the watch ended")
)

// stallGrace is how much longer than asked for a watch may live.
const stallGrace = 10 * time.Second

type watcher struct {
	api    *api
	name   string
	timing Timing
	rand   func() float64
	log    *slog.Logger
	// see is called with every state of the JobSet, one at a time.
	see func(JobSet)

	// listFirst: the server has refused to stream the initial state, and will again.
	listFirst bool
	// seen: this attempt has delivered a state.
	seen bool
	errs retryLog
}

const watching = "watching the JobSet"

func (w *watcher) tell(js JobSet) {
	w.seen = true
	w.errs.succeeded(watching)
	w.see(js)
}

// run watches until the context ends. Errors are never fatal: what cannot be read now
// holds a worker that is held, and leaves alone one that runs.
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
		// A watch that lived shorter than the longest delay may be one of many that fail soon.
		if w.seen && time.Since(started) > w.timing.BackoffCap {
			retries.reset()
		}
		delay := retries.next(err)
		if !errors.Is(err, errEnded) {
			w.errs.failed(watching, err, delay)
		}
		if !sleep(ctx, delay) {
			return
		}
	}
}

// once reads the initial state and follows it until something breaks; it never returns nil.
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

// query selects the one JobSet, so that the server's authorizer may be told its name and
// no other object ever travels.
func (w *watcher) query() url.Values {
	return url.Values{"fieldSelector": {"metadata.name=" + w.name}}
}

// list tells the state as of now and returns the version to watch from. No
// resourceVersion: at version 0 any cache may answer with anything it once knew.
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
			state = list.Items[i].jobSet()
		}
	}
	w.tell(state)
	return list.Metadata.ResourceVersion, nil
}

// stream watches from a version, or, without one, with the initial state in the stream.
func (w *watcher) stream(ctx context.Context, version string) error {
	lifetime := w.timing.Watch + time.Duration(w.rand()*float64(w.timing.Watch))
	query := w.query()
	query.Set("watch", "true")
	query.Set("allowWatchBookmarks", "true")
	query.Set("timeoutSeconds", strconv.Itoa(int(max(1, lifetime/time.Second))))
	if version == "" {
		query.Set("sendInitialEvents", "true")
		query.Set("resourceVersionMatch", "NotOlderThan")
	} else {
		query.Set("resourceVersion", version)
	}

	// Pings find a dead connection within 45 s; the deadline finds whatever pings do not.
	ctx, cancelStalled := context.WithTimeoutCause(ctx, lifetime+stallGrace, errStalled)
	defer cancelStalled()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	initial := time.AfterFunc(w.timing.InitialEvents, func() { cancel(errInitialEvents) })
	defer initial.Stop()

	body, err := w.api.get(ctx, query)
	if err == nil {
		defer func() { _ = body.Close() }()
		if version != "" {
			initial.Stop()
		}
		err = w.follow(body, version == "", func() { initial.Stop() })
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// follow reads events until something breaks. While initial, states are gathered but not
// told until the bookmark that ends the initial events, whereupon begun is called.
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
			// The selector leaves no other names. If someone ignores it, do not believe them.
			if object.Metadata.Name != w.name {
				continue
			}
			state = object.jobSet()
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

// eventError makes an error of an ERROR event: 410 when the version is too old, 504 when
// the server could not catch up, 429 or 500 when it is in trouble.
func eventError(object json.RawMessage) error {
	var status wireStatus
	if err := json.Unmarshal(object, &status); err != nil {
		return fmt.Errorf("decoding an ERROR event: %w", err)
	}
	return &statusError{code: status.Code, reason: status.Reason, message: status.Message, retryAfter: status.retryAfter()}
}
