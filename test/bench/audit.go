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
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
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
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Received time.Time `json:"requestReceivedTimestamp"`
	Answered time.Time `json:"stageTimestamp"`
	// RequestObject is recorded for writes of a JobSet's status only.
	RequestObject struct {
		Status jobset.JobSetStatus `json:"status"`
	} `json:"requestObject"`
}

// epochWrite is a write of a JobSet's status.
type epochWrite struct {
	received           time.Time
	deprecated, synced int32
}

// requests are those that the API server was asked in some time.
type requests struct {
	// by says when each was received.
	by map[ask][]time.Time
	// refused counts those that were refused with 429, by client.
	refused map[string]int
	// failed counts the watches that the API server could not begin for another reason, such as 504 if its cache
	// was behind for too long. Whoever asked asks again.
	failed int
	// reporters counts the reports of agents by the Pod, or its Lease.
	reporters map[string]int
	// answered says when the agents' reports were answered.
	answered []time.Time
	// epochs are the writes of the status that were accepted.
	epochs []epochWrite
}

// countRequests counts the requests of an audit log that were received in a window. A watch
// counts when it begins, everything else when it ends. Requests that were refused with 429
// count apart from the others, and so do watches that did not begin. It also says how long the lines are that it read; the rest of
// one that is still being written is left for the next time.
func countRequests(log io.Reader, from, to time.Time) (counted requests, read int64, err error) {
	counted = requests{by: map[ask][]time.Time{}, refused: map[string]int{}, reporters: map[string]int{}}
	lines := bufio.NewReaderSize(log, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return counted, read, nil
		}
		if err != nil {
			return counted, read, fmt.Errorf("reading the audit log: %w", err)
		}
		read += int64(len(line))
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return counted, read, fmt.Errorf("parsing the audit log: %w", err)
		}
		if event.Received.Before(from) || event.Received.After(to) {
			continue
		}
		switch {
		case event.ResponseStatus.Code == http.StatusTooManyRequests:
			if event.Stage == "ResponseComplete" {
				counted.refused[event.ask().client]++
			}
		case (event.Verb == "watch") != (event.Stage == "ResponseStarted"): // the other end of it counts
		case event.Verb == "watch" && event.ResponseStatus.Code != http.StatusOK:
			counted.failed++
		default:
			counted.by[event.ask()] = append(counted.by[event.ask()], event.Received)
			counted.keep(&event)
		}
	}
}

// keep notes the requests of which a group restart is made.
func (r *requests) keep(event *auditEvent) {
	if event.ResponseStatus.Code != http.StatusOK {
		return
	}
	switch event.ask() {
	case ask{agentClient, report}:
		r.answered = append(r.answered, event.Answered)
		r.reporters[event.ObjectRef.Name]++
	case ask{managerClient, statusWrite}:
		status := &event.RequestObject.Status
		r.epochs = append(r.epochs, epochWrite{event.Received, ptr.Deref(status.DeprecatedEpoch, 0), ptr.Deref(status.SyncedEpoch, 0)})
	}
}

// managersShare is what the manager itself adds to a group restart, by the clock of the API
// server: from the answer to the first report until the break arrives there, and from the
// answer to the last one until the lift does. What the API server then takes to write it, and
// to tell a thousand agents, is in it no more than what it took for the reports.
func (r requests) managersShare() (breaks, lifts time.Duration, known bool) {
	if len(r.answered) == 0 {
		return 0, 0, false
	}
	var broke time.Time
	for _, write := range slices.SortedFunc(slices.Values(r.epochs), func(a, b epochWrite) int { return a.received.Compare(b.received) }) {
		switch {
		case broke.IsZero() && write.deprecated == write.synced:
			broke = write.received
			breaks = max(0, broke.Sub(slices.MinFunc(r.answered, time.Time.Compare)))
		case !broke.IsZero() && write.deprecated < write.synced:
			return breaks, max(0, write.received.Sub(slices.MaxFunc(r.answered, time.Time.Compare))), true
		}
	}
	return breaks, 0, false
}

func (e *auditEvent) ask() ask {
	client, _, _ := strings.Cut(e.UserAgent, "/")
	kind := e.Verb + " " + e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		kind += "/" + e.ObjectRef.Subresource
	}
	if client == agentClient && kind == "patch leases" {
		kind = report // as on a Pod (P151)
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
	counted, read, err := countRequests(io.NewSectionReader(file, a.read, end-a.read), from, to)
	a.read += read
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
