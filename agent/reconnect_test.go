/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// crowd starts agents of one JobSet with equally spaced random numbers, so that random
// delays are spread evenly. The agents report; the test does the rest.
func crowd(t *testing.T, fake *fakeAPI, size int) []*agentProcess {
	t.Helper()
	agents := make([]*agentProcess, size)
	for i := range agents {
		cfg := testConfig
		cfg.PodName = fmt.Sprintf("worker-%d", i)
		agents[i] = beginAgentWithLuck(t, fake, cfg, &fakeBarrier{}, func() float64 { return (float64(i) + 0.5) / float64(size) })
	}
	pass(100 * time.Millisecond)
	return agents
}

// wantSpread asserts that the watches since a moment began between two delays, no more than
// expected of them in any tenth of that time.
func wantSpread(t *testing.T, fake *fakeAPI, since time.Time, agents int, least, most time.Duration) {
	t.Helper()
	bins := map[int]int{}
	count := 0
	for _, r := range fake.seen("watch") {
		delay := r.at.Sub(since)
		if delay <= 0 {
			continue
		}
		count++
		if delay < least || delay > most {
			t.Errorf("P155: an agent came back after %v, want %v to %v", delay, least, most)
		}
		bins[int(10*(delay-least)/(most-least+1))]++
	}
	if count != agents {
		t.Errorf("P155: %d agents came back, want %d", count, agents)
	}
	for bin, n := range bins {
		if n > agents/10+1 {
			t.Errorf("P155: %d of %d agents came back in tenth %d of the time", n, agents, bin)
		}
	}
}

func TestAgentsComeBackSpread(t *testing.T) {
	const size = 100
	bubble(t, "P155, P36: agents that have lifted come back over half a minute", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		agents := crowd(t, fake, size)
		fake.set(at(0, 1))
		synctest.Wait()
		for _, a := range agents {
			a.want(t, true)
		}
		pass(time.Minute)
		lost := time.Now()
		fake.drop()
		pass(31 * time.Second)
		wantSpread(t, fake, lost, size, 1500*time.Millisecond, 30*time.Second)
	})
	bubble(t, "P155, P36: agents that hold their worker come back over a second and a millisecond for each worker", func(t *testing.T, fake *fakeAPI) {
		fake.set(with(at(0, 0), func(js *JobSet) { js.Workers = 500 }))
		agents := crowd(t, fake, size)
		pass(time.Minute)
		lost := time.Now()
		fake.drop()
		pass(1500 * time.Millisecond)
		wantSpread(t, fake, lost, size, 75*time.Millisecond, 1500*time.Millisecond)
		for _, a := range agents {
			a.want(t, false)
		}
	})
	bubble(t, "P155: so do their reports", func(t *testing.T, fake *fakeAPI) {
		fake.set(with(at(0, 0), func(js *JobSet) { js.Workers = 500 }))
		broken := failing("")
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool { return kindOf(r) == "patch" && broken(w, r) })
		crowd(t, fake, size)
		fake.meddle(nil)
		pass(1500 * time.Millisecond)
		late := 0
		reports := fake.seen("patch")
		for _, r := range reports {
			if r.at.Sub(reports[0].at) > time.Second {
				late++
			}
		}
		if late < size/3-5 || late > size/3+5 {
			t.Errorf("P155: of %d agents %d report in the last third of 1.5 s", size, late)
		}
	})
	bubble(t, "P155: an agent that was never connected tries again within half a second", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		fake.meddle(failing(""))
		crowd(t, fake, size)
		pass(500 * time.Millisecond)
		if n := len(fake.seen("watch")); n < 2*size {
			t.Errorf("P155: %d agents sent %d requests in half a second, want two each", size, n)
		}
	})
	bubble(t, "P155: agents let go by a bypass come back over half a minute, too", func(t *testing.T, fake *fakeAPI) {
		fake.set(with(at(0, 0), func(js *JobSet) { js.Disabled = true }))
		crowd(t, fake, size)
		pass(time.Minute)
		lost := time.Now()
		fake.drop()
		pass(31 * time.Second)
		wantSpread(t, fake, lost, size, 1500*time.Millisecond, 30*time.Second)
	})
	bubble(t, "P155: an API server that stays away is not asked more often by those who have lifted", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		crowd(t, fake, size)
		fake.set(at(0, 1))
		synctest.Wait()
		fake.meddle(failing(""))
		lost := time.Now()
		fake.drop()
		pass(time.Minute)
		asked := 0
		for _, r := range fake.seen("watch") {
			if r.at.After(lost) {
				asked++
			}
		}
		// On average once in 16 s, but evenly spaced numbers favour the short delays.
		if asked < size*60/30 || asked > size*60/6 {
			t.Errorf("%d requests in a minute by %d agents", asked, size)
		}
	})
	bubble(t, "P155: one whose worker fails while it waits to reconnect comes back as one that holds", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.drop() // it would come back after 16 s
		pass(time.Second)
		c.actors[0].fails(1)
		wantReport(t, fake, "a", "2")
		c.move(at(1, 2))
		pass(5 * time.Second)
		wantRuns(t, c.agent, 2, c.actors...)
	})
	bubble(t, "P155: a watch that ends in due time is begun again at once, lifted or not: each has another length", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if kindOf(r) != "watch" {
				return false
			}
			// End it as an API server does.
			seconds, _ := strconv.Atoi(r.URL.Query().Get("timeoutSeconds"))
			ended := time.NewTimer(time.Duration(seconds) * time.Second)
			defer ended.Stop()
			fake.mu.Lock()
			object, changed := fake.object, fake.changed
			fake.mu.Unlock()
			writeJSON(w, map[string]any{"type": "ADDED", "object": object})
			writeJSON(w, bookmark(1, map[string]any{"k8s.io/initial-events-end": "true"}))
			select {
			case <-changed:
				fake.mu.Lock()
				object = fake.object
				fake.mu.Unlock()
				writeJSON(w, map[string]any{"type": "MODIFIED", "object": object})
				<-ended.C
			case <-ended.C:
			case <-r.Context().Done():
			}
			return true
		})
		agents := crowd(t, fake, 1)
		fake.set(at(0, 1))
		synctest.Wait()
		agents[0].want(t, true)
		pass(450 * time.Second)
		watches := fake.seen("watch")
		if len(watches) != 2 || watches[1].at.Sub(watches[0].at) != 450*time.Second+25*time.Millisecond {
			t.Errorf("%d watches, the last one after %v", len(watches), watches[len(watches)-1].at.Sub(watches[0].at))
		}
	})
}
