/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"fmt"
	"strings"
)

// trace is a schedule as a table, one row for each step: what is then, and who acted.
type trace struct {
	sc    *scenario
	rows  [][]string
	heads []string
}

const legend = `Worker columns: "-" no Pod   "." its agent has not looked yet   "(2)" the agent chose epoch 2   "2" it reported 2 and holds
"2*" the worker runs in epoch 2   "2^" its barrier is open   "2!" it was started while in-place restart was off   "2*r", "r" all containers are about to restart
"2t" the Pod stops   "2ok" its worker exited 0   "ok2" succeeded   "x2" failed
In process mode "[...]" are its containers: what the supervisor runs, what the agent knows, messages to the agent and to the supervisor.
After "|": the Jobs ("+" as wanted, "s" suspended, "d" being deleted, "c" complete, "f" failed), and how many events the caches lag.
`

func newTrace(w *world) *trace {
	t := &trace{sc: w.sc}
	for _, rjob := range w.sc.rjobs {
		for index := range rjob.replicas {
			for i := range w.sc.columns(rjob) {
				t.heads = append(t.heads, fmt.Sprintf("%s-%d-%d", rjob.name, index, i))
			}
		}
	}
	t.heads = append(t.heads, "D", "S", "charged", "| jobs", "lag", "who acts")
	if w.sc.running {
		t.add(w, "the group runs")
	} else {
		t.add(w, "the JobSet is created")
	}
	return t
}

// columns is how many workers a Job may have at most.
func (sc *scenario) columns(rjob replicatedJob) int8 {
	if sc.isElastic() {
		return max(rjob.workers, sc.elastic[0].most, sc.elastic[1].most)
	}
	if sc.hasResizes {
		return rjob.workers + 1
	}
	return rjob.workers
}

func (t *trace) add(w *world, what string) {
	var row []string
	for r, rjob := range w.sc.rjobs {
		for index := range rjob.replicas {
			for i := range w.sc.columns(rjob) {
				row = append(row, w.cell(w.jobNamed(int8(r), index), i))
			}
		}
	}
	js := w.jobSet.live()
	row = append(row, fmt.Sprint(js.d), fmt.Sprint(js.s), fmt.Sprint(js.inPlace+js.counted), "| "+w.jobMarks()+js.marks(), w.lags(), what)
	t.rows = append(t.rows, row)
}

func (t *trace) String() string {
	widths := make([]int, len(t.heads))
	all := append([][]string{t.heads}, t.rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range all {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s  ", widths[i], cell)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// cell shows the Pods of a slot.
func (w *world) cell(j *job, index int8) string {
	var pods []string
	for i := range w.pods {
		if j != nil && w.pods[i].job == j.uid && w.pods[i].index == index {
			pods = append(pods, w.pods[i].mark()+w.pods[i].where())
		}
	}
	if len(pods) == 0 {
		return "-"
	}
	return strings.Join(pods, ",")
}

func (p *pod) mark() string {
	mark := "."
	switch {
	case p.phase == podSucceeded:
		return fmt.Sprintf("ok%d", p.epoch)
	case p.phase == podFailed:
		return fmt.Sprintf("x%d", p.epoch)
	case p.ended:
		mark = fmt.Sprintf("%dok", p.epoch)
	case p.restarting && p.worker > 0:
		mark = fmt.Sprintf("%d*r", p.worker)
	case p.restarting:
		mark = "r"
	case p.canStart():
		mark = fmt.Sprintf("%d^", p.agent.epoch)
	case p.worker < 0:
		mark = fmt.Sprintf("%d!", p.epoch)
	case p.worker > 0 && p.agent.epoch == p.worker:
		mark = fmt.Sprintf("%d*", p.worker)
	case p.worker > 0: // the worker of an agent that is gone, or was started again beside it
		mark = fmt.Sprintf("%d*+%d", p.worker, p.agent.epoch)
	case p.agent.sending:
		mark = fmt.Sprintf("(%d)", p.agent.epoch)
	case p.agent.epoch > 0:
		mark = fmt.Sprint(p.agent.epoch)
	}
	if p.sup != nil {
		mark += p.sup.marks()
	}
	if p.overdue {
		return mark + "T"
	}
	if p.deleting {
		return mark + "t"
	}
	return mark
}

func (w *world) jobMarks() string {
	marks := ""
	for r, rjob := range w.sc.rjobs {
		for index := range rjob.replicas {
			switch j := w.jobNamed(int8(r), index); {
			case j == nil:
				marks += "-"
			case j.deleting:
				marks += "d"
			case j.complete:
				marks += "c"
			case j.broken || j.failing:
				marks += "f"
			case j.suspend:
				marks += "s"
			default:
				marks += "+"
			}
		}
	}
	return marks
}

// lags are how far behind the caches of JobSet, Jobs and Pods are.
func (w *world) lags() string {
	most := 0
	for i := range w.podCache {
		most = max(most, w.podCache[i].lag())
	}
	return fmt.Sprintf("%d%d%d", w.jobSet.lag(), w.jobs.lag(), most)
}

// describe says what a step was.
func describe(was, is *world, s step) string {
	if is == nil {
		is = was
	}
	if text := describeTolerance(was, s); text != "" {
		return text
	}
	if text := describeLost(was, s); text != "" {
		return text
	}
	switch {
	case s.kind <= ghostWriteStatus:
		return describeController(was, is, s)
	case s.kind == podCreated:
		return fmt.Sprintf("Job controller: creates a Pod for index %d of %s", s.n, was.jobText(s.uid))
	case s.kind == jobSees || s.kind == jobFinished || s.kind == jobRemoved || s.kind == jobCollected || s.kind == jobExpires || s.kind == jobSucceeds:
		verb := map[stepKind]string{jobFinished: "Job controller: ends", jobSees: "Job controller: counts the Pods that run of", jobSucceeds: "Job controller: finds the success policy met of", jobRemoved: "garbage collector: removes", jobCollected: "garbage collector: deletes", jobExpires: "TTL controller: deletes"}
		return verb[s.kind] + " Job " + was.jobText(s.uid)
	case s.kind > firstTrouble:
		if text := describeUser(was, s); text != "" {
			return text
		}
	}
	return describePod(was, is, s)
}

func describeController(was, is *world, s step) string {
	before, after := was.jobSet.live(), is.jobSet.live()
	switch s.kind {
	case cacheJobSet:
		return "cache: sees the JobSet change"
	case cacheJobs:
		return "cache: sees a Job change"
	case cachePods:
		return "cache: sees a Pod of " + was.jobText(s.uid) + " change"
	case cacheLeases:
		return "cache: sees a Lease of a Pod of " + was.jobText(s.uid) + " change"
	case waitEnds:
		return "clock: a break has been held back for long enough"
	case periodPasses:
		return "clock: a period of the deadline passes"
	case minutePasses:
		return "clock: the workers have run for a minute"
	case pauseEnds:
		return "clock: the pause after quick failures is over"
	case perform, ghostPerform:
		p, who := was.pass, "controller: "
		if s.kind == ghostPerform {
			p, who = was.ghost, "former controller: "
		}
		o := p.ops[s.n]
		verb := [...]string{"deletes", "deletes a Pod of", "resizes", "creates", "suspends", "resumes", "replaces by force a Pod of"}[o.kind]
		if o.kind == opDeletePod || o.kind == opReplaceLost {
			return who + verb + " " + jobName(was.sc, &o.job)
		}
		return who + verb + " Job " + jobName(was.sc, &o.job)
	case begin, confirm:
		if is.pass != nil && is.pass.closer != nil && is.pass.closer.childrenRead {
			return "controller: reads all Jobs past the cache"
		}
		if is.pass != nil && is.pass.closer != nil {
			return "controller: sees a loss, reads the Pods of " + jobName(was.sc, &is.pass.closer.jobs[is.pass.closer.confirmed]) + " past the cache"
		}
		if is.pass != nil && was.pass == nil {
			return fmt.Sprintf("controller: decides on %d writes to Jobs", len(is.pass.ops))
		}
	}
	who := "controller: "
	if s.kind == ghostWriteStatus {
		who = "former controller: "
	}
	if s.kind == confirm {
		who += "then the Job, and "
	}
	return who + describeStatus(before, after)
}

func describeStatus(before, after jobSet) string {
	charged := ""
	if n := after.inPlace + after.counted - before.inPlace - before.counted; n != 0 {
		charged = fmt.Sprintf(", charged %d", n)
	}
	switch {
	case after.phase == completed && before.phase != completed:
		return "the JobSet is Completed"
	case after.phase == failed && before.phase != failed:
		return "the JobSet is Failed"
	case after.restarts != before.restarts:
		return "restarts all Jobs" + charged
	case after.s != before.s:
		return fmt.Sprintf("lifts, S := %d%s", after.s, charged)
	case after.d != before.d:
		return fmt.Sprintf("breaks, D := %d%s", after.d, charged)
	case after == before:
		return "writes no status"
	}
	return "writes conditions" + charged
}

func describePod(was, is *world, s step) string {
	if s.kind == claimGone {
		return "the claim is gone"
	}
	at := was.podAt(s.uid)
	if at < 0 {
		return fmt.Sprintf("step %d", s.kind)
	}
	p := &was.pods[at]
	name := was.podText(p)
	if text := describeContainer(s, name); text != "" {
		return text
	}
	switch s.kind {
	case agentStart, agentLook, agentAck, agentReport:
		return "agent of " + name + ": " + describeAgent(was, is, s, p)
	case lateReport:
		return fmt.Sprintf("a late report arrives: %s is at %d", name, p.late)
	case podStops:
		return "kubelet: " + name + " has stopped"
	case workerStart:
		return "kubelet: starts the worker of " + name
	case podRestarts:
		return "kubelet: restarts all containers of " + name
	case podSucceeds:
		return "kubelet: " + name + " is Succeeded"
	case podGraceEnds:
		return "clock: " + name + " is past its deletion timestamp"
	case podCounted:
		return "Job controller: counts " + name
	case backoffEnds:
		return "clock: the Job controller may replace " + name
	case podUnwanted:
		return "Job controller: deletes " + name
	}
	trouble := map[stepKind]string{
		workerExits: "WORKER EXITS: ", workerExits0: "WORKER EXITS 0: ", agentCrashes: "AGENT CRASHES: ",
		podIsDeleted: "POD IS DELETED: ", podFails: "POD FAILS: ", sandboxDies: "SANDBOX IS GONE: ", leaseIsDeleted: "LEASE IS DELETED: ", podHangs: "POD WILL NEVER RUN: ", jobFails: "WORKER EXITS so that its Job fails: ",
		forgeEpoch: "ANNOTATION IS OVERWRITTEN: ", doublePod: "JOB CONTROLLER makes a second Pod: ",
	}
	return trouble[s.kind] + name
}

func describeAgent(was, is *world, s step, p *pod) string {
	at := is.podAt(s.uid)
	if at < 0 {
		return "moves"
	}
	q := &is.pods[at]
	stale := ""
	if s.n > 0 {
		stale = " (a stale read)"
	}
	switch {
	case q.agent.lifted == byEpoch && p.agent.lifted != byEpoch && s.kind == agentReport:
		return fmt.Sprintf("reports %d and lifts", q.agent.epoch)
	case q.agent.lifted == byEpoch && p.agent.lifted != byEpoch:
		return fmt.Sprintf("lifts, the worker runs in epoch %d", q.agent.epoch)
	case q.agent.lifted == byBypass && p.agent.lifted != byBypass:
		return "starts the worker, since in-place restart is off"
	case p.agent.looked && (!q.agent.looked || q.agent.gone):
		return fmt.Sprintf("exits at %d, restarting its Pod in place", p.agent.epoch)
	case s.kind == agentReport:
		return fmt.Sprintf("reports %d", q.agent.epoch)
	case s.kind == agentStart:
		v := is.views[q.agent.view]
		return fmt.Sprintf("reads S=%d%s, chooses %d", v.Synced, stale, q.agent.epoch)
	case s.kind == agentLook:
		v := is.views[q.agent.view]
		return fmt.Sprintf("sees D=%d S=%d", v.Deprecated, v.Synced)
	}
	return "is told that its report was accepted"
}

func describeUser(was *world, s step) string {
	switch s.kind {
	case leaderChange:
		text := "CONTROLLER CRASHES, a new one starts"
		if s.n&2 != 0 {
			text = "LEADER CHANGES while writes are under way"
		}
		if s.n&1 != 0 {
			text += " with old caches"
		}
		return text
	case clockJumps:
		return []string{"CLOCK of the controller JUMPS forward", "CLOCK of the controller JUMPS back"}[s.n]
	case suspendJobSet:
		return "USER: suspends the JobSet"
	case resumeJobSet:
		return "USER: resumes the JobSet"
	case resize:
		return fmt.Sprintf("USER: resizes the Jobs of %s to %d workers", was.sc.rjobs[s.uid].name, s.n)
	case toggleDisabled:
		return "USER: sets or removes the annotation that disables in-place restart"
	case toggleGate:
		return fmt.Sprintf("ADMINISTRATOR: gate on %v becomes %v", was.gate, !was.gate)
	case wipeStatus:
		return "STATUS IS LOST"
	case deleteClaim:
		return "USER: deletes the claim"
	case recreateJobSet:
		return "USER: deletes the JobSet and creates it again"
	}
	return ""
}

func (w *world) jobText(uid int16) string {
	for i := len(w.jobs.versions) - 1; i >= 0; i-- {
		for k := range w.jobs.versions[i] {
			if j := &w.jobs.versions[i][k]; j.uid == uid {
				return jobName(w.sc, j)
			}
		}
	}
	return "a former Job"
}

func (w *world) podText(p *pod) string { return fmt.Sprintf("%s-%d", w.jobText(p.job), p.index) }
