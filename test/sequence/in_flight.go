/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/pkg/facts"
)

// A period that passes while reports are in flight (P24c): on their way to the API server, or in Leases whose cache lags. Who
// is late is deleted, and who has reported by then is not.

// lateReporter is a Pod, by its Job and index.
type lateReporter struct {
	job   int16
	index int8
}

func inFlightCases() []searched {
	group, one := []replicatedJob{{"w", 1, 2, -1}}, [maxReplicatedJobs]int8{1}
	return []searched{
		{scenario{name: "Leases, a period passes with reports in flight", rjobs: group, containers: one, leases: 1, kinds: workerExit, left: budgets{failures: 1, pokes: 1}, maxRestarts: 2, lag: 1, lagInAll: 2, running: true, clock: true, inFlight: true}, bounded},
		{scenario{name: "Leases, first start, a period passes with reports in flight", rjobs: group, containers: one, leases: 1, kinds: leaseDeletion, left: budgets{pokes: 1}, maxRestarts: 1, lag: 1, lagInAll: 2, clock: true, inFlight: true}, bounded},
	}
}

// passesInFlight takes from a budget that a period passes, if it can, with reports in flight.
func (w *world) passesInFlight(d *decider) bool {
	if !w.sc.inFlight || w.left.pokes == 0 || !w.isIdle(d, true) {
		return false
	}
	w.left.pokes--
	return true
}

// lagOfOthers is how many events the caches are behind, but for those of Leases.
func (w *world) lagOfOthers() int {
	lag := w.lagInAll()
	for i := range w.leaseCache {
		lag -= w.leaseCache[i].lag()
	}
	return lag
}

// lateReporters are the Pods whose Leases a plan asks for.
func (d *decider) lateReporters(v view, pods []*facts.Member) (asked []lateReporter) {
	for _, p := range pods {
		for _, j := range v.jobs {
			if uidText(j.uid) == string(metav1.GetControllerOf(p).UID) {
				asked = append(asked, lateReporter{j.uid, int8(p.Index)})
			}
		}
	}
	return asked
}

// readLeases reads the Leases of Pods past the cache.
func (w *world) readLeases(seen [][]podObject, asked []lateReporter) [][]podObject {
	if w.sc.twist == lateByCache {
		return seen
	}
	seen = slices.Clone(seen)
	for i := range seen {
		seen[i] = slices.Clone(seen[i])
		for k := range seen[i] {
			p := &seen[i][k]
			if at := w.podAt(p.uid); at >= 0 && slices.Contains(asked, lateReporter{p.job, p.index}) {
				p.lease = w.pods[at].lease
			}
		}
	}
	return seen
}

// judgeLate checks that no Pod is about to be deleted for being late that has reported.
func (w *world) judgeLate(ops []op) error {
	js := w.jobSet.live()
	for _, o := range ops {
		if at := w.podAt(o.pod); w.sc.inFlight && o.kind == opDeletePod && !o.force && !o.moves && at >= 0 && w.pods[at].reports() == js.s+1 {
			return violates(4, "a Pod is deleted for being late, and has reported")
		}
	}
	return nil
}

// judgeDeleted checks that no group is lifted over a Pod that was deleted for being late and reported meanwhile.
func (w *world) judgeDeleted(_ basis, was, next status) error {
	for i := range w.pods {
		p := &w.pods[i]
		replaced := func(q pod) bool { return q.job == p.job && q.index == p.index && q.live() }
		if next.s != was.s && p.byUs && !slices.ContainsFunc(w.pods, replaced) {
			return violates(3, "S becomes %d over a Pod that was deleted for being late", next.s)
		}
	}
	return nil
}

// awaitsCache reports whether the cache has yet to show that the controller deleted a Pod.
func (w *world) awaitsCache() bool {
	if !w.sc.inFlight || w.sc.twist == earlyLook {
		return false
	}
	for i := range w.podCache {
		for _, p := range w.podCache[i].cached() {
			if at := w.podAt(p.uid); at >= 0 && w.pods[at].byUs && !p.deleting {
				return true
			}
		}
	}
	return false
}
