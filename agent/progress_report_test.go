/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// lastPatch returns the body of the last patch.
func lastPatch(t *testing.T, fake *fakeAPI) string {
	t.Helper()
	all := fake.seen("patch")
	if len(all) == 0 {
		t.Fatal("no patch")
	}
	return all[len(all)-1].body
}

func TestTheProgressOfAWorkerIsTold(t *testing.T) {
	at119 := &protocol.ProgressReport{Epoch: 1, Steps: &protocol.Steps{First: 100, Last: 119, Highest: 119}, StartMillis: 5200, LongestGapMillis: 900, SilentMillis: 12}
	fails := func(s *actor, m protocol.Message) {
		m.Type, m.Epoch, m.Exit = protocol.Ready, s.epoch, &protocol.Exit{Code: 1, Time: time.Now().UTC()}
		s.mu.Lock()
		s.state, s.exit = protocol.Ended, m.Exit
		s.mu.Unlock()
		s.say(m)
		synctest.Wait()
	}
	refusing := func(keys ...string) func(http.ResponseWriter, *http.Request, string) bool {
		return func(w http.ResponseWriter, r *http.Request, body string) bool {
			for _, key := range keys {
				if kindOf(r) == "patch" && strings.Contains(body, key) {
					refuse(w, http.StatusUnprocessableEntity, "Invalid", "an older policy", 0)
					return true
				}
			}
			return false
		}
	}
	bubble(t, "P165: how it was started goes with it, also where nobody watches for signs", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fails(c.actors[0], protocol.Message{Warm: &protocol.WarmStart{Warm: true, Early: 1, Code: 3}})
		c.wantPatches(2)
		want := `"jobset.sigs.k8s.io/progress":"{\"epoch\":1,\"warm\":{\"warm\":true,\"early\":1,\"code\":3}}"`
		if body := lastPatch(t, fake); !strings.Contains(body, want) {
			t.Errorf("the patch is %s", body)
		}
	})
	bubble(t, "P137: with the report of the next epoch, in one patch, and not again with a later one", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fails(c.actors[0], protocol.Message{Report: at119})
		c.wantPatches(2)
		want := `"jobset.sigs.k8s.io/progress":"{\"epoch\":1,\"steps\":{\"first\":100,\"last\":119,\"highest\":119},\"startMs\":5200,\"longestGapMs\":900,\"silentMs\":12}"`
		if body := lastPatch(t, fake); !strings.Contains(body, want) || !strings.Contains(body, `"jobset.sigs.k8s.io/epoch":"2"`) || !strings.Contains(body, protocol.WorkerExitKey) {
			t.Errorf("the patch is %s", body)
		}
		c.move(at(1, 1))
		c.move(at(1, 2))
		c.actors[0].fails(1)
		if body := lastPatch(t, fake); strings.Contains(body, protocol.ProgressKey) {
			t.Errorf("a worker that nobody watches has told nothing: %s", body)
		}
	})
	bubble(t, "P137: refused, it is left out, and the exit is told", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddleBody(refusing(protocol.ProgressKey))
		fails(c.actors[0], protocol.Message{Report: at119})
		c.wantPatches(3)
		if exit := fake.lastExit("a"); exit.Code != 1 || fake.lastReport("a") != "2" {
			t.Errorf("the exit is %+v, the report %s", exit, fake.lastReport("a"))
		}
	})
	bubble(t, "P137: refused again, the exit is left out, too", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddleBody(refusing(protocol.ProgressKey, protocol.WorkerExitKey))
		fails(c.actors[0], protocol.Message{Report: at119})
		c.wantPatches(4)
		wantReport(t, fake, "a", "2")
	})
	bubble(t, "P137: one that is forged by a neighbour does not keep the epoch from being reported", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fails(c.actors[0], protocol.Message{Report: &protocol.ProgressReport{Epoch: 1, StartMillis: -1}})
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Code != 1 {
			t.Errorf("the exit is %+v", exit)
		}
	})
}

func TestRankZeroTellsItsStepsWhileItRuns(t *testing.T) {
	progressed := func(s *actor, epoch int32, step int64) {
		s.say(protocol.Message{Type: protocol.Progressed, Epoch: epoch, Report: &protocol.ProgressReport{
			Epoch: epoch, StartMillis: 1, Steps: &protocol.Steps{Last: step, Highest: step},
		}})
		synctest.Wait()
	}
	crewAt := func(t *testing.T, fake *fakeAPI, place Place) *crew {
		fake.set(at(0, 0))
		c := &crew{t: t, fake: fake, pod: newPod(t, "a", "x")}
		c.pod.place = place
		c.agent = c.pod.start(t, fake)
		c.actors = append(c.actors, c.pod.supervise(t, "x"))
		c.move(at(0, 1))
		c.wantPatches(1)
		return c
	}
	bubble(t, "P137: nothing but its progress, once for each time it is told", func(t *testing.T, fake *fakeAPI) {
		c := crewAt(t, fake, Place{ReplicatedJob: "w", Jobs: 1})
		progressed(c.actors[0], 1, 7)
		progressed(c.actors[0], 2, 9) // of another epoch
		c.wantPatches(2)
		if body := lastPatch(t, fake); !strings.Contains(body, protocol.ProgressKey) || strings.Contains(body, epochKey) {
			t.Errorf("the patch is %s", body)
		}
		pass(time.Hour)
		c.wantPatches(2)
	})
	tells := func(t *testing.T, fake *fakeAPI, place Place) (patches, others int) {
		c := crewAt(t, fake, place)
		before := len(fake.seen(""))
		for step := range int64(10) { // as often as a supervisor tells it in ten minutes
			pass(time.Minute)
			progressed(c.actors[0], 1, step)
		}
		patches = len(fake.seen("patch")) - 1
		return patches, len(fake.seen("")) - before - patches - len(fake.seen("watch")) + 1
	}
	bubble(t, "P137: ten patches in ten minutes, however many workers there are", func(t *testing.T, fake *fakeAPI) {
		if patches, others := tells(t, fake, Place{ReplicatedJob: "w", Jobs: 1000}); patches != 10 || others != 0 {
			t.Errorf("%d patches and %d others, want 10 and none", patches, others)
		}
	})
	bubble(t, "P137: nor more if somebody else says it a hundred times a second", func(t *testing.T, fake *fakeAPI) {
		c := crewAt(t, fake, Place{ReplicatedJob: "w", Jobs: 1})
		for step := range int64(1000) {
			progressed(c.actors[0], 1, step)
			pass(10 * time.Millisecond)
		}
		c.wantPatches(2)
	})
	bubble(t, "P137: none of the other 999", func(t *testing.T, fake *fakeAPI) {
		if patches, others := tells(t, fake, Place{ReplicatedJob: "w", Jobs: 1000, Job: 999}); patches != 0 || others != 0 {
			t.Errorf("%d patches and %d others, want none", patches, others)
		}
	})
	bubble(t, "P137: all others tell nothing", func(t *testing.T, fake *fakeAPI) {
		c := crewAt(t, fake, Place{ReplicatedJob: "w", Jobs: 2, Job: 1})
		progressed(c.actors[0], 1, 7)
		c.wantPatches(1)
	})
	for name, change := range map[string]func(*JobSet){
		"P34a: a JobSet that has ended": endedNow, "P32a: one that is being deleted": deletingNow, "P32a: one that is suspended": suspendedNow,
	} {
		bubble(t, name+" is told nothing", func(t *testing.T, fake *fakeAPI) {
			c := crewAt(t, fake, Place{ReplicatedJob: "w", Jobs: 1})
			c.move(with(at(0, 1), change))
			progressed(c.actors[0], 1, 7)
			c.wantPatches(1)
		})
	}
	bubble(t, "P62: what comes before a hello is told to nobody", func(t *testing.T, fake *fakeAPI) {
		c := crewAt(t, fake, Place{ReplicatedJob: "w", Jobs: 1})
		stranger := &actor{t: t, pod: c.pod, conn: c.pod.dial()}
		progressed(stranger, 1, 7)
		c.wantPatches(1)
	})
	bubble(t, "P70: it does not end the report that this Pod must be replaced", func(t *testing.T, fake *fakeAPI) {
		c := crewAt(t, fake, Place{ReplicatedJob: "w", Jobs: 1})
		c.actors[0].deaf = true
		fake.meddle(failing("patch"))
		c.actors[0].say(protocol.Message{Type: protocol.Stuck, Epoch: 1, Because: "a process cannot be killed"})
		pass(time.Minute + time.Second)
		progressed(c.actors[0], 1, 7)
		fake.meddle(nil)
		pass(10 * time.Second)
		if exit := fake.lastExit("a"); exit.Leave == "" {
			t.Errorf("the exit is %+v, want that the Pod leaves; log:\n%s", exit, c.agent.log)
		}
	})
	bubble(t, "P137: refused, it is not tried again", func(t *testing.T, fake *fakeAPI) {
		c := crewAt(t, fake, Place{ReplicatedJob: "w", Jobs: 1})
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if kindOf(r) == "patch" {
				refuse(w, http.StatusForbidden, "Forbidden", "an older policy", 0)
			}
			return kindOf(r) == "patch"
		})
		for step := range int64(10) {
			progressed(c.actors[0], 1, step)
			pass(time.Minute)
		}
		c.wantPatches(2)
	})
}
