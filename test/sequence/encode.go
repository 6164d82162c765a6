/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"bytes"
	"slices"
)

// encoder writes values as bytes. UIDs become numbers in the order in which they appear,
// so that worlds that differ in names only are the same.
type encoder struct {
	buf []byte
	// lost: nodes are named by the slots that they are of.
	lost bool
	uids []int16
	// order says, for each name of a Job, which index stands for which. Jobs of one name,
	// one after the other, have one order: the book is about slots.
	order [][]int8
	names []nameOfJob
}

type nameOfJob struct {
	uid  int16
	name int
}

func (e *encoder) byte(values ...int8) {
	for _, v := range values {
		e.buf = append(e.buf, byte(v))
	}
}

func (e *encoder) bits(values ...bool) {
	var b byte
	for i, v := range values {
		if v {
			b |= 1 << i
		}
	}
	e.buf = append(e.buf, b)
}

func (e *encoder) uid(uid int16) {
	at := slices.Index(e.uids, uid)
	if at < 0 {
		at = len(e.uids)
		e.uids = append(e.uids, uid)
	}
	e.buf = append(e.buf, byte(at))
}

// index is what an index of a Job is called here.
func (e *encoder) index(job int16, index int8) int8 {
	for i := range e.names {
		if e.names[i].uid == job {
			return e.inName(e.names[i].name, index)
		}
	}
	return index
}

func (e *encoder) inName(name int, index int8) int8 {
	if name < len(e.order) && int(index) < len(e.order[name]) {
		return e.order[name][index]
	}
	return index
}

func (e *encoder) jobSet(js *jobSet) {
	e.uid(js.uid)
	e.bits(js.exists, js.suspend, js.disabled)
	e.byte(js.size[:]...)
	e.status(&js.status)
}

func (e *encoder) status(s *status) {
	e.byte(s.d, s.s, s.inPlace, s.restarts, s.counted, int8(s.restarting), int8(s.suspended), int8(s.gateOff), int8(s.phase), s.since, s.broke, s.synced, s.quick, int8(s.pause))
	e.byte(s.world[:]...)
	e.tolerated(&s.tolerated)
	e.bits(s.young, s.planned)
	e.came(&s.came)
	if e.lost {
		e.lostStatus(s)
	}
	e.byte(s.attempts)
	e.bits(s.counts, s.suspending)
}

func (e *encoder) came(c *came) {
	e.byte(c.highest, c.without, c.inPlace)
	e.bits(c.known, c.failed)
}

func (e *encoder) job(j *job) {
	e.uid(j.uid)
	e.uid(j.owner)
	e.byte(j.rjob, j.index, j.attempt, j.size, j.completed, int8(j.age), j.runs, j.number, j.ran)
	e.bits(j.suspend, j.deleting, j.failing, j.criteriaMet, j.complete, j.broken, j.awake, j.bare, j.again)
	var done uint64
	for i := range j.size {
		if j.isDone(i) {
			done |= 1 << e.index(j.uid, i)
		}
	}
	for range (j.size + 7) / 8 {
		e.buf = append(e.buf, byte(done))
		done >>= 8
	}
}

func (e *encoder) jobList(jobs []job) {
	e.byte(int8(len(jobs)))
	for i := range jobs {
		e.job(&jobs[i])
	}
}

func (e *encoder) podObject(p *podObject) {
	e.uid(p.uid)
	e.byte(e.index(p.job, p.index), p.epoch, p.lease, int8(p.phase))
	e.bits(p.tracked, p.deleting, p.overdue, p.ended, p.started, p.sick, p.empty, p.backoff)
	node := p.node
	if e.lost {
		node = alternative(node)
	}
	e.byte(p.age, p.told, node, int8(p.born))
}

func (e *encoder) podList(pods []podObject) {
	e.byte(int8(len(pods)))
	for _, at := range e.inOrder(len(pods), func(i int) int8 { return e.index(pods[i].job, pods[i].index) }) {
		e.podObject(&pods[at])
	}
}

// inOrder returns the places of a short list that is to be sorted by a key, those of equal keys as they were.
func (e *encoder) inOrder(n int, key func(int) int8) []int {
	places := make([]int, n)
	for i := range places {
		places[i] = i
		for k := i; k > 0 && key(places[k]) < key(places[k-1]); k-- {
			places[k], places[k-1] = places[k-1], places[k]
		}
	}
	return places
}

func (e *encoder) pod(p *pod) {
	e.uid(p.job)
	e.podObject(&p.podObject)
	a := &p.agent
	e.byte(p.worker, p.late, a.epoch, int8(a.lifted), a.view, a.era)
	e.bits(a.sending, a.reported, a.looked, a.gone, p.fatal, p.restarting, p.hung, p.lost)
	if p.byUs {
		e.byte(-4)
	}
	if p.sup != nil {
		e.supervised(p.sup)
	}
}

func (e *encoder) pass(p *pass) {
	if p == nil {
		e.byte(-1)
		return
	}
	if v := p.closer; v != nil {
		var asked indexes
		for _, index := range v.asked.list() {
			asked |= 1 << e.index(v.jobs[v.confirmed].uid, int8(index))
		}
		e.byte(-2, int8(v.confirmed), int8(asked), int8(v.held), int8(v.claim), int8(v.moving)) // the JobSet is the one that is: else the pass would be over
		e.cause(&v.first)
		e.jobList(v.jobs)
		for i := range v.pods {
			e.podList(v.pods[i])
		}
		return
	}
	e.byte(int8(len(p.ops)))
	for i := range p.ops {
		o := &p.ops[i]
		e.byte(int8(o.kind), o.batch, o.workers)
		if o.kind == opDeletePod || o.kind == opReplaceLost {
			e.uid(o.pod)
			e.bits(o.force, o.moves)
		}
		e.job(&o.job)
	}
	e.uid(p.uid)
	e.bits(p.fresh, p.basis.notWhole != "", p.basis.differs, p.basis.succeeded, p.basis.winning, p.basis.moves, p.basis.lacks)
	e.bits(p.basis.placeless, p.basis.stranded)
	e.byte(int8(len(p.basis.action)), p.basis.told, p.basis.first)
	e.status(&p.next)
}

// world writes a world. Jobs come first, so that they have the same numbers in all orders of indexes.
func (e *encoder) world(w *world) {
	e.byte(int8(len(w.jobs.versions)), int8(w.jobs.place))
	for i := len(w.jobs.versions) - 1; i >= 0; i-- {
		e.jobList(w.jobs.versions[i])
	}
	for at := 0; at < len(w.pods); {
		end := at
		for end < len(w.pods) && w.pods[end].job == w.pods[at].job {
			end++
		}
		of := w.pods[at:end]
		for _, i := range e.inOrder(len(of), func(i int) int8 { return e.index(of[i].job, of[i].index) }) {
			e.pod(&of[i])
		}
		at = end
	}
	for i := range w.podCache {
		c := &w.podCache[i]
		e.uid(c.job)
		e.byte(int8(len(c.versions)), int8(c.place))
		for _, version := range c.versions {
			e.podList(version)
		}
	}
	e.leases(w)
	if e.lost {
		e.lostNodes(w)
	}
	if w.jumped != steady {
		e.byte(-5, int8(w.jumped))
	}
	e.byte(int8(len(w.jobSet.versions)), int8(w.jobSet.place))
	for i := range w.jobSet.versions {
		e.jobSet(&w.jobSet.versions[i])
	}
	e.byte(int8(len(w.views)))
	for i := range w.views {
		v := &w.views[i]
		e.byte(int8(v.Deprecated), int8(v.Synced))
		e.bits(v.Exists, v.Disabled)
	}
	e.pass(w.pass)
	e.pass(w.ghost)
	e.bits(w.gate, w.book.pending, w.book.pendingJob, w.book.won, w.book.mustWait, w.standing, w.book.deleted)
	e.cause(&w.first)
	e.byte(int8(w.moment), w.book.blamed, w.book.counts[0], w.book.counts[1])
	e.byte(w.book.disturbed, w.era, int8(w.held), int8(w.claim), int8(w.moving), int8(w.book.pauseOwed), int8(len(w.book.expired)))
	e.came(&w.book.came)
	l := &w.left
	e.byte(l.failures, l.leaders, l.suspends, l.resizes, l.jobFailures, l.pokes, l.marks, l.cuts)
	e.book(w)
}

func (e *encoder) book(w *world) {
	var entries [][5]int8
	for _, f := range w.book.failedAt {
		f.index = e.inName(w.sc.nameNumber(f.rjob, f.job), f.index)
		entries = append(entries, [5]int8{f.rjob, f.job, f.index, f.container, f.epoch})
	}
	slices.SortFunc(entries, func(a, b [5]int8) int { return slices.Compare(a[:], b[:]) })
	for _, entry := range entries {
		e.byte(entry[:]...)
	}
	if len(w.book.ranOut) == 0 {
		return
	}
	var ended [][3]int8
	for _, r := range w.book.ranOut {
		e.uid(r.job) // gives it a number
		ended = append(ended, [3]int8{int8(slices.Index(e.uids, r.job)), e.index(r.job, r.index), r.epoch})
		e.buf = e.buf[:len(e.buf)-1]
	}
	slices.SortFunc(ended, func(a, b [3]int8) int { return slices.Compare(a[:], b[:]) })
	e.byte(-3)
	for _, entry := range ended {
		e.byte(entry[:]...)
	}
}

// orders are all orders of the indexes of one Job.
var orders = [][][]int8{
	1: {{0}},
	2: {{0, 1}, {1, 0}},
	3: {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}},
}

// encode returns the canonical form of a world. Workers of one Job are like each other, as
// long as no resize and no success policy tells one from the others: the least of all orders is taken.
func (w *world) encode(scratch []byte) []byte {
	e := encoder{buf: scratch[:0], lost: w.sc.lost}
	if w.left.resizes > 0 || w.sc.hasResizes || w.sc.leaders != 0 {
		e.world(w)
		return e.buf
	}
	for _, jobs := range w.jobs.versions {
		for i := range jobs {
			entry := nameOfJob{jobs[i].uid, w.sc.nameNumber(jobs[i].rjob, jobs[i].index)}
			if !slices.Contains(e.names, entry) {
				e.names = append(e.names, entry)
			}
		}
	}
	var sizes []int8
	for r := range w.sc.rjobs {
		for range w.sc.rjobs[r].replicas {
			sizes = append(sizes, w.sc.rjobs[r].workers)
		}
	}
	e.order = make([][]int8, len(sizes))
	e.leastOrder(w, sizes, 0)
	return e.buf
}

// nameNumber is the number of the name of a Job.
func (sc *scenario) nameNumber(rjob, index int8) int {
	number := int(index)
	for r := range rjob {
		number += int(sc.rjobs[r].replicas)
	}
	return number
}

// leastOrder finds, Job by Job, the order of its indexes with the least encoding.
func (e *encoder) leastOrder(w *world, sizes []int8, at int) {
	if at == len(sizes) {
		e.buf, e.uids = e.buf[:0], e.uids[:0]
		e.world(w)
		return
	}
	if size := sizes[at]; size < 2 || int(size) >= len(orders) {
		e.leastOrder(w, sizes, at+1)
		return
	}
	var least []byte
	for _, order := range orders[sizes[at]] {
		e.order[at] = order
		e.leastOrder(w, sizes, at+1)
		if least == nil || bytes.Compare(e.buf, least) < 0 {
			least = append(least[:0], e.buf...)
		}
	}
	e.buf = append(e.buf[:0], least...)
}

// key is what the answer of policy.Decide depends on. Which Pod is which does not matter, but for its slot.
func (v *view) key() string {
	var e encoder
	e.buf = make([]byte, 0, 128)
	number := func(uid int16) { e.buf = append(e.buf, byte(uid), byte(uid>>8)) }
	number(v.js.uid)
	e.jobSet(&v.js)
	e.byte(int8(v.confirmed), int8(v.asked))
	e.bits(v.gate, v.childrenRead, v.reportsRead)
	e.byte(int8(v.jumped))
	e.byte(int8(v.held), int8(v.claim), int8(v.moving))
	e.cause(&v.first)
	if v.js.broken != never || v.nodes != [maxCutNodes]cutNode{} {
		e.lostStatus(&v.js.status)
		e.bits(v.timeUp)
		for _, n := range v.nodes {
			e.bits(n.cut && n.missed, n.heard.known, n.heard.renewed)
			e.byte(n.heard.ago, n.heard.unchanged)
		}
	}
	for i := range v.jobs {
		number(v.jobs[i].uid)
		e.job(&v.jobs[i])
		e.byte(int8(len(v.pods[i])))
		for _, p := range v.pods[i] {
			e.byte(p.index, p.epoch, p.lease, int8(p.phase))
			e.bits(p.tracked, p.deleting, p.overdue, p.ended, p.started, p.sick, p.empty, p.backoff)
			e.byte(p.age, p.told, p.node, int8(p.born))
		}
	}
	for _, s := range v.strays {
		number(s.of.uid)
		e.byte(s.pod.index, int8(s.pod.phase))
		e.bits(s.pod.deleting, s.pod.overdue)
	}
	return string(e.buf)
}
