/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Nodes that fail a JobSet are avoided (P93), as long as it finds others (P94). A scenario that has this has one node or two,
// with room for all. The scheduler takes the emptier one of those that a Pod may use; the Pod webhook, which decides which
// those are, sees the JobSet as late as the controller does. A Pod that no node takes stays without one until it is deleted.
//
// Of time, the order matters in which Pods were created and nodes were avoided, or given up, and what was more than a
// period ago: for so long a Pod may look for a node. While the group runs, a day may pass, after which nothing is avoided.

const (
	maxNodes = 2
	// nowhere is the node of a Pod that finds none; 0 is that of all Pods where a scenario has no nodes.
	nowhere = -1
)

// moment is when something was decided, or a Pod created: the number of the last decision by then.
type moment int8

const (
	never   moment = 0
	justNow moment = 31     // until it is written
	aPeriod moment = 1 << 5 // besides: more than a period ago
	lapsed  moment = -1     // more than a day ago
)

func (m moment) order() moment { return m &^ aPeriod }

func (m moment) at() time.Time {
	at := now.Add(-2*time.Minute + 2*time.Second*time.Duration(m.order()))
	switch {
	case m == lapsed:
		return now.Add(-48 * time.Hour)
	case m == justNow:
		return now
	case m&aPeriod != 0:
		return at.Add(-period)
	}
	return at
}

// momentOf is the other way round.
func momentOf(at *metav1.Time) moment {
	if at == nil {
		return never
	}
	for _, m := range []moment{justNow, lapsed} {
		if at.Time.Equal(m.at()) {
			return m
		}
	}
	var long moment
	since := at.Sub(now.Add(-2 * time.Minute))
	if since < 0 {
		since, long = since+period, aPeriod
	}
	return moment(since/(2*time.Second)) | long
}

// nodeMemory is what the status remembers of a node.
type nodeMemory struct {
	failures         int8 // within a day
	old              bool // there was one before
	avoided, givenUp moment
}

// cause is the first failure of an epoch that the controller has seen.
type cause struct {
	epoch, node int8
	deleted     bool
}

func (sc *scenario) avoids() bool { return sc.ft != nil && sc.ft.avoid > 0 }

func nodeName(n int8) string { return "n" + strconv.Itoa(int(n)) }

// askToAvoid fills in what a JobSet asks for, and what its status remembers.
func (o *objects) askToAvoid(js *jobset.JobSet, nodes *[maxNodes]nodeMemory) {
	js.Spec.FaultTolerance.AvoidNodes = &jobset.AvoidNodes{Failures: int32(o.sc.ft.avoid), WithinSeconds: 24 * 60 * 60}
	for i, n := range nodes {
		if n == (nodeMemory{}) {
			continue
		}
		known := jobset.NodeFailures{Node: nodeName(int8(i + 1)), Cause: "a cause"}
		if n.old {
			known.Times = append(known.Times, metav1.NewTime(lapsed.at()))
		}
		for range n.failures {
			known.Times = append(known.Times, metav1.NewTime(now.Add(-time.Minute)))
		}
		for _, m := range []struct {
			is moment
			to **metav1.Time
		}{{n.avoided, &known.AvoidedSince}, {n.givenUp, &known.GivenUpTime}} {
			if m.is != never {
				at := metav1.NewTime(m.is.at())
				*m.to = &at
			}
		}
		js.Status.FaultTolerance.NodeFailures = append(js.Status.FaultTolerance.NodeFailures, known)
	}
}

// nodesOf is the other way round.
func nodesOf(known []jobset.NodeFailures) (nodes [maxNodes]nodeMemory) {
	for _, k := range known {
		n := &nodes[numberOf(k.Node)-1]
		n.avoided, n.givenUp = momentOf(k.AvoidedSince), momentOf(k.GivenUpTime)
		for _, at := range k.Times {
			if at.Time.Equal(lapsed.at()) {
				n.old = true
			} else {
				n.failures++
			}
		}
	}
	return nodes
}

func numberOf(node string) int8 {
	n, _ := strconv.Atoi(node[1:])
	return int8(n)
}

// stand puts a Pod onto its node, if it has one, and says when it was created.
func (p *podObject) stand(pod *corev1.Pod) {
	pod.CreationTimestamp = metav1.NewTime(p.born.at().Add(time.Second))
	if p.node > 0 {
		pod.Spec.NodeName = nodeName(p.node)
		return
	}
	pod.Spec.NodeName, pod.Status.Phase = "", corev1.PodPending
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/2 nodes are available",
	})
}

// place is what the Pod webhook and the scheduler make of a new Pod.
func (w *world) place(d *decider) (node int8, err error) {
	if !w.sc.avoids() {
		return 0, nil
	}
	js := w.jobSet.cached()
	names := policy.AvoidedNodes(d.jobSet(js), gates.Set{FaultTolerance: true}, now)
	node = nowhere
	for n := int8(1); n <= w.sc.ft.nodes; n++ {
		avoids := slices.Contains(names, nodeName(n))
		if asked := js.nodes[n-1].avoided > never; asked != avoids {
			return 0, violates(10, "whether a new Pod avoids %s is %t, and it should be %t", nodeName(n), avoids, asked)
		}
		if !avoids && (node == nowhere || w.podsOn(n) < w.podsOn(node)) {
			node = n
		}
	}
	return node, nil
}

func (w *world) podsOn(node int8) (n int) {
	for i := range w.pods {
		if w.pods[i].node == node && w.pods[i].phase == running {
			n++
		}
	}
	return n
}

// notice keeps the first failure of an epoch that a cache shows, as the controller does.
func (w *world) notice(before, after []podObject) {
	js := w.jobSet.cached()
	if !w.sc.avoids() || w.first.epoch == js.s {
		return
	}
	for _, p := range after {
		at := slices.IndexFunc(before, func(b podObject) bool { return b.uid == p.uid })
		if at < 0 || before[at].deleting || before[at].phase != running {
			continue
		}
		if p.deleting || p.phase == podFailed {
			w.first = cause{js.s, p.node, p.deleting}
			return
		}
	}
}

// failure is the first one of the epoch of a view, nil if none was seen.
func (v *view) failure() *policy.Failure {
	if v.first.epoch != v.js.s || v.first.epoch == 0 || v.first.node <= 0 {
		return nil
	}
	return &policy.Failure{Pod: "w", Node: nodeName(v.first.node), Deleted: v.first.deleted}
}

func (w *world) avoidanceSteps(steps []step) []step {
	waits := slices.ContainsFunc(w.pods, func(p pod) bool { return p.live() && p.node == nowhere && p.born&aPeriod == 0 })
	js := w.jobSet.live()
	switch {
	case waits:
		steps = append(steps, step{kind: placeIsLate})
	case w.jobSet.live().nodes != [maxNodes]nodeMemory{} && w.lagInAll() == 0 && js.phase == unfinished && !js.suspend && w.good() && !w.lapsed(&js):
		steps = append(steps, step{kind: dayPasses})
	}
	return steps
}

func (w *world) lapsed(js *jobSet) bool {
	for _, n := range js.nodes {
		if n.failures > 0 || n.avoided > never || n.givenUp > never {
			return false
		}
	}
	return true
}

// becomesOlder lets time pass for all moments.
func (w *world) becomesOlder(day bool) {
	older := func(m *moment) {
		switch {
		case *m > never && day:
			*m = lapsed
		case *m > never:
			*m |= aPeriod
		}
	}
	w.ages(func(s *status) {
		for i := range s.nodes {
			n := &s.nodes[i]
			older(&n.avoided)
			older(&n.givenUp)
			if day {
				n.old, n.failures = n.old || n.failures > 0, 0
			}
		}
	})
	born := func(p *podObject) {
		if p.born |= aPeriod; day {
			p.born = never
		}
	}
	for i := range w.pods {
		born(&w.pods[i].podObject)
	}
	for _, c := range w.podCache {
		c.versions = slices.Clone(c.versions)
		for i := range c.versions {
			c.versions[i] = slices.Clone(c.versions[i])
			for k := range c.versions[i] {
				born(&c.versions[i][k])
			}
		}
		w.replaceCache(c)
	}
	w.moment++
	if day {
		w.moment, w.book.counts = never, [maxNodes]int8{}
	}
}

// keep gives what was decided its place in time.
func (w *world) keep(s *status) {
	for i := range s.nodes {
		for _, m := range []*moment{&s.nodes[i].avoided, &s.nodes[i].givenUp} {
			if *m == justNow {
				w.moment++
				*m = w.moment
			}
		}
	}
	just := []*moment{&s.broken} // what was decided at once has one moment
	for i := range s.lost {
		just = append(just, &s.lost[i].at, &s.lost[i].heard)
	}
	just = slices.DeleteFunc(just, func(m *moment) bool { return *m != justNow })
	if len(just) > 0 {
		w.moment++
	}
	for _, m := range just {
		*m = w.moment
	}
}

// where shows the node of a Pod.
func (p *podObject) where() string {
	switch {
	case p.node > 0:
		return "@" + nodeName(p.node)
	case p.node == nowhere:
		return "@?"
	}
	return ""
}
