/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"net/http"
	"syscall"
	"testing"
	"time"
)

// busyOnce asks whoever sends the first patch to come back in a second.
func busyOnce() func(http.ResponseWriter, *http.Request) bool {
	asked := false
	return func(w http.ResponseWriter, r *http.Request) bool {
		if kindOf(r) != "patch" || asked {
			return false
		}
		asked = true
		refuse(w, http.StatusTooManyRequests, "TooManyRequests", "busy", 1)
		return true
	}
}

func TestTheSuccessOfAPodIsTold(t *testing.T) {
	wantDone := func(t *testing.T, fake *fakeAPI) {
		t.Helper()
		if exit := fake.lastExit("a"); !exit.Done || exit.Epoch != 1 {
			t.Errorf("the exit is %+v, want that epoch 1 is done", exit)
		}
	}
	// ends returns how long an agent takes to end that is told to.
	ends := func(c *crew) time.Duration {
		began := time.Now()
		c.agent.stop(stopSignal{syscall.SIGTERM})
		<-c.agent.ended
		return time.Since(began)
	}
	bubble(t, "P151: though the kubelet ends the agent before the API server has accepted it", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(busyOnce())
		c.actors[0].finishes()
		pass(500 * time.Millisecond)
		if took := ends(c); took > 2*time.Second {
			t.Errorf("the agent took %s to end", took)
		}
		wantDone(t, fake)
	})
	bubble(t, "P151: though the group breaks before", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(busyOnce())
		c.actors[0].finishes()
		c.move(at(1, 1))
		pass(5 * time.Second)
		wantDone(t, fake)
	})
	bubble(t, "P151: though the group breaks before, and then the kubelet ends the agent", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(busyOnce())
		c.actors[0].finishes()
		c.move(at(1, 1))
		ends(c)
		wantDone(t, fake)
	})
	bubble(t, "P151: an agent that is killed says nothing more", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(busyOnce())
		c.actors[0].finishes()
		patches := len(fake.seen("patch"))
		c.agent.crash()
		pass(time.Hour)
		c.wantPatches(patches)
	})
	bubble(t, "P37: an API server that is away holds up the end of an agent that has it to tell for 5 s", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(failing("patch"))
		c.actors[0].finishes()
		if took := ends(c); took != 5*time.Second {
			t.Errorf("the agent took %s to end", took)
		}
	})
	bubble(t, "P37: and not that of an agent whose report was accepted", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		c.actors[0].finishes()
		fake.meddle(failing("patch"))
		if took := ends(c); took != 0 {
			t.Errorf("the agent took %s to end", took)
		}
	})
	bubble(t, "P37: nor that of an agent whose worker has failed", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(failing("patch"))
		c.actors[0].fails(1)
		if took := ends(c); took != 0 {
			t.Errorf("the agent took %s to end", took)
		}
	})
}
