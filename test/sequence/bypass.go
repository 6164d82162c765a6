/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "slices"

// Bypasses (P34b). The annotation comes and goes at any time, the gate with another manager: in both cases maybe before any
// manager has looked. Agents obey the condition alone. Earlier ones obey the annotation, too, which admission then lets go only
// once the condition is True.

// endsBypass reports whether a write tells the agents that in-place restart is on again.
func endsBypass(was, next status) bool { return was.gateOff == isTrue && next.gateOff != isTrue }

// judgeBypass checks the write that ends a bypass.
func (w *world) judgeBypass(was, next status) error {
	charged := next.inPlace != was.inPlace || next.counted != was.counted
	switch {
	case next.s != was.s+1 || next.d != next.s:
		return violates(3, "a bypass ends, D goes from %d to %d, S from %d to %d, and both must become %d", was.d, next.d, was.s, next.s, was.s+1)
	case charged || next.restarts != was.restarts:
		return violates(4, "the end of a bypass restarts more than the group, or is charged")
	}
	w.book.pending = false
	w.book.ranOut = slices.Clone(w.book.ranOut)
	for i := range w.book.ranOut { // it is still the last epoch that ran
		if r := &w.book.ranOut[i]; r.epoch == was.s {
			r.epoch = next.s
		}
	}
	return nil
}

// outside names a worker of the group that runs outside of all epochs, "" if none does (property 11).
func (w *world) outside() string {
	js := w.jobSet.live()
	for i := range w.pods {
		p := &w.pods[i]
		j := w.jobOf(p.job)
		if j == nil || j.owner != js.uid {
			continue
		}
		runs := p.sup == nil && p.worker < 0
		if p.sup != nil {
			runs = slices.ContainsFunc(p.sup.all(), func(c container) bool { return c.exists() && c.epoch() < 0 })
		}
		if runs {
			return podName(w.sc, *j, p.podObject)
		}
	}
	return ""
}

// mayEnable reports whether the annotation may be taken away now.
func (w *world) mayEnable() bool {
	js := w.jobSet.live()
	return !w.sc.earlierAgents || w.sc.unguarded || !w.gate || js.phase != unfinished || js.gateOff == isTrue
}

// bypassCases are those in which in-place restart is switched off and on again.
func bypassCases() []searched {
	group := func(workers int8) []replicatedJob { return []replicatedJob{{"w", 1, workers, -1}} }
	one := [maxReplicatedJobs]int8{1}
	twice := budgets{pokes: 2}
	return []searched{
		{scenario{name: "bypass by annotation, first start", rjobs: group(2), left: twice, pokes: pokeDisable, lag: 1, lagInAll: 1, splitReport: true}, quick},
		{scenario{name: "bypass by annotation, 1 failure", rjobs: group(2), left: budgets{pokes: 2, failures: 1}, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "bypass by annotation, late reports, kubelet in two steps", rjobs: group(2), kinds: workerExit, left: budgets{pokes: 2, failures: 1}, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true, splitNode: true, splitReport: true}, full},
		{scenario{name: "bypass by annotation, twice, 1 exit", rjobs: group(1), kinds: workerExit | exitZero, left: budgets{pokes: 4, failures: 1}, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "bypass by annotation, suspend, crash", rjobs: group(1), left: budgets{pokes: 2, suspends: 1, leaders: 1}, pokes: pokeDisable, lag: 1, lagInAll: 1, lingering: true, oldCaches: true, running: true}, bounded},
		{scenario{name: "bypass by annotation, resize", rjobs: group(1), left: budgets{pokes: 2, resizes: 1}, hasResizes: true, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "bypass by annotation, driver succeeds, worker exits", rjobs: driverAndWorker, success: success{targets: 1}, kinds: exitZero | workerExit, left: budgets{pokes: 2, failures: 2}, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true, splitEnd: true}, full},
		{scenario{name: "bypass by annotation, Job failure", rjobs: group(2), left: budgets{pokes: 2, jobFailures: 1}, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "bypass by annotation, agents of before, first start", rjobs: group(2), left: twice, pokes: pokeDisable, lag: 1, lagInAll: 1, earlierAgents: true}, quick},
		{scenario{name: "bypass by annotation, agents of before, 1 failure", rjobs: group(2), left: budgets{pokes: 2, failures: 1}, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true, earlierAgents: true}, bounded},
		{scenario{name: "bypass by gate, first start", rjobs: group(2), left: twice, pokes: pokeGate, lag: 1, lagInAll: 1}, quick},
		{scenario{name: "bypass by gate, 1 failure", rjobs: group(2), left: budgets{pokes: 2, failures: 1}, pokes: pokeGate, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "bypass by both, 1 exit", rjobs: group(1), kinds: workerExit, left: budgets{pokes: 4, failures: 1}, pokes: pokeGate | pokeDisable, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, bypass by annotation, first start", rjobs: group(2), containers: one, left: twice, pokes: pokeDisable, lag: 1, lagInAll: 1}, bounded},
		{scenario{name: "process mode, bypass by annotation, 1 failure", rjobs: group(1), containers: one, kinds: workerExit | agentCrash | containerDeath, left: budgets{pokes: 2, failures: 1}, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, bypass by annotation, 2 workers, 1 failure", rjobs: group(2), containers: one, kinds: workerExit | agentCrash, left: budgets{pokes: 2, failures: 1}, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "process mode, bypass by annotation, slow stops, deadline", rjobs: group(2), containers: one, kinds: workerExit, left: twice, pokes: pokeDisable, lag: 1, lagInAll: 1, running: true, clock: true, slowStops: true}, bounded},
		{scenario{name: "process mode, bypass by gate", rjobs: group(2), containers: one, left: twice, pokes: pokeGate, lag: 1, lagInAll: 1, running: true}, bounded},
	}
}
