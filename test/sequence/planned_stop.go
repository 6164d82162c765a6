/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// plannedStop is how workers are stopped that may save their state first (P142).
var plannedStop = protocol.PlannedStop{GraceSeconds: protocol.MaxPlannedStopSeconds, Signal: "USR1"}

// stand reports whether a view shows every worker at S, and whether one has reported that it has to start again. In a Job that
// is suspended none stands: a manager that has just started may see a group that runs before it sees that its Jobs were resumed.
func (v *view) stand() (stands, failed bool) {
	stands = true
	for at := range v.jobs {
		j := &v.jobs[at]
		if j.finished() || j.criteriaMet {
			continue
		}
		var indexes uint64
		for _, p := range v.pods[at] {
			if !p.live() || p.job != j.uid || p.index >= j.size {
				continue
			}
			stands = stands && p.reports() == v.js.s && indexes&(1<<p.index) == 0
			indexes |= 1 << p.index
			failed = failed || p.reports() == v.js.s+1
		}
		stands = stands && j.awake && !j.failing && !j.deleting && indexes == 1<<j.size-1
	}
	return stands, failed
}

// judgePlanned checks that plannedBreak is written with D, and says what the break was for.
func (w *world) judgePlanned(on basis, was, next status) error {
	charged := next.inPlace+next.counted != was.inPlace+was.counted
	free := !charged && !w.jobSet.live().suspend && (on.moves || on.differs && next.restarts == was.restarts)
	switch {
	case !w.sc.saves:
		if next.planned {
			return violates(8, "a break of epoch %d is planned, and no time is given for that", next.d)
		}
		return nil
	case next.d == was.d:
		if next.planned != was.planned {
			return violates(8, "plannedBreak goes from %t to %t without a break", was.planned, next.planned)
		}
		return nil
	case next.planned && (!free || on.failed):
		return violates(8, "workers of epoch %d may save their state, though one has failed, or all Pods go", next.d)
	case !next.planned && free && on.stands:
		return violates(8, "workers of epoch %d may not save their state, though none has failed", next.d)
	}
	return nil
}

// checkPlannedStops checks that an agent gives its workers time to save their state if it sees that their epoch ended by a
// planned break, and that the group waits for them.
func (p *pod) checkPlannedStops(seen agent.JobSet, sends []agent.Send) error {
	for _, send := range sends {
		for i := range p.sup.all() {
			if containerNames[i] != send.Container || send.Message.Type != protocol.Stop {
				continue
			}
			epoch := int32(p.sup.containers[i].knows.epoch)
			want := epoch > 0 && epoch == seen.Deprecated && epoch == seen.Synced && seen.PlannedStop != (protocol.PlannedStop{}) && !seen.Disabled
			if got := send.Message.Planned != nil; got != want {
				return violates(8, "a worker of epoch %d has time to save its state: %t, want %t", epoch, got, want)
			}
		}
	}
	return nil
}
