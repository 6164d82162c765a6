/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestAContainerThatIsDone(t *testing.T) {
	bubble(t, "P66 P67: once all containers are done, that is told beside their epoch", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.actors[0].finishes()
		c.wantPatches(1)
		wantRuns(t, c.agent, 1, c.actors[1])
		c.actors[1].finishes()
		wantReport(t, fake, "a", "1")
		if exit := fake.lastExit("a"); !exit.Done || exit.Code != 0 || exit.Epoch != 1 || exit.Stopped {
			t.Errorf("the exit is %+v", exit)
		}
		c.move(at(1, 1))
		pass(time.Hour)
		c.wantPatches(2)
	})
	bubble(t, "P67: its file counts, too, if its word was lost", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		c.actors[0].disconnect()
		c.actors[0].finishes()
		pass(2 * time.Second)
		if exit := fake.lastExit("a"); !exit.Done {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P67 P70: the group restarts and another container is not done: leave", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.actors[0].finishes()
		c.move(at(1, 1))
		c.wantLeft("container x is done, and container y has to run again", c.actors[1])
		wantReport(t, fake, "a", "1")
		if exit := fake.lastExit("a"); exit.Container != "y" || exit.Epoch != 1 || exit.Leave == "" || exit.LeaveReason != protocol.ContainerDone {
			t.Errorf("the exit is %+v", exit)
		}
		pass(time.Hour)
		c.wantPatches(2)
	})
	bubble(t, "P65: an agent that starts and finds one done and one held leaves, and never reports", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.agent.crash()
		c.actors[0].finishes()
		c.actors[1].kill()
		c.agent = c.pod.start(t, fake)
		c.actors[1].restart()
		c.wantLeft("container x is done", c.actors[1])
		wantReport(t, fake, "a", "1")
	})
	bubble(t, "P67 P70: a container is done, no file says so, and the agent restarts: leave after a minute", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.actors[0].say(protocol.Message{Type: protocol.Done, Epoch: 1, Exit: &protocol.Exit{Time: time.Now().UTC()}})
		c.actors[0].kill()
		pass(time.Hour)
		wantRuns(t, c.agent, 1, c.actors[1])
		c.replaceAgent()
		pass(time.Minute - time.Second)
		if told := c.actors[1].told(protocol.Leave); len(told) > 0 {
			t.Errorf("told to leave too early: %+v", told)
		}
		pass(2 * time.Second)
		c.wantLeft("container x has not connected for 1m0s", c.actors[1])
		wantReport(t, fake, "a", "1")
		if exit := fake.lastExit("a"); exit.Container != "x" || exit.LeaveReason != protocol.ContainerLost {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P67: a worker that exits 0 when it is stopped is not done", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		c.actors[0].hangs = true
		c.move(at(1, 1))
		c.actors[0].end(protocol.Exit{Code: 0, Stopped: true})
		synctest.Wait()
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Done || !exit.Stopped {
			t.Errorf("the exit is %+v", exit)
		}
	})
}

func TestAPodThatMustBeReplaced(t *testing.T) {
	bubble(t, "P70: a process that cannot be killed; all leave, and an agent that starts between two leaves goes on", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.actors[0].hangs, c.actors[1].deaf = true, true
		c.move(at(1, 1))
		c.actors[0].say(protocol.Message{Type: protocol.Stuck, Epoch: 1, Because: "pid 7 is in state D"})
		pass(time.Minute - time.Second)
		if told := c.actors[0].told(protocol.Leave); len(told) > 0 || !strings.Contains(c.agent.log.String(), "container x cannot be stopped: pid 7 is in state D") {
			t.Errorf("P70b: within a minute it was told %+v; log:\n%s", told, c.agent.log)
		}
		pass(2 * time.Second)
		c.wantLeft("container x cannot be stopped: pid 7 is in state D", c.actors...)
		c.actors[1].deaf = false
		c.replaceAgent()
		pass(time.Hour)
		if told := c.actors[1].told(protocol.Leave); len(told) != 2 || !c.actors[1].isGone() {
			t.Errorf("container y was told %+v", told)
		}
		wantReport(t, fake, "a", "1")
	})
	bubble(t, "P70b: what outlives SIGKILL, and ends within a minute, costs no Pod", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.actors[0].hangs = true
		c.actors[0].say(protocol.Message{Type: protocol.Stuck, Epoch: 1, Because: "pid 7 is in state D"})
		synctest.Wait()
		if told := c.actors[1].told(protocol.Stop); len(told) != 1 {
			t.Errorf("the other container was told %+v, want to stop at once", told)
		}
		pass(time.Minute - time.Second)
		c.actors[0].end(protocol.Exit{Code: 1})
		pass(time.Hour)
		wantReport(t, fake, "a", "2")
		if exit := fake.lastExit("a"); exit.Container != "x" || exit.Code != 1 || exit.Leave != "" {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P70: a container that does not come back within 60 s", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x", "y")
		c.actors[0].kill()
		pass(59 * time.Second)
		wantRuns(t, c.agent, 1, c.actors[1])
		pass(2 * time.Second)
		c.wantLeft("container x has not come back for 1m0s", c.actors[1])
		c.actors[0].restart()
		c.wantLeft("container x has not come back for 1m0s", c.actors...)
	})
	bubble(t, "P70: not one that never came: images take long", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		c := &crew{t: t, fake: fake, pod: newPod(t, "a", "x", "y")}
		c.agent = c.pod.start(t, fake)
		x := c.pod.supervise(t, "x")
		pass(time.Hour)
		c.wantPatches(0)
		y := c.pod.supervise(t, "y")
		wantReport(t, fake, "a", "1")
		c.move(at(0, 1))
		wantRuns(t, c.agent, 1, x, y)
	})
	bubble(t, "P70: the decision about a container that does not come back is written until it is on the disk, and told", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		moved := c.pod.dir + "-away"
		if err := os.Rename(c.pod.dir, moved); err != nil {
			t.Fatal(err)
		}
		c.actors[0].kill()
		pass(70 * time.Second)
		c.wantPatches(1)
		if n := strings.Count(c.agent.log.String(), "leaving failed, retrying"); n != 1 {
			t.Errorf("P36: the log says %d times that it failed", n)
		}
		if err := os.Rename(moved, c.pod.dir); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second)
		c.wantLeft("container x has not come back for 1m0s")
		if exit := fake.lastExit("a"); exit.Container != "x" || exit.LeaveReason != protocol.ContainerLost {
			t.Errorf("the exit is %+v", exit)
		}
		pass(time.Hour)
		c.wantPatches(2)
	})
	bubble(t, "P70: nobody leaves before the decision is on the disk", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		moved := c.pod.dir + "-away"
		if err := os.Rename(c.pod.dir, moved); err != nil {
			t.Fatal(err)
		}
		c.actors[0].hangs = true
		c.actors[0].say(protocol.Message{Type: protocol.Stuck, Epoch: 1, Because: "pid 7 is in state D"})
		pass(70 * time.Second)
		if told := c.actors[0].told(protocol.Leave); len(told) > 0 {
			t.Fatalf("it was told %+v", told)
		}
		if err := os.Rename(moved, c.pod.dir); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second)
		c.wantLeft("pid 7", c.actors...)
		if exit := fake.lastExit("a"); exit.Container != "x" || exit.LeaveReason != protocol.ProcessStuck {
			t.Errorf("P70: the manager was told %+v, want why container x is to be replaced", exit)
		}
	})
}

func TestTheBypassOfAnAgentInProcessMode(t *testing.T) {
	off := with(at(0, 0), func(js *JobSet) { js.Disabled = true })
	bubble(t, "P34: starts without a report; its end stops all, and a fresh round begins", func(t *testing.T, fake *fakeAPI) {
		fake.set(off)
		c := &crew{t: t, fake: fake, pod: newPod(t, "a", "x", "y")}
		c.agent = c.pod.start(t, fake)
		c.actors = []*actor{c.pod.supervise(t, "x"), c.pod.supervise(t, "y")}
		wantRuns(t, c.agent, 0, c.actors...)
		if starts := c.actors[0].told(protocol.Start); len(starts) != 1 || !starts[0].Bypass || starts[0].Epoch != 0 {
			t.Errorf("x was told %+v", starts)
		}
		c.wantPatches(0)
		c.replaceAgent()
		wantRuns(t, c.agent, 0, c.actors...)
		c.move(at(3, 3))
		wantRuns(t, c.agent, notRunning, c.actors...)
		wantReport(t, fake, "a", "4")
		c.move(at(3, 4))
		wantRuns(t, c.agent, 4, c.actors...)
	})
	bubble(t, "P34: a worker that waits for its group is started; its report ends", func(t *testing.T, fake *fakeAPI) {
		c := assembled(t, fake, "x")
		c.move(off)
		wantRuns(t, c.agent, 0, c.actors...)
		pass(time.Hour)
		c.wantPatches(1)
	})
	bubble(t, "P34: one that runs by its epoch survives a bypass", func(t *testing.T, fake *fakeAPI) {
		c := lifted(t, fake, "x")
		c.move(with(off, func(js *JobSet) { js.Synced = 1 }))
		c.move(at(0, 1))
		wantRuns(t, c.agent, 1, c.actors...)
		if stops := c.actors[0].told(protocol.Stop); len(stops) > 0 {
			t.Errorf("it was told %+v", stops)
		}
	})
	bubble(t, "P34 P71: workers that fail again and again start ever later", func(t *testing.T, fake *fakeAPI) {
		fake.set(off)
		c := &crew{t: t, fake: fake, pod: newPod(t, "a", "x", "y")}
		c.agent = c.pod.start(t, fake)
		c.actors = []*actor{c.pod.supervise(t, "x"), c.pod.supervise(t, "y")}
		c.actors[0].fails(1)
		wantRuns(t, c.agent, 0, c.actors...)
		c.actors[0].fails(1)
		wantRuns(t, c.agent, notRunning, c.actors...)
		pass(3 * time.Second)
		wantRuns(t, c.agent, 0, c.actors...)
		if n := len(c.actors[1].told(protocol.Start)); n != 3 {
			t.Errorf("y was started %d times, want as often as x", n)
		}
	})
}
