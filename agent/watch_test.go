/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

var testConfig = Config{Namespace: "default", PodName: "a", JobSetName: "train", RestartExitCode: 88, BarrierPort: 8080}

// pass advances the time of a synctest bubble and waits until all goroutines are idle.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // The clock of a bubble: this takes no time at all.
	synctest.Wait()
}

// half is a source of random numbers that always returns the same.
func half() float64 { return 0.5 }

// startWatch watches the fake until the test ends; the channel receives the states.
func startWatch(t *testing.T, fake *fakeAPI) <-chan JobSet {
	t.Helper()
	client, err := newAPI(&rest.Config{Host: "http://fake", Transport: inProcess{fake}}, testConfig, DefaultTiming().Request)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	states := make(chan JobSet, 100)
	done := make(chan struct{})
	w := watcher{
		api: client, name: "train", timing: DefaultTiming(), rand: half,
		log: slog.New(slog.DiscardHandler), see: func(js JobSet) { states <- js },
		lifted: func() bool { return false },
	}
	go func() {
		defer close(done)
		w.run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return states
}

// drain returns the states in the channel.
func drain(states <-chan JobSet) []JobSet {
	var all []JobSet
	for len(states) > 0 {
		all = append(all, <-states)
	}
	return all
}

func wantStates(t *testing.T, states <-chan JobSet, want ...JobSet) {
	t.Helper()
	if diff := cmp.Diff(want, drain(states)); diff != "" {
		t.Errorf("states differ (-want +got):\n%s", diff)
	}
}

func wantRequests(t *testing.T, fake *fakeAPI, want ...string) {
	t.Helper()
	var got []string
	for _, r := range fake.seen("") {
		got = append(got, r.kind)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests differ (-want +got):\n%s", diff)
	}
}

// bubble runs a test in a bubble with a fake API server.
func bubble(t *testing.T, name string, test func(*testing.T, *fakeAPI)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { test(t, newFakeAPI()) })
	})
}

func TestTheWatchStreamsTheInitialState(t *testing.T) {
	bubble(t, "P30 O50 C276: one request, as the rule says, and no more while it lives", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		states := startWatch(t, fake)
		pass(time.Minute)
		wantStates(t, states, at(0, 0))
		wantRequests(t, fake, "watch")
		query := fake.seen("watch")[0].query
		want := map[string][]string{
			"watch": {"true"}, "sendInitialEvents": {"true"}, "resourceVersionMatch": {"NotOlderThan"},
			"allowWatchBookmarks": {"true"}, "fieldSelector": {"metadata.name=train"}, "timeoutSeconds": {"450"},
		}
		if diff := cmp.Diff(want, map[string][]string(query)); diff != "" {
			t.Errorf("query differs (-want +got):\n%s", diff)
		}
	})
	bubble(t, "P30: changes and the deletion are seen as they come", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		states := startWatch(t, fake)
		pass(time.Second)
		fake.set(at(0, 1))
		synctest.Wait()
		fake.remove()
		synctest.Wait()
		wantStates(t, states, at(0, 0), at(0, 1), JobSet{})
	})
	bubble(t, "P30: a JobSet that does not exist is seen as such, and when it appears", func(t *testing.T, fake *fakeAPI) {
		states := startWatch(t, fake)
		pass(time.Second)
		wantStates(t, states, JobSet{})
		fake.set(at(0, 0))
		synctest.Wait()
		wantStates(t, states, at(0, 0))
	})
	bubble(t, "P30, C276: nothing is told before the bookmark, and then only the latest", func(t *testing.T, fake *fakeAPI) {
		release := make(chan struct{})
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			fake.set(at(0, 3))
			writeJSON(w, map[string]any{"type": "ADDED", "object": fake.history[0].object})
			fake.set(at(0, 4))
			writeJSON(w, bookmark(1, nil))
			writeJSON(w, map[string]any{"type": "MODIFIED", "object": fake.history[1].object})
			<-release
			writeJSON(w, bookmark(2, map[string]any{"k8s.io/initial-events-end": "true"}))
			writeJSON(w, bookmark(3, nil))
			<-r.Context().Done()
			return true
		})
		states := startWatch(t, fake)
		pass(time.Second)
		wantStates(t, states)
		close(release)
		synctest.Wait()
		wantStates(t, states, at(0, 4))
	})
	bubble(t, "P30 O50: JobSets of other names are not believed", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		fake.object["metadata"].(map[string]any)["name"] = "other"
		states := startWatch(t, fake)
		pass(time.Second)
		wantStates(t, states, JobSet{})
	})
	bubble(t, "P36: the first request comes within 50 ms", func(t *testing.T, fake *fakeAPI) {
		startWatch(t, fake)
		pass(24 * time.Millisecond)
		wantRequests(t, fake)
		pass(time.Millisecond)
		wantRequests(t, fake, "watch")
	})
}

func TestTheWatchFallsBackToAList(t *testing.T) {
	for _, code := range []int{http.StatusUnprocessableEntity, http.StatusBadRequest} {
		bubble(t, "P30, C276: a server that refuses is listed, now and later: "+http.StatusText(code), func(t *testing.T, fake *fakeAPI) {
			fake.set(at(0, 1))
			fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
				if !r.URL.Query().Has("sendInitialEvents") {
					return false
				}
				refuse(w, code, "Invalid", "sendInitialEvents is forbidden", 0)
				return true
			})
			states := startWatch(t, fake)
			pass(time.Second)
			fake.set(at(1, 1))
			synctest.Wait()
			wantStates(t, states, at(0, 1), at(1, 1))
			wantRequests(t, fake, "watch", "list", "watch")
			if query := fake.seen("list")[0].query; query.Has("resourceVersion") {
				t.Errorf("the list may be stale: %v", query)
			}
			if query := fake.seen("watch")[1].query; query.Get("resourceVersion") != "1" || query.Has("sendInitialEvents") {
				t.Errorf("the watch does not start at the list: %v", query)
			}
			fake.drop()
			pass(time.Second)
			wantRequests(t, fake, "watch", "list", "watch", "list", "watch")
			wantStates(t, states, at(1, 1))
		})
	}
	bubble(t, "P30: initial events that do not end are given up after 10 s", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if !r.URL.Query().Has("sendInitialEvents") {
				return false
			}
			writeJSON(w, map[string]any{"type": "ADDED", "object": fake.history[0].object})
			<-r.Context().Done()
			return true
		})
		states := startWatch(t, fake)
		pass(10 * time.Second)
		wantStates(t, states)
		pass(time.Second)
		wantStates(t, states, at(0, 1))
		wantRequests(t, fake, "watch", "list", "watch")
	})
	bubble(t, "P30 P38: a watch that waits in the queues of a busy server keeps its place: one request", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		fake.meddle(func(_ http.ResponseWriter, r *http.Request) bool {
			select {
			case <-time.After(14 * time.Second):
			case <-r.Context().Done():
			}
			return false
		})
		states := startWatch(t, fake)
		pass(15 * time.Second)
		wantStates(t, states, at(0, 1))
		wantRequests(t, fake, "watch")
	})
	bubble(t, "P36: a watch that is not answered at all is asked for again", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		fake.meddle(func(_ http.ResponseWriter, r *http.Request) bool {
			if len(fake.seen("")) > 1 {
				return false
			}
			<-r.Context().Done()
			return true
		})
		states := startWatch(t, fake)
		pass(29 * time.Second)
		wantStates(t, states)
		pass(6 * time.Second)
		wantStates(t, states, at(0, 1))
		wantRequests(t, fake, "watch", "watch")
	})
	bubble(t, "P30: so is a server that says it timed out, but only this time", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if len(fake.seen("")) > 1 {
				return false
			}
			writeJSON(w, errorEvent(http.StatusGatewayTimeout, "Timeout"))
			return true
		})
		states := startWatch(t, fake)
		pass(time.Second)
		wantStates(t, states, at(0, 1))
		fake.drop()
		pass(time.Second)
		wantRequests(t, fake, "watch", "list", "watch", "watch")
		wantStates(t, states, at(0, 1))
	})
}

func TestTheWatchSurvivesItsServer(t *testing.T) {
	bubble(t, "P30: a dropped connection starts over and sees what it missed", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		states := startWatch(t, fake)
		pass(time.Minute)
		fake.drop()
		fake.set(at(1, 1))
		pass(time.Second)
		wantStates(t, states, at(0, 1), at(1, 1))
		wantRequests(t, fake, "watch", "watch")
	})
	bubble(t, "P30: 410 Gone starts over", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		gone := true
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if !gone {
				return false
			}
			gone = false
			writeJSON(w, errorEvent(http.StatusGone, "Expired"))
			return true
		})
		states := startWatch(t, fake)
		pass(time.Second)
		wantStates(t, states, at(0, 1))
		wantRequests(t, fake, "watch", "watch")
	})
	bubble(t, "P36: Retry-After is obeyed", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if len(fake.seen("")) > 1 {
				return false
			}
			refuse(w, http.StatusTooManyRequests, "TooManyRequests", "later", 4)
			return true
		})
		states := startWatch(t, fake)
		pass(4 * time.Second)
		wantRequests(t, fake, "watch")
		pass(time.Second)
		wantRequests(t, fake, "watch", "watch")
		wantStates(t, states, at(0, 1))
	})
	bubble(t, "P36, C299: attempts become rarer, but never rarer than 5 s", func(t *testing.T, fake *fakeAPI) {
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			panic(http.ErrAbortHandler)
		})
		startWatch(t, fake)
		pass(time.Minute)
		all := fake.seen("watch")
		var gaps []time.Duration
		for i := 1; i < len(all); i++ {
			gaps = append(gaps, all[i].at.Sub(all[i-1].at))
		}
		for i, gap := range gaps {
			if gap > 5*time.Second || i > 0 && gap < gaps[i-1] {
				t.Errorf("gap %d is %v of %v", i, gap, gaps)
			}
		}
		if len(gaps) < 15 || gaps[0] > 500*time.Millisecond {
			t.Errorf("gaps are %v", gaps)
		}
	})
	bubble(t, "P36: a stream that ends as soon as it began is no busy loop", func(t *testing.T, fake *fakeAPI) {
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			writeJSON(w, bookmark(1, map[string]any{"k8s.io/initial-events-end": "true"}))
			return true
		})
		startWatch(t, fake)
		pass(time.Minute)
		if n := len(fake.seen("watch")); n < 10 || n > 40 {
			t.Errorf("%d attempts in a minute", n)
		}
	})
	bubble(t, "P36: a watch that stalls is ended and starts over", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if len(fake.seen("")) > 1 {
				return false
			}
			writeJSON(w, map[string]any{"type": "ADDED", "object": fake.history[0].object})
			writeJSON(w, bookmark(1, map[string]any{"k8s.io/initial-events-end": "true"}))
			<-r.Context().Done() // Never another word, as of a proxy that lost its other side.
			return true
		})
		states := startWatch(t, fake)
		pass(time.Minute)
		fake.set(at(1, 1))
		pass(7*time.Minute + 30*time.Second)
		wantStates(t, states, at(0, 1), at(1, 1))
	})
	bubble(t, "P36: garbage starts over", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1))
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if len(fake.seen("")) > 1 {
				return false
			}
			_, _ = w.Write([]byte("<html>" + strings.Repeat("x", 1000)))
			return true
		})
		states := startWatch(t, fake)
		pass(time.Second)
		wantStates(t, states, at(0, 1))
	})
}
