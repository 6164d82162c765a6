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
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestTheReportInProcessMode(t *testing.T) {
	refusing := func(code int) func(http.ResponseWriter, *http.Request, string) bool {
		return func(w http.ResponseWriter, r *http.Request, body string) bool {
			if kindOf(r) != "patch" || !strings.Contains(body, protocol.WorkerExitKey) {
				return false
			}
			refuse(w, code, "Reason", "it is so", 0)
			return true
		}
	}
	for _, code := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity} {
		bubble(t, fmt.Sprintf("P66: refused with the exit, code %d, the epoch is reported without it at once", code), func(t *testing.T, fake *fakeAPI) {
			c := lifted(t, fake, "x")
			fake.meddleBody(refusing(code))
			c.actors[0].fails(1)
			wantReport(t, fake, "a", "2")
			if exit := fake.lastExit("a"); exit.Container != "" {
				t.Errorf("the exit is %+v", exit)
			}
			c.wantPatches(3)
			c.move(at(1, 1))
			c.move(at(1, 2))
			fake.meddleBody(nil)
			c.actors[0].fails(2)
			wantReport(t, fake, "a", "3")
			if exit := fake.lastExit("a"); exit.Code != 2 || exit.Epoch != 2 {
				t.Errorf("the next exit is %+v", exit)
			}
			c.wantPatches(4)
		})
	}
	bubble(t, "P66: the epoch is reported without an exit that cannot be written", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, strings.Repeat("x", protocol.MaxWorkerExit))
		c.actors[0].fails(1)
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Container != "" {
			t.Errorf("the exit is %+v", exit)
		}
		c.wantPatches(2)
	})
	bubble(t, "P66: rights that come late cost no exit", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if kindOf(r) != "patch" {
				return false
			}
			refuse(w, http.StatusForbidden, "Forbidden", "it is so", 0)
			return true
		})
		c.actors[0].fails(8)
		pass(time.Minute)
		fake.meddle(nil)
		pass(10 * time.Second)
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Code != 8 {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P66: an exit that cannot be told now is told later", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddleBody(refusing(http.StatusTooManyRequests))
		c.actors[0].fails(1)
		pass(time.Minute)
		wantReport(t, fake, "a", "1")
		fake.meddleBody(nil)
		pass(time.Minute)
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Code != 1 {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P66: an exit whose report becomes deprecated is told with the next one", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(failing("patch"))
		c.actors[0].fails(4)
		c.move(at(2, 2))
		fake.meddle(nil)
		pass(10 * time.Second)
		wantReport(t, fake, "a", "3")
		if exit := fake.lastExit("a"); exit.Code != 4 || exit.Epoch != 1 {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P70: a reason to leave that is refused is not told without it", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddleBody(refusing(http.StatusForbidden))
		c.actors[0].say(protocol.Message{Type: protocol.Stuck, Epoch: 1, Because: "pid 7"})
		pass(time.Hour)
		c.wantLeft("pid 7", c.actors...)
		c.wantPatches(2)
	})
	rankZero := func(t *testing.T, fake *fakeAPI) *crew {
		fake.set(at(0, 0))
		c := &crew{t: t, fake: fake, pod: newPod(t, "a", "x")}
		c.pod.address = "10.1.2.3"
		c.agent = c.pod.start(t, fake)
		c.actors = append(c.actors, c.pod.supervise(t, "x"))
		return c
	}
	addressed := func(w http.ResponseWriter, r *http.Request, body string) bool {
		if kindOf(r) != "patch" || !strings.Contains(body, protocol.AddressKey) {
			return false
		}
		refuse(w, http.StatusForbidden, "Forbidden", "an older policy", 0)
		return true
	}
	bubble(t, "P122: the address is told with the epoch, in one patch, each time", func(t *testing.T, fake *fakeAPI) {
		c := rankZero(t, fake)
		c.wantPatches(1)
		c.move(at(0, 1))
		c.actors[0].fails(1)
		c.wantPatches(2)
		for _, r := range fake.seen("patch") {
			if !strings.Contains(r.body, `"jobset.sigs.k8s.io/address":"10.1.2.3"`) || !strings.Contains(r.body, `"jobset.sigs.k8s.io/epoch":`) {
				t.Errorf("the patch is %s", r.body)
			}
		}
	})
	bubble(t, "P122: where the address is refused, the epoch is reported without it at once", func(t *testing.T, fake *fakeAPI) {
		fake.meddleBody(addressed)
		c := rankZero(t, fake)
		wantReport(t, fake, "a", "1")
		c.wantPatches(2)
		if log := c.agent.log.String(); !strings.Contains(log, "the report was refused until it left out") {
			t.Errorf("the log does not say so:\n%s", log)
		}
	})
	bubble(t, "P72: it is repeated while the agent is held, ever more rarely, and not after the lift", func(t *testing.T, fake *fakeAPI) {
		c := assembled(t, fake, "x")
		began := time.Now()
		pass(30 * time.Minute)
		var got []time.Duration
		for _, r := range fake.seen("patch") {
			got = append(got, r.at.Sub(began).Round(time.Second))
		}
		// 20, 40, 80, 160, 300, ... and with the random eighth of this test's luck.
		want := []time.Duration{0, 23, 68, 158, 338, 675, 1013, 1350, 1688}
		for i := range want {
			want[i] *= time.Second
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the times differ (-want +got):\n%s", diff)
		}
		wantReport(t, fake, "a", "1")
		c.move(at(0, 1))
		patches := len(fake.seen("patch"))
		pass(time.Hour)
		c.wantPatches(patches)
	})
	for name, change := range map[string]func(*JobSet){
		"P34a: after the end of the JobSet": endedNow, "P32a: while it is being deleted": deletingNow, "P32a: while it is suspended": suspendedNow,
	} {
		bubble(t, name+" it is not repeated", func(t *testing.T, fake *fakeAPI) {
			c := assembled(t, fake, "x")
			c.move(with(at(0, 0), change))
			pass(time.Hour)
			c.wantPatches(1)
		})
	}
	bubble(t, "P34a: a repetition that is refused is not tried again after the end of the JobSet", func(t *testing.T, fake *fakeAPI) {
		c := assembled(t, fake, "x")
		fake.meddle(failing("patch"))
		pass(10 * time.Minute)
		refused := len(fake.seen("patch"))
		if refused < 3 {
			t.Fatalf("%d patches, want one and several that were refused", refused)
		}
		c.move(with(at(0, 0), endedNow))
		pass(time.Hour)
		if got := len(fake.seen("patch")); got > refused+1 {
			t.Errorf("%d patches after the end", got-refused)
		}
	})
	bubble(t, "P32a P72: a JobSet that is resumed before its Pods are deleted gets the next repetition", func(t *testing.T, fake *fakeAPI) {
		c := assembled(t, fake, "x")
		c.move(with(at(0, 0), suspendedNow))
		pass(time.Minute)
		c.move(at(0, 0))
		fake.report("a", "0")
		pass(2 * time.Minute)
		wantReport(t, fake, "a", "1")
	})
	bubble(t, "P34a: the success of a Pod is told, also if its JobSet has ended meanwhile", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(failing("patch"))
		c.actors[0].finishes()
		c.move(with(at(0, 1), endedNow))
		pass(time.Second)
		fake.meddle(nil)
		pass(10 * time.Second)
		if exit := fake.lastExit("a"); !exit.Done {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P72: 5,000 agents wait until an API server of one core can have heard them all", func(t *testing.T, fake *fakeAPI) {
		c := crewOf(t, fake, with(at(0, 0), func(js *JobSet) { js.Workers = 5000 }), "x")
		pass(2 * time.Minute)
		c.wantPatches(1)
		pass(15 * time.Second) // the random eighth
		c.wantPatches(2)
	})
	bubble(t, "P72: it heals what a dead predecessor's late patch has overwritten", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(1, 2))
		c := &crew{t: t, fake: fake, pod: newPod(t, "a", "x")}
		c.agent = c.pod.start(t, fake)
		c.pod.supervise(t, "x")
		wantReport(t, fake, "a", "3")
		fake.report("a", "2")
		pass(23 * time.Second)
		wantReport(t, fake, "a", "3")
	})
	bubble(t, "P72: no report is repeated in container mode", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		startAgent(t, fake, "a")
		pass(time.Hour)
		if n := len(fake.seen("patch")); n != 1 {
			t.Errorf("%d patches", n)
		}
	})
}
