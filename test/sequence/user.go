/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// troubles appends what may go wrong now, and what users may do.
func (w *world) troubles(steps []step) []step {
	js := w.jobSet.live()
	if w.left.failures > 0 || w.left.jobFailures > 0 || w.left.pokes > 0 {
		for i := range w.pods {
			steps = w.podTroubles(steps, &w.pods[i])
		}
	}
	if w.left.leaders > 0 {
		steps = w.leaderChanges(steps)
	}
	if w.sc.jumps && w.left.pokes > 0 && w.pass == nil && w.ghost == nil && w.lagInAll() == 0 {
		steps = append(steps, step{kind: clockJumps}, step{kind: clockJumps, n: 1})
	}
	for i, n := range w.nodes {
		if w.left.cuts > 0 && !n.cut && alternative(int8(i+1)) == 1 && w.podsOn(int8(i+1)) > 0 {
			steps = append(steps, step{kind: nodeIsCut, n: int8(i + 1)})
		}
	}
	if w.sc.ft != nil || w.sc.kinds&jobDeletion != 0 {
		steps = w.toleranceTroubles(steps)
	}
	if js.suspend {
		steps = append(steps, step{kind: resumeJobSet})
	} else if w.left.suspends > 0 && js.exists && js.phase == unfinished {
		steps = append(steps, step{kind: suspendJobSet})
	}
	if w.left.resizes > 0 && w.sc.isElastic() {
		steps = w.plans(steps)
	} else if w.left.resizes > 0 && js.phase == unfinished {
		for i, rjob := range w.sc.rjobs {
			if js.size[i] != rjob.workers {
				steps = append(steps, step{kind: resize, uid: int16(i), n: rjob.workers})
				continue
			}
			steps = append(steps, step{kind: resize, uid: int16(i), n: js.size[i] + 1})
			if js.size[i] > 1 {
				steps = append(steps, step{kind: resize, uid: int16(i), n: js.size[i] - 1})
			}
		}
	}
	if w.left.pokes > 0 {
		for _, kind := range []stepKind{toggleDisabled, toggleGate, wipeStatus, recreateJobSet, deleteClaim} {
			if kind == deleteClaim {
				if w.sc.pokes&pokeClaim != 0 && w.claim == claimBound {
					steps = append(steps, step{kind: kind})
				}
				continue
			}
			if kind == wipeStatus && js.s == 1 && !w.sc.wipeAtOne {
				continue
			}
			if kind == toggleDisabled && js.disabled && !w.mayEnable() {
				continue
			}
			if w.sc.pokes&(1<<(kind-toggleDisabled)) != 0 {
				steps = append(steps, step{kind: kind})
			}
		}
	}
	return steps
}

func (w *world) leaderChanges(steps []step) []step {
	for n := range int8(4) {
		old, lingers := n&1 != 0, n&2 != 0
		if old && !w.sc.oldCaches || lingers && (!w.sc.lingering || w.pass == nil || w.pass.closer != nil || w.ghost != nil) {
			continue
		}
		if !old && !lingers && w.pass == nil && !w.sc.versions {
			continue // nobody would notice
		}
		steps = append(steps, step{kind: leaderChange, n: n})
	}
	return steps
}

func (w *world) podTroubles(steps []step, p *pod) []step {
	if p.phase != running {
		return steps
	}
	if p.sup != nil && w.left.failures > 0 && !p.ended {
		steps = w.containerTroubles(steps, p)
	}
	add := func(kind stepKind) { steps = append(steps, step{kind: kind, uid: p.uid}) }
	if w.left.failures > 0 {
		kinds := w.sc.kinds
		if kinds&workerExit != 0 && p.sup == nil && p.worker != 0 && !p.deleting && !p.restarting {
			add(workerExits)
		}
		if kinds&exitZero != 0 && p.sup == nil && p.worker != 0 && !p.restarting {
			add(workerExits0)
		}
		if kinds&agentCrash != 0 && p.agent.epoch > 0 && !p.deleting && !p.restarting {
			add(agentCrashes)
		}
		if kinds&podDeleted != 0 && !p.deleting {
			add(podIsDeleted)
		}
		if kinds&leaseDeletion != 0 && p.lease != 0 {
			add(leaseIsDeleted)
		}
		if kinds&hang != 0 && !p.deleting && !p.agent.looked && !p.hung && w.mayHang() {
			add(podHangs)
		}
		if kinds&podFailure != 0 && !p.deleting && !p.ended && !p.empty && p.node != nowhere && !w.isCut(p) {
			add(podFails)
		}
	}
	if w.left.jobFailures > 0 && p.worker != 0 && !p.deleting {
		add(jobFails)
	}
	if w.left.pokes > 0 && !p.deleting {
		if w.sc.pokes&pokeForge != 0 && (!p.agent.looked || p.worker > 0) { // else only a user could repair it
			add(forgeEpoch)
		}
		if w.sc.pokes&pokeDouble != 0 {
			add(doublePod)
		}
	}
	return steps
}

// mayHang reports whether a Pod that hangs is waited for: one of a group that runs is not, see TestFindings.
func (w *world) mayHang() bool {
	js := w.jobSet.live()
	return js.d == js.s || w.sc.hangsAnyTime
}

// trouble takes a step of the kinds above.
func (w *world) trouble(s step) error {
	switch s.kind {
	case containerDies, linkBreaks, processStays, containerAway, sandboxDies, leaseIsDeleted, workerExits, workerExits0, agentCrashes, podIsDeleted, podFails, podHangs, jobFails, forgeEpoch, doublePod:
		return w.podTrouble(s)
	case nodeDies, jobIsDeleted, markNode, unmarkNode:
		w.toleranceTrouble(s)
		return nil
	case nodeIsCut:
		w.left.cuts--
		w.nodes[s.n-1].cut = true
		return nil
	case leaderChange:
		w.left.leaders--
		w.changeLeader(s.n&1 != 0, s.n&2 != 0)
		return nil
	case clockJumps:
		w.left.pokes--
		w.jump(s.n == 1)
		return nil
	case toggleGate:
		w.left.pokes--
		w.gate = !w.gate
		// What went on while nobody watched, as a restart of all Jobs that did not move D, may cost a restart.
		w.book.pending = true
		w.changeLeader(false, false)
		return nil
	}
	js := w.jobSet.live()
	switch s.kind {
	case deleteClaim:
		w.left.pokes--
		if w.claim = claimLeaves; !w.sc.shared && !w.claimInUse() {
			w.claim = noClaim
		}
	case suspendJobSet:
		w.left.suspends--
		js.suspend = true
		w.book.pauseOwed, w.book.expired = noPauseOwed, nil // suspending ends a reset, and Jobs are created again (P81, P84)
	case resumeJobSet:
		js.suspend = false
	case resize:
		w.left.resizes--
		js.size[s.uid] = s.n
		w.book.won = false // there may be more to do
	case replan:
		w.left.resizes--
		js.size = w.planned(s)
		w.book.won = false
	case toggleDisabled:
		w.left.pokes--
		js.disabled = !js.disabled
	case wipeStatus:
		w.left.pokes--
		if js.s > 0 { // else no epoch is lost
			w.era++
		}
		js.status = status{}
		w.book = book{pending: true} // S begins again, and so does what the properties compare
	case recreateJobSet:
		w.left.pokes--
		js = jobSet{uid: w.newUID(), exists: true, size: js.size}
		w.book = book{}
	}
	w.writeJobSet(js)
	return nil
}

func (w *world) podTrouble(s step) error {
	at := w.podAt(s.uid)
	p := &w.pods[at]
	switch s.kind {
	case jobFails:
		w.left.jobFailures--
	case forgeEpoch, doublePod:
		w.left.pokes--
	default:
		w.left.failures--
	}
	if p.sup != nil {
		if is, err := w.containerTrouble(s, at); is {
			return err
		}
	}
	switch s.kind {
	case workerExits:
		w.failing(p)
		w.workerEnds(p)
	case workerExits0:
		w.exits0(at)
	case agentCrashes:
		w.failing(p)
		if w.sc.twist == narrowRule {
			p.agent = process{}
			return nil
		}
		w.agentEnds(at)
	case podIsDeleted:
		if !p.ended {
			w.failing(p)
		}
		p.deleting = true
		w.publish(p.job)
	case podFails:
		w.failing(p)
		w.blame(p)
		w.stop(at, podFailed)
	case leaseIsDeleted:
		p.lease = 0
		w.publish(p.job)
	case podHangs:
		p.hung = true
	case jobFails:
		if j := w.jobOf(p.job); j.owner == w.jobSet.live().uid {
			w.book.pendingJob = w.book.pendingJob || j.attempt >= w.jobSet.live().restarts
			if p.worker > 0 && p.agent.era == w.era {
				w.failedIn(j, p, 0, p.worker)
			}
		}
		w.blame(p)
		p.fatal = true
		w.stop(at, podFailed)
	case forgeEpoch:
		p.epoch = -1
		w.book.pending = true
		w.publish(p.job)
	case doublePod:
		w.book.pending = true
		w.createPod(p.job, p.index, p.node)
	}
	return nil
}

// changeLeader is a controller that crashed, or lost its lease. Its successor's caches may be older.
func (w *world) changeLeader(older, lingers bool) {
	if lingers {
		w.ghost = w.pass
	}
	w.pass, w.held, w.standing, w.moving, w.first = nil, notWaiting, false, notWaiting, cause{}
	for i := range w.nodes {
		w.nodes[i].heard, w.nodes[i].changed, w.nodes[i].silent = heardOf{}, false, false
	}
	w.ignorant = w.sc.versions && !w.ignorant
	if !older {
		return
	}
	w.jobSet, w.jobs = w.jobSet.rewind(), w.jobs.rewind()
	w.emptyLeases()
	caches := make([]podsOfJob, len(w.podCache))
	for i, c := range w.podCache {
		caches[i] = c
		caches[i].history = c.rewind()
	}
	w.podCache = caches
}
