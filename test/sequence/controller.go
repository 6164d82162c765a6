/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"cmp"
	"slices"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// opKind is a write of the controller to a Job.
type opKind uint8

// In the order in which the controller makes them.
const (
	opDelete opKind = iota
	opDeletePod
	opScale
	opCreate
	opSuspend
	opResume
	opReplaceLost // of one Pod
)

// op is one write to a Job. Those of one kind are under way at the same time, but for
// creates, which are of one batch after the other.
type op struct {
	kind  opKind
	batch int8
	// job is the Job to create, or the one that the controller saw.
	job job
	// workers is the new size, of opScale, and the epoch that tells who came back, of opReplaceLost.
	workers int8
	// pod is the Pod to delete, or its index as long as it is not known; force: without grace.
	pod   int16
	force bool
	// moves: the Pod is deleted because its node is sick.
	moves bool
}

// pass is what the controller has decided and not written yet.
type pass struct {
	// closer is what was seen when a loss showed, with the Pods of that Job as they were past
	// the cache. The Job is still to be read, and all to be decided again.
	closer *view
	ops    []op
	// uid is the JobSet's.
	uid int16
	// fresh: the status is to be written when all ops are done, and nobody wrote the JobSet
	// since it was seen. Otherwise next and basis mean nothing.
	fresh bool
	next  status
	basis basis
}

// basis is what the checker makes of the view that a decision was made on.
type basis struct {
	notWhole string
	differs  bool
	// succeeded: the success policy is met; winning: it is once the Pods that succeeded are counted.
	succeeded, winning bool
	// action is what the failure policy says.
	action jobset.FailurePolicyAction
	// moves: Pods run on nodes that they have to leave; lacks: Pods lack whose time is up (P80).
	moves, lacks bool
	// stands: all workers run at S; failed: one reports that it does not.
	stands, failed bool
	// told is the highest step that workers tell of the epoch that ended.
	told int8
	// placeless: a Pod has found no node for a period; stranded: one runs on a node that is avoided; first is the node of
	// the first failure, 0 if none counts against one.
	placeless, stranded bool
	first               int8
}

func (v *view) basis(sc *scenario) basis {
	stands, failed := v.stand()
	return basis{
		v.notWhole(sc), v.differs(sc), v.succeeds(sc, false), v.succeeds(sc, true), v.actionOf(sc), v.moves(sc), v.lacks(), stands, failed, v.told(sc),
		v.placeless(), v.stranded(), v.blames(),
	}
}

// view is what a decision is made on.
type view struct {
	js   jobSet
	jobs []job
	pods [][]podObject // of each of jobs
	// confirmed is the Job that was read past the cache, with the Pods of the indexes asked; -1 if none was.
	confirmed int
	asked     indexes
	gate      bool
	held      waiting
	claim     claim
	moving    waiting
	first     cause
	// reportsRead: the Leases of Pods that seem to be late were read past the cache. jumped is that of the world.
	reportsRead bool
	jumped      jumped
	// childrenRead: Jobs and Pods were read past the cache. strays are Pods of Jobs that are not among jobs.
	childrenRead bool
	strays       []stray
	// nodes and timeUp are those of the world.
	nodes  [maxCutNodes]cutNode
	timeUp bool
}

// decided is what policy.Decide made of a view.
type decided struct {
	// confirm is the Job to read past the cache, with the Pods of the indexes asked; -1 if none.
	confirm int
	asked   indexes
	ops     []op
	next    status
	// held: a break is held back; claims: the claim is to be created.
	held, claims bool
	// reads are the Pods, by Job and index, whose Leases are to be read past the cache.
	reads []lateReporter
	// moving: Pods are to leave their nodes; readChildren: decide again when all was read past the cache.
	moving, readChildren bool
	// stands: the clock of the assembly stands still.
	stands bool
	// nodes are those whose Leases are to be read.
	nodes []int8
	err   error
}

// look is what the controller gathers from its caches.
func (w *world) look() view {
	v := view{js: w.jobSet.cached(), confirmed: -1, gate: w.gate, held: w.held, claim: w.claim, moving: w.moving, first: w.first, jumped: w.jumped, nodes: w.nodes, timeUp: w.timeUp}
	for _, j := range w.jobs.cached() {
		if j.owner != v.js.uid {
			continue
		}
		v.jobs = append(v.jobs, j)
		v.pods = append(v.pods, w.withLeases(j.uid, w.cachedPodsOf(&j)))
	}
	v.strays = w.straysOf(&v, w.cachedPods)
	return v
}

func (w *world) cachedPodsOf(j *job) []podObject {
	if w.sc.twist == podsByName {
		return w.cachedPodsByName(j)
	}
	if c := w.cacheOf(j.uid); c != nil {
		return c.cached()
	}
	return nil
}

// cachedPodsByName is the fault podsByName.
func (w *world) cachedPodsByName(of *job) []podObject {
	var pods []podObject
	for i := range w.podCache {
		if c := &w.podCache[i]; c.rjob == of.rjob && c.index == of.index {
			pods = append(pods, c.cached()...)
		}
	}
	return pods
}

// begin makes the controller look and decide. A pass that only writes the status writes it
// at once; one that changes Jobs has them to do; one that has to look closer has read the
// Pods of a Job past the cache. It returns false if nothing comes of it.
func (w *world) begin(d *decider) (bool, error) {
	v := w.look()
	if !v.js.exists || w.awaitsCache() {
		return false, nil
	}
	plan := d.decide(v)
	if len(plan.reads) > 0 {
		v.reportsRead, v.pods = true, w.readLeases(v.pods, plan.reads)
		plan = d.decide(v)
	}
	if plan.readChildren {
		return w.readJobs(v), nil
	}
	if plan.confirm < 0 {
		return w.follow(v, plan)
	}
	if w.jobSet.lag() > 0 {
		return false, nil // what can come of it is a new status only, and that would be refused
	}
	v.confirmed, v.asked = plan.confirm, plan.asked
	if w.sc.twist != staleConfirm {
		v.pods = slices.Clone(v.pods)
		uid := v.jobs[v.confirmed].uid
		v.pods[v.confirmed] = v.asked.refresh(v.pods[v.confirmed], w.withLeases(uid, w.podsNow(uid)))
	}
	w.pass = &pass{uid: v.js.uid, closer: &v}
	return true, nil
}

// confirm reads a Job past the cache, after its Pods, and decides again.
func (w *world) confirm(d *decider, v view) (bool, error) {
	w.pass = nil
	if v.childrenRead {
		return w.readPods(d, v)
	}
	at := v.confirmed
	fresh := w.jobNamed(v.jobs[at].rjob, v.jobs[at].index)
	v.jobs, v.pods = slices.Clone(v.jobs), slices.Clone(v.pods)
	switch {
	case w.sc.twist == staleConfirm:
	case fresh == nil || fresh.uid != v.jobs[at].uid:
		v.jobs, v.pods, v.confirmed, v.asked = slices.Delete(v.jobs, at, at+1), slices.Delete(v.pods, at, at+1), -1, 0
	default:
		v.jobs[at] = *fresh
	}
	plan := d.decide(v)
	if plan.confirm >= 0 || plan.readChildren {
		return true, nil // another Job, or all of them: the next pass looks at it
	}
	_, err := w.follow(v, plan)
	return true, err
}

// follow does what was decided, or has it to do.
func (w *world) follow(v view, plan *decided) (bool, error) {
	if plan.err != nil {
		return false, plan.err
	}
	if early := v.tooEarly(w.sc, plan.ops); early != "" {
		return false, violates(3, "%s is started before all it waits for have reported", early)
	}
	fresh := w.jobSet.lag() == 0
	changed := w.hear(plan.nodes)
	changed = w.hold(plan.held) || changed
	changed = w.move(plan.moving) || changed
	if w.standing != plan.stands && fresh {
		w.standing, changed = plan.stands, true
	}
	if plan.claims && w.claim == noClaim && (fresh || w.sc.staleJobSet) {
		w.claim, changed = claimBound, true
	}
	if len(plan.ops) > 0 {
		if !w.sc.staleJobSet && !fresh {
			return changed, nil // it reads the JobSet past the cache, finds another, and looks again later
		}
		w.pass = &pass{ops: v.name(plan.ops), uid: v.js.uid}
		if err := cmp.Or(w.judgeLate(w.pass.ops), w.judgeLost(&v, w.pass.ops)); err != nil {
			return true, err
		}
		if fresh && plan.next != v.js.status {
			w.pass.fresh, w.pass.next, w.pass.basis = true, plan.next, v.basis(w.sc)
		}
		return true, nil
	}
	if !fresh || plan.next == v.js.status {
		return changed, nil // there is nothing to write, or it is refused
	}
	return true, w.writeStatus(v.basis(w.sc), plan.next)
}

func (w *world) podsNow(job int16) []podObject {
	var pods []podObject
	for i := range w.pods {
		if w.pods[i].job == job {
			pods = append(pods, w.pods[i].podObject)
		}
	}
	return pods
}

// writeStatus writes a status that was decided on the JobSet as it is.
func (w *world) writeStatus(on basis, next status) error {
	err := w.judge(on, next)
	w.keep(&next)
	js := w.jobSet.live()
	js.status = next
	w.writeJobSet(js)
	return err
}

// perform makes one write of a pass and returns what is left of the pass.
func (w *world) perform(p *pass, at int) *pass {
	o := p.ops[at]
	rest := *p
	rest.ops = slices.Delete(slices.Clone(p.ops), at, at+1)
	if !w.write(p, o) {
		return nil // an error ends the pass
	}
	if len(rest.ops) == 0 && !rest.fresh {
		return nil
	}
	return &rest
}

// write makes a write to a Job, as far as the API server lets it.
func (w *world) write(p *pass, o op) bool {
	existing := w.jobNamed(o.job.rjob, o.job.index)
	if o.kind == opCreate {
		if existing != nil {
			return existing.owner == p.uid // the cache had not shown it yet
		}
		created := o.job
		created.uid, created.owner = w.newUID(), p.uid
		created.begins(o.job.number)
		w.writeJobs(append(slices.Clone(w.jobs.live()), created))
		return true
	}
	if existing == nil {
		return true
	}
	switch o.kind {
	case opDeletePod:
		w.deleteByDeadline(o)
	case opReplaceLost:
		w.replaceLost(o)
	case opDelete:
		if existing.uid != o.job.uid {
			return false
		}
		w.changeJob(existing.uid, func(j *job) { j.deleting = true })
	case opScale:
		w.changeJob(existing.uid, func(j *job) {
			j.size = o.workers
			j.done &= 1<<o.workers - 1
		})
		w.forgetSucceeded(existing.uid, o.workers)
	case opSuspend:
		w.changeJob(existing.uid, func(j *job) { j.suspend = true })
	case opResume:
		w.changeJob(existing.uid, func(j *job) { j.resume(o.job.number) })
	}
	return true
}

// underWay is how many of the writes of a pass are made at the same time now.
func (p *pass) underWay() int {
	n := 0
	for n < len(p.ops) && p.ops[n].kind == p.ops[0].kind && p.ops[n].batch == p.ops[0].batch {
		n++
	}
	return n
}

// stale is a pass that can no longer write the status: the JobSet was written meanwhile.
func (p *pass) stale() *pass {
	if len(p.ops) == 0 {
		return nil
	}
	if !p.fresh {
		return p
	}
	return &pass{ops: p.ops, uid: p.uid}
}
