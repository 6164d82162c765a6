/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// fakeAPI behaves like an API server that holds one namespace with one JobSet and some Pods.
type fakeAPI struct {
	mu      sync.Mutex
	version int
	// object is the JobSet in JSON, nil if it does not exist.
	object map[string]any
	// history holds every event; the version of an event is its index plus 1.
	history []fakeEvent
	// changed is closed, and replaced, at each event.
	changed chan struct{}
	// dropped is closed, and replaced, to break every watch.
	dropped chan struct{}
	// owner is the UID in the label of every Pod.
	owner string
	// reports has the reported epochs by Pod, in order.
	reports map[string][]string
	// exits has the annotation worker-exit by Pod.
	exits map[string]string
	// leases has the last Lease by its name.
	leases map[string]fakeLease
	// patched, if set, is called after each report.
	patched func()
	// requests has all requests.
	requests []fakeRequest
	// intercept may answer instead of the fake; it returns true if it did. It gets the body too.
	intercept func(http.ResponseWriter, *http.Request, string) bool
}

type fakeEvent struct {
	kind   string
	object map[string]any
}

type fakeRequest struct {
	kind   string // watch, list or patch
	query  url.Values
	header http.Header
	body   string
	at     time.Time
}

func newFakeAPI() *fakeAPI {
	return &fakeAPI{changed: make(chan struct{}), dropped: make(chan struct{}), reports: map[string][]string{}, exits: map[string]string{}}
}

// set creates or changes the JobSet.
func (f *fakeAPI) set(js JobSet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := "MODIFIED"
	if f.object == nil {
		kind = "ADDED"
	}
	strategy := "Recreate"
	if js.InPlace {
		strategy = "InPlaceRestart"
	}
	conditions := []any{}
	if js.Disabled {
		conditions = append(conditions, map[string]any{"type": "InPlaceRestartDisabled", "status": "True"})
	}
	metadata := map[string]any{"name": "train", "uid": js.UID}
	if js.Deleting {
		metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
	f.object = map[string]any{
		"apiVersion": jobset.GroupVersion.String(), "kind": jobset.Kind, "metadata": metadata,
		"spec": map[string]any{
			"suspend":        js.Suspended,
			"failurePolicy":  map[string]any{"restartStrategy": strategy},
			"replicatedJobs": []any{map[string]any{"replicas": js.Workers}},
		},
		"status": map[string]any{"conditions": conditions, "terminalState": map[bool]string{true: "Completed"}[js.Ended], "deprecatedEpoch": js.Deprecated, "syncedEpoch": js.Synced, "inPlaceRestarts": js.Restarts},
	}
	f.record(kind)
}

// remove deletes the JobSet.
func (f *fakeAPI) remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	// A copy, because a watch may still be sending the old one.
	f.object = maps.Clone(f.object)
	f.object["metadata"] = maps.Clone(f.object["metadata"].(map[string]any))
	f.record("DELETED")
	f.object = nil
}

func (f *fakeAPI) record(kind string) {
	f.version++
	f.object["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(f.version)
	f.history = append(f.history, fakeEvent{kind, f.object})
	close(f.changed)
	f.changed = make(chan struct{})
}

// drop breaks every watch without an error.
func (f *fakeAPI) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.dropped)
	f.dropped = make(chan struct{})
}

// meddle sets the interceptor.
func (f *fakeAPI) meddle(intercept func(http.ResponseWriter, *http.Request) bool) {
	if intercept == nil {
		f.meddleBody(nil)
		return
	}
	f.meddleBody(func(w http.ResponseWriter, r *http.Request, _ string) bool { return intercept(w, r) })
}

// meddleBody sets an interceptor that reads the body.
func (f *fakeAPI) meddleBody(intercept func(http.ResponseWriter, *http.Request, string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.intercept = intercept
}

// report is a patch of somebody else.
func (f *fakeAPI) report(pod, epoch string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reports[pod] = append(f.reports[pod], epoch)
}

// lastReport returns the epoch in the annotation of a Pod, or "".
func (f *fakeAPI) lastReport(pod string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if all := f.reports[pod]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// lastExit returns the exit in the annotation of a Pod, or the zero value.
func (f *fakeAPI) lastExit(pod string) protocol.WorkerExit {
	f.mu.Lock()
	defer f.mu.Unlock()
	var exit protocol.WorkerExit
	_ = json.Unmarshal([]byte(f.exits[pod]), &exit)
	return exit
}

// seen returns the requests of a kind, or of all kinds with "".
func (f *fakeAPI) seen(kind string) []fakeRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []fakeRequest
	for _, r := range f.requests {
		if kind == "" || kind == r.kind {
			found = append(found, r)
		}
	}
	return found
}

const (
	fakeJobSets = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
	fakePods    = "/api/v1/namespaces/default/pods/"
	fakeLeases  = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
)

func kindOf(r *http.Request) string {
	switch {
	case r.Method == http.MethodGet && r.URL.Path == fakeJobSets && r.URL.Query().Get("watch") == "true":
		return "watch"
	case r.Method == http.MethodGet && r.URL.Path == fakeJobSets:
		return "list"
	case r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, fakePods):
		return "patch"
	case r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, fakeLeases+"/"):
		return "patch lease"
	case r.Method == http.MethodPost && r.URL.Path == fakeLeases:
		return "create lease"
	}
	return "unknown " + r.Method + " " + r.URL.Path
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	kind := kindOf(r)
	f.mu.Lock()
	f.requests = append(f.requests, fakeRequest{kind, r.URL.Query(), r.Header, string(body), time.Now()})
	intercept := f.intercept
	f.mu.Unlock()
	if intercept != nil && intercept(w, r, string(body)) {
		return
	}
	switch kind {
	case "watch":
		f.watch(w, r)
	case "list":
		f.list(w)
	case "patch":
		f.patch(w, r, body)
	case "patch lease", "create lease":
		f.lease(w, r, body)
	default:
		refuse(w, http.StatusNotFound, "NotFound", kind, 0)
	}
}

func (f *fakeAPI) patch(w http.ResponseWriter, r *http.Request, body []byte) {
	var patch struct {
		Metadata struct{ Annotations map[string]string }
	}
	if err := json.Unmarshal(body, &patch); err != nil || r.Header.Get("Content-Type") != "application/merge-patch+json" {
		refuse(w, http.StatusBadRequest, "BadRequest", "no merge patch", 0)
		return
	}
	if f.patched != nil {
		defer f.patched()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	pod := strings.TrimPrefix(r.URL.Path, fakePods)
	if epoch, ok := patch.Metadata.Annotations[jobset.EpochKey]; ok {
		f.reports[pod] = append(f.reports[pod], epoch)
	}
	if exit, ok := patch.Metadata.Annotations[protocol.WorkerExitKey]; ok {
		f.exits[pod] = exit
	}
	labels := map[string]string{}
	if f.owner != "" {
		labels[jobset.JobSetUIDKey] = f.owner
	}
	writeJSON(w, map[string]any{"kind": "PartialObjectMetadata", "metadata": map[string]any{"name": pod, "labels": labels}})
}

func (f *fakeAPI) list(w http.ResponseWriter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	items := []any{}
	if f.object != nil {
		items = append(items, f.object)
	}
	writeJSON(w, map[string]any{"metadata": map[string]any{"resourceVersion": strconv.Itoa(f.version)}, "items": items})
}

func (f *fakeAPI) watch(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	streamed := query.Get("sendInitialEvents") == "true"
	if streamed && (query.Get("resourceVersionMatch") != "NotOlderThan" || query.Get("allowWatchBookmarks") != "true") {
		refuse(w, http.StatusUnprocessableEntity, "Invalid", "sendInitialEvents requires more options", 0)
		return
	}
	stream := http.NewResponseController(w)
	f.mu.Lock()
	next, dropped, object := f.version, f.dropped, f.object
	f.mu.Unlock()
	if streamed {
		if object != nil {
			writeJSON(w, map[string]any{"type": "ADDED", "object": object})
		}
		writeJSON(w, bookmark(next, map[string]any{"k8s.io/initial-events-end": "true"}))
	} else {
		next, _ = strconv.Atoi(query.Get("resourceVersion"))
	}
	for {
		_ = stream.Flush()
		f.mu.Lock()
		events, changed := f.history[next:], f.changed
		next = len(f.history)
		f.mu.Unlock()
		for _, e := range events {
			writeJSON(w, map[string]any{"type": e.kind, "object": e.object})
		}
		_ = stream.Flush()
		select {
		case <-changed:
		case <-dropped:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			return
		}
	}
}

func bookmark(version int, annotations map[string]any) map[string]any {
	return map[string]any{"type": "BOOKMARK", "object": map[string]any{
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(version), "annotations": annotations},
	}}
}

func errorEvent(code int, reason string) map[string]any {
	return map[string]any{"type": "ERROR", "object": map[string]any{
		"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": "it is so",
	}}
}

// refuse answers with a Status, as an API server does.
func refuse(w http.ResponseWriter, code int, reason, message string, retryAfter int) {
	w.Header().Set("Content-Type", "application/json")
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.WriteHeader(code)
	writeJSON(w, map[string]any{"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message})
}

func writeJSON(w io.Writer, value any) {
	if err := json.NewEncoder(w).Encode(value); err != nil {
		return // The client is gone, which is its right.
	}
}

// inProcess is a RoundTripper that calls a handler without a network, so that a test can
// run in a bubble of testing/synctest, where time passes only when all goroutines wait.
type inProcess struct{ handler http.Handler }

func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	reader, writer := io.Pipe()
	answer := &pipeResponse{header: http.Header{}, body: writer, started: make(chan int, 1)}
	context.AfterFunc(ctx, func() { _ = writer.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer func() {
			if p := recover(); p != nil {
				_ = writer.CloseWithError(fmt.Errorf("connection broken: %v", p))
				answer.begin(0)
				return
			}
			answer.WriteHeader(http.StatusOK)
			_ = writer.Close()
		}()
		served := r.Clone(ctx)
		if served.Body == nil {
			served.Body = http.NoBody
		}
		t.handler.ServeHTTP(answer, served)
	}()
	select {
	case code := <-answer.started:
		if code == 0 {
			cancel()
			return nil, io.ErrUnexpectedEOF
		}
		return &http.Response{
			StatusCode: code, Header: answer.header.Clone(), Request: r,
			Body: &pipeBody{PipeReader: reader, cancel: cancel},
		}, nil
	case <-ctx.Done():
		cancel()
		return nil, ctx.Err()
	}
}

// pipeResponse is the handler's side of inProcess.
type pipeResponse struct {
	header  http.Header
	body    *io.PipeWriter
	once    sync.Once
	started chan int
}

func (p *pipeResponse) begin(code int)       { p.once.Do(func() { p.started <- code }) }
func (p *pipeResponse) Header() http.Header  { return p.header }
func (p *pipeResponse) WriteHeader(code int) { p.begin(code) }
func (p *pipeResponse) Flush()               { p.begin(http.StatusOK) }
func (p *pipeResponse) Write(b []byte) (int, error) {
	p.begin(http.StatusOK)
	return p.body.Write(b)
}

type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *pipeBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
