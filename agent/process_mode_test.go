/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// notRunning is the result of runs for a worker that does not run.
const notRunning = -1

func TestGroupRestartInProcessMode(t *testing.T) {
	bubble(t, "P62 P64 P66 P73: the picture of the package comment, step by step", func(t *testing.T, fake *fakeAPI) {
		// move plays the controller.
		move := func(deprecated, synced, restarts int32) {
			fake.set(with(at(deprecated, synced), func(js *JobSet) { js.Restarts = restarts }))
			synctest.Wait()
		}
		fake.set(at(0, 0))
		podA, podB := newPod(t, "a", "worker"), newPod(t, "b", "worker")
		agentA, agentB := podA.start(t, fake), podB.start(t, fake)
		wantReport(t, fake, "a", "")
		a, b := podA.supervise(t, "worker"), podB.supervise(t, "worker")
		wantReport(t, fake, "a", "1")
		wantReport(t, fake, "b", "1")
		wantRuns(t, agentA, notRunning, a)
		move(0, 1, 0)
		wantRuns(t, agentA, 1, a)
		wantRuns(t, agentB, 1, b)

		a.fails(3)
		wantReport(t, fake, "a", "2")
		want := protocol.WorkerExit{Container: "worker", Epoch: 1, Exit: protocol.Exit{Code: 3, Time: time.Now().UTC()}}
		if diff := cmp.Diff(want, fake.lastExit("a")); diff != "" {
			t.Errorf("the exit differs (-want +got):\n%s", diff)
		}
		wantRuns(t, agentB, 1, b)

		move(1, 1, 1)
		wantRuns(t, agentB, notRunning, b)
		wantReport(t, fake, "b", "2")
		if exit := fake.lastExit("b"); !exit.Stopped || exit.Epoch != 1 || exit.Signal != 15 {
			t.Errorf("the exit of b is %+v, want that it was stopped", exit)
		}
		if stops := b.told(protocol.Stop); len(stops) != 1 || stops[0].GraceSeconds != 2 {
			t.Errorf("b was told %+v, want one stop with the grace period", stops)
		}

		move(1, 2, 1)
		wantRuns(t, agentA, 2, a)
		wantRuns(t, agentB, 2, b)
		if starts := a.told(protocol.Start); len(starts) != 2 || starts[1].Restarts != 1 {
			t.Errorf("a was told %+v, want two starts, the second with one restart", starts)
		}
		if watches, patches := len(fake.seen("watch")), len(fake.seen("patch")); watches != 2 || patches != 4 {
			t.Errorf("P73: %d watches and %d patches in two rounds of two agents, want one watch by each and one patch by each in each round", watches, patches)
		}
		if len(fake.seen("list")) > 0 {
			t.Error("an agent listed")
		}
	})
}

// crew is a Pod in process mode with an agent and supervisors.
type crew struct {
	t      *testing.T
	fake   *fakeAPI
	pod    *pod
	agent  *agentProcess
	actors []*actor
}

// assembled returns a Pod whose supervisors are connected and whose agent has reported epoch 1.
func assembled(t *testing.T, fake *fakeAPI, containers ...string) *crew {
	t.Helper()
	return crewOf(t, fake, at(0, 0), containers...)
}

// crewOf is assembled, for a JobSet in which nothing ran before.
func crewOf(t *testing.T, fake *fakeAPI, js JobSet, containers ...string) *crew {
	t.Helper()
	fake.set(js)
	c := &crew{t: t, fake: fake, pod: newPod(t, "a", containers...)}
	c.agent = c.pod.start(t, fake)
	for _, name := range containers {
		c.actors = append(c.actors, c.pod.supervise(t, name))
	}
	wantReport(t, fake, "a", "1")
	return c
}

// lifted returns a Pod whose workers run at epoch 1.
func lifted(t *testing.T, fake *fakeAPI, containers ...string) *crew {
	t.Helper()
	c := assembled(t, fake, containers...)
	c.move(at(0, 1))
	wantRuns(t, c.agent, 1, c.actors...)
	return c
}

func (c *crew) move(js JobSet) {
	c.fake.set(js)
	synctest.Wait()
}

// replaceAgent crashes the agent and starts another one. Its supervisors connect again.
func (c *crew) replaceAgent() {
	c.t.Helper()
	c.agent.crash()
	c.agent = c.pod.start(c.t, c.fake)
	for _, s := range c.actors {
		if !s.isGone() {
			s.back()
		}
	}
}

func (c *crew) wantPatches(want int) {
	c.t.Helper()
	if got := len(c.fake.seen("patch")); got != want {
		c.t.Fatalf("%d patches, want %d; log:\n%s", got, want, c.agent.log)
	}
}

// wantLeft asserts that all supervisors that were not done have been told to leave.
func (c *crew) wantLeft(because string, actors ...*actor) {
	c.t.Helper()
	for _, s := range actors {
		told := s.told(protocol.Leave)
		if len(told) != 1 || !strings.Contains(told[0].Because, because) || told[0].GraceSeconds != 2 {
			c.t.Fatalf("container %s was told %+v, want to leave once, with a grace of 2 s, because %q; log:\n%s", s.container, told, because, c.agent.log)
		}
	}
	text, err := os.ReadFile(filepath.Join(c.pod.dir, protocol.LeaveFile))
	if err != nil || !strings.Contains(string(text), because) {
		c.t.Fatalf("P70: file %s has %q, %v", protocol.LeaveFile, text, err)
	}
}

func TestARoundEndsInProcessMode(t *testing.T) {
	bubble(t, "P64 P66: one of two containers fails: the other is stopped, and one report tells the first cause", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "a", "b")
		c.actors[1].fails(7)
		wantRuns(t, c.agent, notRunning, c.actors...)
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Container != "b" || exit.Code != 7 || exit.Stopped || exit.Epoch != 1 {
			t.Errorf("the exit is %+v", exit)
		}
		c.wantPatches(2)
		c.move(at(1, 1))
		c.move(at(1, 2))
		wantRuns(t, c.agent, 2, c.actors...)
		c.wantPatches(2)
	})
	bubble(t, "P64: a worker that takes its time to stop is waited for", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "a")
		c.actors[0].hangs = true
		c.move(at(1, 1))
		pass(time.Hour)
		wantReport(t, fake, "a", "1")
		c.actors[0].end(protocol.Exit{Code: 137, Signal: 9, Stopped: true})
		synctest.Wait()
		wantReport(t, fake, "a", "2")
	})
	bubble(t, "P70: a container that was restarted under its worker is an exit", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "a", "b")
		c.actors[0].kill()
		pass(30 * time.Second)
		wantReport(t, fake, "a", "1")
		wantRuns(t, c.agent, 1, c.actors[1])
		c.actors[0].restart()
		wantRuns(t, c.agent, notRunning, c.actors...)
		wantReport(t, fake, "a", "2")
	})
	bubble(t, "P32: an epoch that is deprecated while it is held begins a fresh round, and stops nobody", func(t *testing.T, fake *fakeAPI) {
		c := assembled(t, fake, "a")
		c.move(at(1, 1))
		wantReport(t, fake, "a", "2")
		if stops := c.actors[0].told(protocol.Stop); len(stops) > 0 {
			t.Errorf("a supervisor that holds its worker was told %+v", stops)
		}
		c.move(at(1, 2))
		wantRuns(t, c.agent, 2, c.actors...)
	})
	bubble(t, "P65: a supervisor lost between report and start is waited for, and then started", func(t *testing.T, fake *fakeAPI) {
		c := assembled(t, fake, "a", "b")
		c.actors[1].kill()
		synctest.Wait()
		c.move(at(0, 1))
		wantRuns(t, c.agent, 1, c.actors[0])
		pass(30 * time.Second)
		c.actors[1].restart()
		wantRuns(t, c.agent, 1, c.actors...)
		c.wantPatches(2 - 1)
	})
	bubble(t, "P36: an API server that is away harms no worker; a failure meanwhile is reported afterwards", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "a")
		fake.meddle(failing(""))
		fake.drop()
		pass(time.Hour)
		wantRuns(t, c.agent, 1, c.actors...)
		c.actors[0].fails(1)
		pass(time.Hour)
		fake.meddle(nil)
		pass(10 * time.Second)
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Code != 1 {
			t.Errorf("the exit is %+v", exit)
		}
	})
}

func TestAnAgentThatCrashes(t *testing.T) {
	bubble(t, "P65: before its report", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		c := &crew{t: t, fake: fake, pod: newPod(t, "a", "x", "y")}
		c.agent = c.pod.start(t, fake)
		c.actors = []*actor{c.pod.supervise(t, "x")}
		c.replaceAgent()
		c.wantPatches(0)
		c.pod.supervise(t, "y")
		wantReport(t, fake, "a", "1")
	})
	bubble(t, "P65: while it holds: it reports again, and is charged nothing", func(t *testing.T, fake *fakeAPI) {
		c := assembled(t, fake, "x")
		c.replaceAgent()
		wantReport(t, fake, "a", "1")
		c.move(at(0, 1))
		wantRuns(t, c.agent, 1, c.actors...)
	})
	bubble(t, "P62: after its start was written and before anybody received it: the epoch is not run by one alone", func(t *testing.T, fake *fakeAPI) {
		c := assembled(t, fake, "x", "y")
		c.actors[1].deaf = true
		c.move(at(0, 1))
		wantRuns(t, c.agent, 1, c.actors[0])
		c.actors[1].deaf = false
		c.replaceAgent()
		wantRuns(t, c.agent, notRunning, c.actors...)
		wantReport(t, fake, "a", "2")
	})
	bubble(t, "P65: while the workers run: they never notice", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.replaceAgent()
		pass(time.Hour)
		wantRuns(t, c.agent, 1, c.actors...)
		c.wantPatches(1)
		for _, s := range c.actors {
			if starts := s.told(protocol.Start); len(starts) != 1 {
				t.Errorf("P62: start was sent %d times", len(starts))
			}
		}
		c.actors[0].fails(1)
		wantReport(t, fake, "a", "2")
		wantRuns(t, c.agent, notRunning, c.actors...)
	})
	bubble(t, "P65: while the workers run and the group breaks", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		c.agent.crash()
		fake.set(at(1, 1))
		c.agent = c.pod.start(t, fake)
		c.actors[0].back()
		wantRuns(t, c.agent, notRunning, c.actors...)
		wantReport(t, fake, "a", "2")
	})
	bubble(t, "P65: while one of two workers is being stopped", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.actors[1].hangs = true
		c.actors[0].fails(1)
		c.actors[1].hangs = false
		c.replaceAgent()
		wantRuns(t, c.agent, notRunning, c.actors...)
		wantReport(t, fake, "a", "2")
	})
	bubble(t, "P65 P66: after the end of its worker and before its report", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		fake.meddle(failing("patch"))
		c.actors[0].fails(5)
		wantReport(t, fake, "a", "1")
		fake.meddle(nil)
		c.replaceAgent()
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Code != 5 || exit.Epoch != 1 {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P65: a worker that ends while no agent runs", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.agent.crash()
		c.actors[0].end(protocol.Exit{Code: 6})
		c.agent = c.pod.start(t, fake)
		c.actors[1].back()
		wantRuns(t, c.agent, 1, c.actors[1])
		c.actors[0].back()
		wantRuns(t, c.agent, notRunning, c.actors...)
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Container != "x" || exit.Code != 6 {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P65: a supervisor that does not come back within 5 s is lost", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.agent.crash()
		c.agent = c.pod.start(t, fake)
		c.actors[0].back()
		pass(4 * time.Second)
		wantRuns(t, c.agent, 1, c.actors...)
		pass(2 * time.Second)
		wantRuns(t, c.agent, notRunning, c.actors[0])
		wantReport(t, fake, "a", "1")
		c.actors[1].back()
		wantRuns(t, c.agent, notRunning, c.actors...)
		wantReport(t, fake, "a", "2")
	})
	bubble(t, "P65, P67: unless it is done meanwhile", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.agent.crash()
		c.agent = c.pod.start(t, fake)
		c.actors[0].back()
		c.actors[1].finishes()
		pass(time.Hour)
		wantRuns(t, c.agent, 1, c.actors[0])
		c.wantPatches(1)
	})
}
