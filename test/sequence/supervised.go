/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"
	"time"

	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// maxContainers bounds the worker containers of a Pod in process mode.
const maxContainers = 2

// supervised is what a Pod in process mode has beside its agent. It is shared by copies of a world: change returns one to write to.
type supervised struct {
	containers [maxContainers]container
	count      int8
	// leaveFile: an agent decided that the Pod must be replaced.
	leaveFile bool

	// The rest is what the agent has in memory.
	ending, told, leaving bool
	// strayed: some workers have run beside supervisors that are away for as long as the agent waits (P65).
	strayed bool
}

// container is one of the worker's, with a supervisor as its first process.
type container struct {
	sup supervisor.State
	// up: it runs; over: it has ended for good, with code.
	up, over bool
	code     int8
	// left: processes of a worker exist beside its main process.
	left bool
	// timeUp: the time of a stop was over.
	timeUp bool
	// standby is how far its process has come; it ends with the container, like all of these but the file. opened: the
	// program has opened its gate; ran: the last epoch that ran, where there are standbys.
	standby standbyProcess
	opened  bool
	ran     int8
	// standbyFile says that a standby existed when the container was killed.
	standbyFile bool
	// done is the file that says that its worker has finished, in epoch doneIn.
	done   bool
	doneIn int8
	// linked: the agent has a connection to it; talks: its supervisor is at the other end.
	linked, talks  bool
	toAgent, toSup queue
	knows          knowledge
}

// knowledge is what an agent knows of a worker.
type knowledge struct {
	state agent.WorkerState
	epoch int8
	ended exit
	// seen: its supervisor said hello; lost: the connection ended; late: that, or that it is stuck, was long ago. unwatched: it was told so.
	seen, lost, late, unwatched bool
}

// exit is how a worker ended, as far as that matters.
type exit struct {
	known, stopped bool
	code           uint8
}

// queue are messages on their way.
type queue struct {
	n        int8
	messages [4]message
}

type message struct {
	kind  protocol.Type
	epoch int8
	ended exit
	// out: it is about a run outside of all epochs. saves: it is a planned stop. unwatched: the run goes on unwatched.
	out, saves, unwatched bool
}

func (q *queue) push(m message) error {
	if int(q.n) == len(q.messages) {
		return violates(5, "messages pile up on a connection: %v", q.messages)
	}
	q.messages[q.n] = m
	q.n++
	return nil
}

func (q *queue) pop() message {
	first := q.messages[0]
	copy(q.messages[:], q.messages[1:])
	q.n--
	q.messages[q.n] = message{}
	return first
}

// change lets a step change what a Pod has in process mode.
func (p *pod) change() *supervised {
	copied := *p.sup
	p.sup = &copied
	return p.sup
}

func (s *supervised) all() []container { return s.containers[:s.count] }

// names of the containers of a Pod.
var containerNames = [maxContainers]string{"a", "b"}

// clockAt is when everything happens, but for what happened too long ago.
var clockAt = time.Unix(1_000_000_000, 0)

func exitFrom(e *protocol.Exit) exit {
	if e == nil {
		return exit{}
	}
	return exit{true, e.Stopped, uint8(e.Code)}
}

func (e exit) exit() *protocol.Exit {
	if !e.known {
		return nil
	}
	return &protocol.Exit{Code: int(e.code), Stopped: e.stopped, Time: clockAt}
}

func messageFrom(m protocol.Message) message {
	return message{m.Type, int8(m.Epoch), exitFrom(m.Exit), m.Bypass, m.Planned != nil, m.Unwatched}
}

func (m message) message(name string) protocol.Message {
	is := protocol.Message{Version: protocol.Version, Type: m.kind, Container: name, Epoch: int32(m.epoch), Bypass: m.out, Unwatched: m.unwatched, Exit: m.ended.exit(), Because: "told"}
	if m.saves {
		is.Planned = &plannedStop
	}
	return is
}

func (k knowledge) worker(name string) agent.Worker {
	w := agent.Worker{Container: name, State: k.state, Epoch: int32(k.epoch), Exit: k.ended.exit(), Unwatched: k.unwatched}
	if k.seen {
		w.Seen = clockAt
	}
	since := clockAt
	if k.late {
		since = clockAt.Add(-time.Hour)
	}
	if k.lost {
		w.Lost = since
	}
	if k.state == agent.Stuck {
		w.Outlived = since
	}
	return w
}

func knowledgeFrom(w agent.Worker, late bool) knowledge {
	lost := !w.Lost.IsZero()
	return knowledge{w.State, int8(w.Epoch), exitFrom(w.Exit), !w.Seen.IsZero(), lost, (lost || w.State == agent.Stuck) && late, w.Unwatched}
}

// worker is the epoch in which all workers of a Pod that are not done run, 0 if there is none, -1 outside of all epochs.
func (s *supervised) worker() int8 {
	var epoch int8
	for i := range s.all() {
		c := &s.containers[i]
		if c.over && c.code == 0 {
			continue
		}
		runs := c.epoch()
		if !c.up || !c.sup.Runs() || runs == 0 || epoch != 0 && runs != epoch {
			return 0
		}
		epoch = runs
	}
	return epoch
}

// epoch is the one of the run of a container, -1 outside of all epochs.
func (c *container) epoch() int8 {
	if c.sup.Run.Bypass {
		return -1
	}
	return int8(c.sup.Run.Epoch)
}

// exists reports whether processes of a worker exist.
func (c *container) exists() bool { return c.up && (c.sup.Runs() || c.left) }

// epochs are those in which processes of a Pod's workers exist.
func (p *pod) epochs() []int8 {
	if p.sup == nil {
		if p.worker > 0 {
			return []int8{p.worker}
		}
		return nil
	}
	var epochs []int8
	for i := range p.sup.all() {
		if c := &p.sup.containers[i]; c.exists() && c.epoch() > 0 {
			epochs = append(epochs, c.epoch())
		}
	}
	return epochs
}

// steady reports whether an agent that crashes now finds everything as it left it.
func (p *pod) steady() bool {
	return p.agent.lifted == byEpoch && !slices.ContainsFunc(p.sup.all(), func(c container) bool {
		return c.knows.state != agent.Done && (c.knows.state != agent.Running || c.toAgent.n > 0)
	})
}
