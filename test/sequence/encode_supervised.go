/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"

	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// What has a name is written as its place in one of these lists.
var (
	allPhases = []supervisor.Phase{"", supervisor.Held, supervisor.Running, supervisor.Killing, supervisor.Stuck, supervisor.Ended}
	allLives  = []supervisor.Life{supervisor.NoStandby, supervisor.Due, supervisor.Waiting, supervisor.Passing}
	allStates = []agent.WorkerState{
		agent.Unseen, agent.Idle, agent.Starting, agent.Running, agent.Stopping, agent.Ended, agent.Done, agent.Stuck, agent.Leaving,
	}
	allKinds = []protocol.Type{
		"", protocol.Hello, protocol.Running, protocol.Ready, protocol.Done, protocol.Stuck, protocol.Refused, protocol.Start, protocol.Stop, protocol.Leave,
	}
)

func (e *encoder) supervised(s *supervised) {
	e.bits(s.leaveFile, s.ending, s.told, s.leaving, s.strayed)
	for i := range s.all() {
		c := &s.containers[i]
		e.bits(c.up, c.over, c.left, c.timeUp, c.done, c.linked, c.talks)
		e.bits(c.opened, c.standbyFile)
		e.byte(c.code, c.doneIn, int8(c.standby), c.ran)
		e.supervisor(&c.sup)
		e.queue(&c.toAgent)
		e.queue(&c.toSup)
		k := &c.knows
		e.byte(int8(slices.Index(allStates, k.state)), k.epoch)
		e.exit(k.ended, k.seen, k.lost, k.late, k.unwatched)
	}
}

func (e *encoder) supervisor(s *supervisor.State) {
	e.byte(int8(slices.Index(allPhases, s.Phase)), int8(s.Run.Epoch), int8(s.Exit.Code))
	e.bits(s.Run.Bypass, s.Stopping, s.Terminated, s.Leave != "", s.Exited, s.Exit.Stopped, s.Warm, s.Standby.Off)
	e.byte(int8(slices.Index(allLives, s.Standby.Life)), int8(s.Standby.Early))
}

func (e *encoder) queue(q *queue) {
	e.byte(q.n)
	for _, m := range q.messages[:q.n] {
		e.byte(int8(slices.Index(allKinds, m.kind)), m.epoch)
		e.exit(m.ended, m.out, m.saves, m.unwatched)
	}
}

func (e *encoder) exit(x exit, more ...bool) {
	e.byte(int8(x.code))
	e.bits(append([]bool{x.known, x.stopped}, more...)...)
}
