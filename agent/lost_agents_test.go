/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAgentsThatDieOrAreCutOff shows how an agent comes back, and how its peers react.
func TestAgentsThatDieOrAreCutOff(t *testing.T) {
	move := func(fake *fakeAPI, deprecated, synced int32) {
		fake.set(at(deprecated, synced))
		synctest.Wait()
	}
	dies := func(t *testing.T, fake *fakeAPI, a *agentProcess, pod string) *agentProcess {
		a.stop(nil)
		<-a.ended
		return startAgent(t, fake, pod)
	}
	bubble(t, "C265: an agent that died between its report and the lift comes back at the next epoch, and lifts nothing before", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		a, b := startAgent(t, fake, "a"), startAgent(t, fake, "b")
		a.stop(nil)
		<-a.ended
		move(fake, 0, 1) // by the annotation that outlived a
		b.want(t, true)

		a = startAgent(t, fake, "a")

		wantReport(t, fake, "a", "2")
		a.want(t, false)
		move(fake, 1, 1)
		b.wantRestart(t, "epoch 1 is deprecated")
		b = startAgent(t, fake, "b")
		wantReport(t, fake, "b", "2")
		move(fake, 1, 2)
		a.want(t, true)
		b.want(t, true)
	})
	bubble(t, "C278: an agent that dies after the lift never comes back at the epoch that runs", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		a, b := startAgent(t, fake, "a"), startAgent(t, fake, "b")
		move(fake, 0, 1)
		a.want(t, true)
		b.want(t, true)

		a = dies(t, fake, a, "a")

		wantReport(t, fake, "a", "2")
		a.want(t, false)
		b.want(t, true)
		move(fake, 1, 1)
		b.wantRestart(t, "epoch 1 is deprecated")
	})
	bubble(t, "C279: an agent that is cut off obeys as soon as it is back, and is never beside a newer epoch", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		cut, other := startAgent(t, fake, "cut"), startAgent(t, fake, "other")
		move(fake, 0, 1)
		fake.meddle(failing(""))
		fake.drop()
		pass(time.Minute)
		move(fake, 1, 1) // the other failed, and nobody is lifted before all are back
		cut.want(t, true)

		fake.meddle(nil)
		pass(31 * time.Second)

		cut.wantRestart(t, "epoch 1 is deprecated")
		other.wantRestart(t, "epoch 1 is deprecated")
	})
	bubble(t, "C276: a server that streams no initial state is asked for a list that cannot be old, so a failed worker stays out of the epoch it ran", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 1)) // lifted at 1, and the worker of a failed in it
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			switch query := r.URL.Query(); {
			case query.Has("sendInitialEvents"):
				refuse(w, http.StatusUnprocessableEntity, "Invalid", "sendInitialEvents is forbidden", 0)
			case kindOf(r) == "list" && query.Has("resourceVersion"):
				// A stale cache may answer with the epoch before.
				fmt.Fprint(w, `{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"train","uid":"ours"},`+
					`"spec":{"failurePolicy":{"restartStrategy":"InPlaceRestart"}},"status":{"syncedEpoch":0}}]}`)
			default:
				return false
			}
			return true
		})
		a := startAgent(t, fake, "a")
		wantReport(t, fake, "a", "2")
		a.want(t, false)
	})
	bubble(t, "C281: the disable annotation lets a waiting worker run, and those it let run restart when it goes", func(t *testing.T, fake *fakeAPI) {
		annotated := func(js *JobSet) { js.Disabled = true }
		fake.set(at(0, 0))
		a, b := startAgent(t, fake, "a"), startAgent(t, fake, "b")
		move(fake, 0, 1)
		a = dies(t, fake, a, "a")
		a.want(t, false)

		fake.set(with(at(0, 1), annotated))
		synctest.Wait()

		a.want(t, true)
		b.want(t, true)
		fake.set(with(at(1, 1), annotated))
		synctest.Wait()
		b.want(t, true)
		move(fake, 1, 1)
		a.wantRestart(t, "in-place restart was off")
		b.wantRestart(t, "epoch 1 is deprecated")
	})
}

// TestManyAgents starts thousands of agents at the same time (P36, P38).
func TestManyAgents(t *testing.T) {
	const agents = 300
	bubble(t, "C306: each of many agents that start in one instant sends one watch and one patch, spread over 50 ms", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		begun := time.Now()
		for i := range agents {
			cfg := testConfig
			cfg.PodName = fmt.Sprintf("pod-%d", i)
			beginAgent(t, fake, cfg, &fakeBarrier{})
		}
		pass(time.Second)
		instants := map[time.Duration]bool{}
		for _, r := range fake.seen("watch") {
			after := r.at.Sub(begun)
			instants[after.Truncate(time.Millisecond)] = true
			if after > 50*time.Millisecond {
				t.Errorf("a watch after %v", after)
			}
		}
		if len(instants) < 25 {
			t.Errorf("all watches arrive in %d of 50 milliseconds", len(instants))
		}
		if watches, patches, requests := len(fake.seen("watch")), len(fake.seen("patch")), len(fake.seen("")); watches != agents || patches != agents || requests != 2*agents {
			t.Errorf("%d watches and %d patches in %d requests by %d agents", watches, patches, requests, agents)
		}
	})
	bubble(t, "C305: a change that is not the agent's costs it no request", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		a := startAgent(t, fake, "a")
		for range 100 {
			fake.set(at(0, 0)) // counts, say: the object is another, what the agent reads is not
			synctest.Wait()
		}
		a.want(t, false)
		wantRequests(t, fake, "watch", "patch")
		if lines := strings.Count(a.log.String(), "\n"); lines > 4 {
			t.Errorf("%d lines of log:\n%s", lines, a.log)
		}
	})
}
