/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"time"

	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// roundDecides lets an agent in process mode decide on what it sees until there is nothing left to do.
func (w *world) roundDecides(at int) error {
	p := &w.pods[at]
	j := w.jobOf(p.job)
	if j == nil {
		return nil
	}
	p.change()
	for range 10 {
		v := p.view(p.self(j.owner), w.views[p.agent.view])
		action := agent.Decide(v)
		if action.Kind == agent.Wait {
			return nil
		}
		after, sends := v.Apply(action)
		if v.JobSet.Suspended && len(sends) > 0 && v.Self.Leaving == "" {
			return violates(8, "an agent that sees that its Pod will be deleted tells its workers %s", sends[0].Message.Type)
		}
		switch action.Kind {
		case agent.Report:
			p.giveUp()
			p.agent.sending, p.agent.era = true, w.era
		case agent.Leave:
			if !p.sup.leaveFile {
				p.giveUp()
			}
			p.sup.leaveFile = true
		default:
			p.giveUp()
		}
		if err := p.checkPlannedStops(v.JobSet, sends); err != nil {
			return err
		}
		p.learn(after)
		for _, send := range sends {
			if err := p.send(send); err != nil {
				return err
			}
		}
	}
	return violates(5, "an agent decides, and decides, and never waits")
}

func (p *pod) send(s agent.Send) error {
	for i := range p.sup.all() {
		c := &p.sup.containers[i]
		if containerNames[i] != s.Container {
			continue
		}
		if !c.linked {
			return violates(5, "an agent tells container %s something, to which it has no connection", s.Container)
		}
		if c.talks {
			return c.toSup.push(messageFrom(s.Message))
		}
	}
	return nil
}

// view is what an agent in process mode decides on.
func (p *pod) view(self agent.Self, seen agent.JobSet) agent.View {
	v := agent.View{Self: self, JobSet: seen, Now: clockAt}
	if p.sup.strayed {
		v.Now = clockAt.Add(6 * time.Second)
	}
	v.Self.Ending, v.Self.EndReported = p.sup.ending, p.sup.told
	if p.sup.leaving {
		v.Self.Leaving = "told"
	}
	for i := range p.sup.all() {
		c := &p.sup.containers[i]
		if c.done && !c.linked {
			c.knows = knowledgeFrom(c.knows.worker("").Finished(), c.knows.late)
		}
		v.Workers = append(v.Workers, c.knows.worker(containerNames[i]))
	}
	return v
}

// learn is what an agent knows after an action.
func (p *pod) learn(v agent.View) {
	a, s := &p.agent, p.sup
	a.epoch, a.reported, a.lifted = int8(v.Self.Epoch), v.Self.Reported, held
	switch v.Self.Lifted {
	case agent.ByEpoch:
		a.lifted = byEpoch
	case agent.ByBypass:
		a.lifted = byBypass
	}
	s.ending, s.told, s.leaving = v.Self.Ending, v.Self.EndReported, v.Self.Leaving != ""
	for i, worker := range v.Workers {
		s.containers[i].knows = knowledgeFrom(worker, s.containers[i].knows.late)
	}
}

// connect is a supervisor that connects and says hello, and an agent that hears it.
func (w *world) connect(at, n int) error {
	p := &w.pods[at]
	c := &p.sup.containers[n]
	c.linked, c.talks, c.toAgent, c.toSup = true, true, queue{}, queue{}
	if err := w.supervise(at, n, supervisor.Event{Connected: true}); err != nil {
		return err
	}
	hello := c.toAgent.pop().message(containerNames[n])
	hello.State = stateOf(c.sup)
	worker, err := c.knows.worker(containerNames[n]).Hello(hello, clockAt)
	if err != nil {
		return violates(5, "an agent does not understand the hello of a supervisor: %v", err)
	}
	c.knows = knowledgeFrom(worker, false)
	return w.agentDecides(at)
}

// stateOf is what a supervisor says about itself.
func stateOf(s supervisor.State) protocol.State {
	_, actions := supervisor.Step(s, supervisor.Event{Connected: true}, settings)
	return actions[0].Send.State
}

// agentHears is the next message of a supervisor that reaches the agent.
func (w *world) agentHears(at, n int) error {
	c := &w.pods[at].sup.containers[n]
	worker, err := c.knows.worker(containerNames[n]).Heard(c.toAgent.pop().message(containerNames[n]), clockAt)
	if err != nil {
		return w.breakLink(at, n)
	}
	c.knows = knowledgeFrom(worker, c.knows.late)
	return w.agentDecides(at)
}

// breakLink is the end of a connection.
func (w *world) breakLink(at, n int) error {
	p := &w.pods[at]
	c := &p.sup.containers[n]
	c.linked, c.talks, c.toAgent, c.toSup = false, false, queue{}, queue{}
	c.knows = knowledgeFrom(c.knows.worker("").Disconnected(clockAt), false)
	if !p.agent.looked {
		return nil
	}
	return w.agentDecides(at)
}

// agentDies is an agent in process mode that crashes. Its Pod goes on without it.
func (w *world) agentDies(p *pod) {
	if !p.steady() {
		w.book.disturbed++
	}
	s := p.change()
	p.giveUp()
	p.agent = process{}
	s.ending, s.told, s.leaving, s.strayed = false, false, false, false
	for i := range s.all() {
		c := &s.containers[i]
		c.linked, c.talks, c.toAgent, c.toSup, c.knows = false, false, queue{}, queue{}, knowledge{}
	}
}
