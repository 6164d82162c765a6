/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Nodes that are cut off from the API server (P171 to P176). Their agents hear and say nothing, their workers run on, and they may come
// back at any point. Each slot has two nodes of its own: the second, which is never cut off, takes its Pods while the JobSet keeps off the
// first.
//
// Time passes in steps of 25 s, at any time between two passes: then each node that is not cut off has renewed its Lease. What a manager makes of what it
// read of Leases is package facts' own. When it asks, and when it decides, is policy's.

const (
	maxCutNodes = 6
	tick        = 25 * time.Second // for which no kubelet may be silent
	mostTicks   = 2                // after which what was read says nothing
)

// cutNode is a node, and what the manager has heard of it.
type cutNode struct {
	cut bool
	// missed: it has not renewed its Lease for a tick; changed: it did since the manager last read it; silent: it had missed one then.
	missed, changed, silent bool
	heard                   heardOf
}

// heardOf is what the manager knows: how many ticks its last read is ago, and for how many the Lease had not changed then.
type heardOf struct {
	known, renewed bool
	ago, unchanged int8
}

func (h heardOf) facts() facts.Heard {
	if !h.known {
		return facts.Heard{}
	}
	to := now.Add(-time.Duration(h.ago) * tick)
	return facts.Heard{Version: "read", From: to.Add(-time.Duration(h.unchanged) * tick), To: to, Renewed: h.renewed}
}

// lostMemory is what the status remembers of a node.
type lostMemory struct {
	epoch     int8
	at, heard moment
}

// remnant is a worker whose Pod is gone from the API, and which runs on, on a node that was cut off.
type remnant struct {
	job                int16
	index, node, epoch int8
}

// peers are the nodes of a slot, as place chooses among them.
func peers(index int8) [2]int8 { return [2]int8{2*index + 1, 2*index + 2} }

func (w *world) isCut(p *pod) bool { return w.sc.lost && p.node > 0 && w.nodes[p.node-1].cut }

// placeOff is what the Pod webhook, whose cache lags, and the scheduler make of a new Pod.
func (w *world) placeOff(d *decider, index int8) int8 {
	lost := policy.LostNodes(d.jobSet(w.jobSet.cached()))
	for i, n := range peers(index) {
		if i > 0 && w.sc.alone {
			break
		}
		if !slices.Contains(lost, nodeName(n)) && (!w.sc.force || !w.nodes[n-1].missed) { // it has a taint by then
			return n
		}
	}
	return nowhere
}

// askLost makes a JobSet replace lost workers, and gives it what its status remembers.
func (o *objects) askLost(js *jobset.JobSet, s *status) {
	if js.Spec.FailurePolicy.InPlaceRestart == nil {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{}
	}
	js.Spec.FailurePolicy.InPlaceRestart.LostNode = &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](25)}
	if s.broken != never {
		js.Status.BreakTime = ptr.To(metav1.NewMicroTime(s.broken.at()))
	}
	for i, n := range s.lost {
		if n == (lostMemory{}) {
			continue
		}
		known := jobset.LostNode{Node: nodeName(int8(i + 1)), Epoch: int32(n.epoch), Time: metav1.NewTime(n.at.at())}
		if n.heard != never {
			known.HeardTime = ptr.To(metav1.NewTime(n.heard.at()))
		}
		js.Status.LostNodes = append(js.Status.LostNodes, known)
	}
}

// lostOf is the other way round.
func lostOf(s *jobset.JobSetStatus) (broken moment, lost [maxCutNodes]lostMemory) {
	if at := s.BreakTime; at != nil {
		broken = momentOf(ptr.To(metav1.NewTime(at.Time)))
	}
	for i := range s.LostNodes {
		n := &s.LostNodes[i]
		lost[numberOf(n.Node)-1] = lostMemory{int8(n.Epoch), momentOf(&n.Time), momentOf(n.HeardTime)}
	}
	return broken, lost
}

// hearNodes tells policy.Decide what was heard, and since when the time of the JobSet counts.
func (d *decider) hearNodes(in *policy.Input, v view) {
	in.Heard, in.NotReady = map[string]facts.Heard{}, map[string]bool{}
	for i, n := range v.nodes {
		in.Heard[nodeName(int8(i+1))] = n.heard.facts()
		in.NotReady[nodeName(int8(i+1))] = n.cut && n.missed
	}
	if !v.timeUp {
		in.Clock.SteadySince = now.Add(-10 * time.Second) // what the break is longer ago, the clock jumped over
	}
	for i := range v.pods {
		for _, p := range v.pods[i] {
			if p.live() && p.reports() == v.js.s+1 {
				in.Quiet.Reported++
			}
		}
	}
}

// asksNodes are the nodes whose Leases a plan asks for.
func asksNodes(plan *policy.Plan) (asked []int8) {
	for _, name := range plan.AskNodes {
		asked = append(asked, numberOf(name))
	}
	return asked
}

// hear reads the Leases of nodes past the cache, and reports whether anything is known now that was not.
func (w *world) hear(nodes []int8) bool {
	was := w.nodes
	for _, number := range nodes {
		n := &w.nodes[number-1]
		version := "read"
		if n.changed {
			version = "renewed"
		}
		next := n.heard.facts().Read(version, 0, now, now)
		n.heard = heardOf{known: true, renewed: next.Renewed, unchanged: int8(min(1, next.SilentFor()/tick))}
		n.changed, n.silent = false, n.missed
	}
	return w.nodes != was
}

// replaceLost replaces a worker by force, unless a read past the cache shows that it came back (P174).
func (w *world) replaceLost(o op) {
	at := w.podAt(o.pod)
	if at < 0 || w.pods[at].phase != running || w.pods[at].ended || w.pods[at].reports() >= o.workers {
		return
	}
	w.remain(&w.pods[at])
	w.pods[at].deleting = true
	w.stop(at, podFailed)
}

// remain lets the worker of a Pod that is forced out of the API run on.
func (w *world) remain(p *pod) {
	if w.sc.lost && p.worker > 0 {
		w.remnants = append(slices.Clip(w.remnants), remnant{p.job, p.index, p.node, p.worker})
	}
}

func (w *world) lostSteps(steps []step) []step {
	if js := w.jobSet.live(); js.broken != never && js.d == js.s && !w.timeUp {
		steps = append(steps, step{kind: timeIsUp})
	}
	if older := w.clone(); w.pass == nil && w.ghost == nil && older.ticks() {
		steps = append(steps, step{kind: ticks})
	}
	for i, n := range w.nodes {
		if n.cut && w.sc.returns {
			steps = append(steps, step{kind: nodeReturns, n: int8(i + 1)})
		}
	}
	for i, r := range w.remnants {
		if !w.nodes[r.node-1].cut {
			steps = append(steps, step{kind: remnantEnds, n: int8(i)})
		}
	}
	for i := range w.pods {
		if p := &w.pods[i]; w.missesPeers(p) {
			steps = append(steps, step{kind: peerFails, uid: p.uid})
		}
	}
	return steps
}

// missesPeers reports whether a worker will fail, or hang, since another one of its epoch does not run.
func (w *world) missesPeers(p *pod) bool {
	js := w.jobSet.live()
	return js.d < js.s && p.worker == js.s && !w.isCut(p) && !p.deleting &&
		slices.ContainsFunc(w.pods, func(q pod) bool { return q.live() && w.isCut(&q) && q.worker != js.s })
}

func (w *world) lostStep(s step) error {
	switch s.kind {
	case timeIsUp:
		w.timeUp = true
	case ticks:
		w.ticks()
	case nodeReturns:
		n := &w.nodes[s.n-1]
		n.cut, n.missed, n.changed = false, false, n.heard.known
	case remnantEnds: // its kubelet, or its agent, has seen that its Pod is gone
		w.remnants = slices.Delete(slices.Clone(w.remnants), int(s.n), int(s.n)+1)
	case peerFails:
		at := w.podAt(s.uid)
		if w.pods[at].sup != nil {
			w.pods[at].change()
			return w.childEnds(at, 0, false)
		}
		w.failing(&w.pods[at])
		w.workerEnds(&w.pods[at])
	}
	return nil
}

// leftToKubernetes reports whether nothing is done about nodes that stay away until Kubernetes lets their Pods go: there are too many of
// them, or nobody else of their epoch is left.
func (w *world) leftToKubernetes() bool {
	cut, back, js := 0, 0, w.jobSet.live()
	for i := range w.pods {
		switch p := &w.pods[i]; {
		case w.isCut(p):
			cut++
		case js.d < js.s || p.born.order() < js.broken.order():
			back++
		}
	}
	return w.sc.lost && !w.sc.returns && (cut > 1 && 3*cut > len(w.pods) || cut > 0 && back == 0)
}

func (w *world) ticks() bool {
	was := w.nodes
	for i := range w.nodes {
		n := &w.nodes[i]
		n.heard.ago = min(mostTicks, n.heard.ago+1)
		n.missed, n.changed = n.cut, n.changed || !n.cut
		if !n.heard.known {
			n.heard, n.changed = heardOf{}, false
		}
	}
	return w.nodes != was
}

// tidyLost forgets what makes no difference.
func (w *world) tidyLost() {
	js := w.jobSet.live()
	w.timeUp = w.timeUp && js.d == js.s
	w.remnants = slices.DeleteFunc(slices.Clone(w.remnants), func(r remnant) bool { return w.jobOf(r.job) == nil })
}

func (e *encoder) lostNodes(w *world) {
	for _, n := range e.inSlots() {
		n := &w.nodes[n]
		e.bits(n.cut, n.missed, n.changed, n.silent, n.heard.known, n.heard.renewed)
		e.byte(n.heard.ago, n.heard.unchanged)
	}
	e.bits(w.timeUp)
	left := slices.Clone(w.remnants)
	slices.SortFunc(left, func(a, b remnant) int {
		return cmp.Or(cmp.Compare(e.inName(0, a.index), e.inName(0, b.index)), cmp.Compare(a.node, b.node), cmp.Compare(a.epoch, b.epoch))
	})
	for _, r := range left {
		e.byte(e.inName(0, r.index), alternative(r.node), r.epoch)
	}
}

func (e *encoder) lostStatus(s *status) {
	for _, n := range e.inSlots() {
		e.byte(s.lost[n].epoch, int8(s.lost[n].at), int8(s.lost[n].heard))
	}
	e.byte(int8(s.broken))
}

// inSlots are the nodes, from 0, in the order of their slots.
func (e *encoder) inSlots() (nodes [maxCutNodes]int) {
	for index := range int8(maxCutNodes / 2) {
		for i, n := range peers(index) {
			nodes[2*int(e.inName(0, index))+i] = int(n) - 1
		}
	}
	return nodes
}

// alternative is which of the nodes of its slot a Pod is on.
func alternative(node int8) int8 {
	if node <= 0 {
		return node
	}
	return 1 + (node-1)%2
}

func describeLost(was *world, s step) string {
	switch s.kind {
	case timeIsUp:
		return "clock: the time after which lost workers may be replaced is over"
	case ticks:
		return "clock: 25 s pass"
	case nodeReturns:
		return "node " + nodeName(s.n) + " comes back"
	case remnantEnds:
		return fmt.Sprintf("the worker of index %d that nobody knows any more ends", was.remnants[s.n].index)
	case peerFails:
		return "a worker misses its peers, and fails: " + was.podText(&was.pods[was.podAt(s.uid)])
	case nodeIsCut:
		return "NODE IS CUT OFF: " + nodeName(s.n)
	}
	return ""
}

// lostCases are those of nodes that are cut off.
func lostCases() []searched {
	group := func(workers int8) []replicatedJob { return []replicatedJob{{"w", 1, workers, -1}} }
	return []searched{
		{scenario{name: "lost node, 1 failure, comes back", rjobs: group(2), lost: true, returns: true, kinds: workerExit, left: budgets{failures: 1, cuts: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "lost node, 1 failure, stays away", rjobs: group(2), lost: true, kinds: workerExit, left: budgets{failures: 1, cuts: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "lost node, a Pod is deleted by force, 2 nodes that stay away, caches that do not lag", rjobs: group(2), lost: true, kinds: podDeleted, left: budgets{failures: 1, cuts: 2}, running: true, graces: true, force: true}, bounded},
		{scenario{name: "lost node, 3 workers, 2 nodes that stay away, caches that do not lag", rjobs: group(3), lost: true, kinds: workerExit, left: budgets{failures: 1, cuts: 2}, running: true}, full},
		{scenario{name: "lost node, 1 failure, no other node", rjobs: group(2), lost: true, returns: true, alone: true, kinds: workerExit, left: budgets{failures: 1, cuts: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "lost node, process mode, 1 failure, comes back", rjobs: group(2), containers: [maxReplicatedJobs]int8{1}, lost: true, returns: true, kinds: workerExit, left: budgets{failures: 1, cuts: 1}, running: true}, bounded},
		{scenario{name: "lost node, 1 failure, new leader, old caches", rjobs: group(2), lost: true, returns: true, kinds: workerExit, left: budgets{failures: 1, cuts: 1, leaders: 1}, lag: 1, lagInAll: 1, oldCaches: true, running: true}, bounded},
	}
}
