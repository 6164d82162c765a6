/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// containerSteps appends what can happen next to the containers of a Pod in process mode.
func (w *world) containerSteps(steps []step, p *pod) []step {
	add := func(kind stepKind, n int) { steps = append(steps, step{kind: kind, uid: p.uid, n: int8(n)}) }
	ended := 0
	for i := range p.sup.all() {
		c := &p.sup.containers[i]
		if c.linked && c.toAgent.n > 0 && p.agent.looked {
			add(agentHears, i)
		}
		switch {
		case c.over:
			ended++
		case !c.up:
			if !p.deleting && p.agent.looked && !p.hung {
				add(containerStarts, i)
			}
		case !c.talks && p.agent.looked && !p.agent.gone:
			add(supervisorConnects, i)
		case c.toSup.n > 0:
			add(supervisorHears, i)
		}
		if c.linked && !c.talks && c.toAgent.n == 0 {
			add(linkEnds, i)
		}
		if !c.up {
			continue
		}
		switch told := c.sup.Stopping || c.sup.Terminated; {
		case c.sup.Runs() && (c.sup.Phase == supervisor.Killing || c.sup.Phase == supervisor.Stuck):
			add(childStops, i)
		case c.sup.Runs() && told:
			add(childStops, i)
			add(childStops, i+maxContainers) // with 0
		case (c.sup.Phase == supervisor.Killing || c.sup.Phase == supervisor.Stuck || c.sup.Phase == supervisor.Running && c.sup.Exited) && c.left:
			add(leftoversGo, i)
		}
		if c.sup.Phase == supervisor.Running && c.sup.Stopping && c.sup.Terminated && !c.timeUp {
			add(stopTimeEnds, i)
		}
		if c.knows.state == agent.Stuck && !c.knows.late && p.agent.looked && !p.agent.gone {
			add(stuckForMinute, i)
		}
		for _, kind := range w.standbySteps(c) {
			add(kind, i)
		}
		if p.deleting && !c.sup.Terminated && w.sc.splitNode {
			add(supervisorTerminated, i)
		}
	}
	if p.agent.looked && !p.agent.gone && slices.ContainsFunc(p.sup.all(), func(c container) bool { return c.done && !c.linked && c.knows.state != agent.Done }) {
		add(agentPolls, 0)
	}
	if ended == int(p.sup.count) && !p.ended {
		add(containersOver, 0)
	}
	if a := &p.agent; a.reported && !a.sending && a.lifted == held && (p.epoch != a.epoch && !w.keepsToLease(p) || w.inLease(p) && p.lease != a.epoch) {
		add(agentRepeats, 0)
	}
	if p.agent.looked && !p.sup.strayed && p.sup.mayStray() {
		add(agentStrays, 0)
	}
	return steps
}

// mayStray reports whether an agent waits for a supervisor beside a worker that runs.
func (s *supervised) mayStray() bool {
	runs := func(c container) bool { return c.knows.worker("").Runs() }
	return slices.ContainsFunc(s.all(), runs) && slices.ContainsFunc(s.all(), func(c container) bool { return c.knows.state == agent.Unseen && !c.done })
}

func (w *world) containerStep(s step) error {
	at, n := w.podAt(s.uid), int(s.n)%maxContainers
	p := &w.pods[at]
	c := &p.change().containers[n]
	var err error
	switch s.kind {
	case containerStarts:
		w.startContainer(c)
	case supervisorConnects:
		err = w.connect(at, n)
	case supervisorHears:
		m := c.toSup.pop().message(containerNames[n])
		err = w.supervise(at, n, supervisor.Event{Message: &m})
	case supervisorTerminated:
		err = w.supervise(at, n, supervisor.Event{Signal: syscall.SIGTERM})
	case childStops:
		err = w.childEnds(at, n, s.n >= maxContainers && c.sup.Phase != supervisor.Killing && c.sup.Phase != supervisor.Stuck)
	case stuckForMinute:
		c.knows.late = true
		err = w.agentDecides(at)
	case stopTimeEnds:
		c.timeUp = true
		err = w.supervise(at, n, supervisor.Event{Timeout: supervisor.Running})
	case leftoversGo:
		c.left = false
		err = w.supervise(at, n, supervisor.Event{Empty: true})
	case gateOpens, standbyStarts, gateReached:
		err = w.standbyStep(at, n, s.kind)
	case agentHears:
		err = w.agentHears(at, n)
	case linkEnds:
		err = w.breakLink(at, n)
	case agentRepeats:
		w.repeats(p)
		w.publish(p.job)
	case agentPolls:
		err = w.agentDecides(at)
	case agentStrays:
		w.disturb(p)
		p.sup.strayed = true
		err = w.agentDecides(at)
	case containersOver:
		w.containersEnd(at)
		return nil
	}
	if p = &w.pods[at]; p.phase == running {
		p.worker = p.sup.worker()
	}
	return err
}

func (w *world) startContainer(c *container) {
	c.up, c.sup = true, supervisor.State{Phase: supervisor.Held, Standby: supervisor.Standby{Off: c.standbyFile}}
	if c.done { // its own file
		c.up, c.over, c.code = false, true, 0
	}
}

// settings of all supervisors.
var settings = supervisor.Settings{KillTimeout: time.Second, WarmStart: true}

// supervise lets something happen to a supervisor, and does what it decides.
func (w *world) supervise(at, n int, e supervisor.Event) error {
	c := &w.pods[at].sup.containers[n]
	before := c.sup
	next, actions := supervisor.Step(c.sup, e, settings)
	c.sup = next
	for _, a := range actions {
		if err := c.checkGrace(before, e, a); err != nil {
			return err
		}
		if err := c.checkStandby(before, a); err != nil {
			return err
		}
		if err := w.act(at, n, before, a); err != nil {
			return err
		}
	}
	return nil
}

// checkGrace checks property 8 when a supervisor acts because of an event.
func (c *container) checkGrace(before supervisor.State, e supervisor.Event, a supervisor.Action) error {
	told := before.Phase == supervisor.Running && (before.Stopping || before.Terminated)
	switch {
	case told && c.left && (a.Kill || a.Finish) && (e.Timeout == "" || before.Terminated):
		return violates(8, "processes of a worker that was told to end are killed within its grace")
	case before.Stopping && a.Signal != 0 && e.Exited == nil: // which is for the rest, and which of those have got it the host knows (P63b)
		return violates(8, "a worker that was told to end is told again")
	}
	return nil
}

func (w *world) act(at, n int, before supervisor.State, a supervisor.Action) error {
	p := &w.pods[at]
	c := &p.sup.containers[n]
	switch {
	case a.Send != nil:
		if c.talks {
			return c.toAgent.push(messageFrom(*a.Send))
		}
	case a.Spawn != nil:
		if c.left || before.Runs() {
			return violates(1, "a worker starts while processes of the one before exist")
		}
		c.left, c.opened = true, false
		if w.sc.warm {
			c.ran = int8(a.Spawn.Epoch)
		}
		if err := w.startedIn(p, n); err != nil {
			return err
		}
		return w.supervise(at, n, supervisor.Event{Started: true})
	case a.Done != nil:
		if before.Stopping || before.Terminated {
			return violates(6, "a worker that was told to stop is taken for one that has finished")
		}
		c.done, c.doneIn = true, c.epoch()
	case a.Finish:
		return w.containerEnds(at, n, a.Code)
	default:
		return w.actOnStandby(at, n, before, a)
	}
	return nil
}

// containerEnds is a supervisor that exits. The kubelet starts the container again, but for a few codes.
func (w *world) containerEnds(at, n, code int) error {
	p := &w.pods[at]
	c := &p.sup.containers[n]
	if code == 0 && !c.done {
		return violates(6, "a container ends with 0, and its worker has not finished")
	}
	c.up, c.left, c.timeUp, c.talks, c.toSup = false, false, false, false, queue{}
	c.standby, c.opened, c.ran = noStandby, false, 0
	c.sup = supervisor.State{}
	c.over, c.code = code == 0 || code == protocol.ExitLeave || p.deleting, int8(min(code, 127))
	return nil
}

// childEnds is the main process of a worker that ends, because it was told to or not.
func (w *world) childEnds(at, n int, zero bool) error {
	p := &w.pods[at]
	c := &p.sup.containers[n]
	told := c.sup.Stopping || c.sup.Terminated
	code := 1
	if zero {
		code = 0
	}
	if zero && !told {
		w.finishes(at, n)
	} else if !told {
		w.childFails(p, n)
	}
	return w.supervise(at, n, supervisor.Event{Exited: &protocol.Exit{Code: code}})
}

// childFails notes that a worker failed by itself.
func (w *world) childFails(p *pod, n int) {
	js, j := w.jobSet.live(), w.jobOf(p.job)
	epoch := p.sup.containers[n].epoch()
	if j == nil || j.owner != js.uid || epoch <= 0 {
		return
	}
	w.failedIn(j, p, int8(n), epoch)
	if js.d < js.s && epoch == js.s {
		w.book.pending = true
	}
}

// finishes notes a worker that has run to its end, if it is the last of its Pod.
func (w *world) finishes(at, n int) {
	p := &w.pods[at]
	for i := range p.sup.all() {
		if i != n && !p.sup.containers[i].done {
			return
		}
	}
	epoch := p.sup.containers[n].epoch()
	if j := w.jobOf(p.job); j != nil && j.owner == w.jobSet.live().uid && epoch > 0 {
		w.book.ranOut = append(slices.Clip(w.book.ranOut), ranOut{p.job, p.index, epoch})
	}
}

// containersEnd is what a kubelet makes of a Pod whose containers have all ended for good.
func (w *world) containersEnd(at int) {
	p := &w.pods[at]
	for i := range p.sup.all() {
		if p.sup.containers[i].code != 0 {
			w.stop(at, podFailed)
			return
		}
	}
	p.giveUp()
	p.ended, p.agent = true, process{gone: true}
	w.publish(p.job)
	w.noteWin()
}

// containerDies is a container that is killed, its supervisor with it.
func (w *world) containerDies(at, n int) {
	p := &w.pods[at]
	c := &p.change().containers[n]
	if c.sup.Runs() {
		w.childFails(p, n)
	}
	w.disturb(p)
	c.standbyFile = c.standbyFile || c.standby != noStandby
	c.standby, c.opened, c.ran = noStandby, false, 0
	c.up, c.left, c.timeUp, c.talks, c.toSup, c.sup = false, false, false, false, queue{}, supervisor.State{}
	p.worker = p.sup.worker()
}

// disturb notes what may cost a restart although no worker failed.
func (w *world) disturb(p *pod) {
	if js := w.jobSet.live(); !p.steady() || js.d < js.s && p.agent.epoch == js.s {
		w.book.disturbed++
	}
}
