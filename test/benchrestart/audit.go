/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// ask is one kind of request of one client.
type ask struct{ client, kind string }

// auditEvent is what is read of a line of the audit log.
type auditEvent struct {
	Stage     string `json:"stage"`
	Verb      string `json:"verb"`
	UserAgent string `json:"userAgent"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Received time.Time `json:"requestReceivedTimestamp"`
}

// requests are those that the API server was asked in some time.
type requests struct {
	// by says when each was received.
	by map[ask][]time.Time
	// refused counts those that were refused with 429, by client.
	refused map[string]int
}

// countRequests counts the requests of an audit log that were received in a window. A watch
// counts when it begins, everything else when it ends. Requests that were refused with 429
// count apart from the others.
func countRequests(log io.Reader, from, to time.Time) (requests, error) {
	counted := requests{by: map[ask][]time.Time{}, refused: map[string]int{}}
	lines := bufio.NewReaderSize(log, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return counted, nil // the rest of a line that is still being written is of no window
		}
		if err != nil {
			return counted, fmt.Errorf("reading the audit log: %w", err)
		}
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return counted, fmt.Errorf("parsing the audit log: %w", err)
		}
		if event.Received.Before(from) || event.Received.After(to) {
			continue
		}
		switch {
		case event.ResponseStatus.Code == http.StatusTooManyRequests:
			if event.Stage == "ResponseComplete" {
				counted.refused[event.ask().client]++
			}
		case (event.Verb == "watch") == (event.Stage == "ResponseStarted"):
			counted.by[event.ask()] = append(counted.by[event.ask()], event.Received)
		}
	}
}

func (e *auditEvent) ask() ask {
	client, _, _ := strings.Cut(e.UserAgent, "/")
	kind := e.Verb + " " + e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		kind += "/" + e.ObjectRef.Subresource
	}
	return ask{client, kind}
}

// auditLog counts what was added to the file since the last time.
type auditLog struct {
	file string
	read int64
}

func (a *auditLog) count(from, to time.Time) (requests, error) {
	file, err := os.Open(a.file)
	if err != nil {
		return requests{}, fmt.Errorf("opening the audit log: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return requests{}, fmt.Errorf("reading the audit log: %w", err)
	}
	counted, err := countRequests(io.NewSectionReader(file, a.read, end-a.read), from, to)
	a.read = end
	return counted, err
}

// of counts the requests of a client, of one kind.
func (r requests) of(client, kind string) int { return len(r.by[ask{client, kind}]) }

// between counts those that were received between two moments.
func (r requests) between(client, kind string, from, to time.Time) int {
	n := 0
	for _, at := range r.by[ask{client, kind}] {
		if at.After(from) && at.Before(to) {
			n++
		}
	}
	return n
}

// total counts the requests of all clients whose requests belong to a restart.
func (r requests) total() int {
	total := 0
	for ask, received := range r.by {
		if ask.client != benchAgent {
			total += len(received)
		}
	}
	return total
}
