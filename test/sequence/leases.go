/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"

	"sigs.k8s.io/jobset/pkg/facts"
)

// A Pod whose agent reports in a Lease has two places that say what it reports (P152). Each has its own cache, which lags on
// its own; a Pod as the controller sees it has the Lease that the other cache has for its UID.

// lease is what matters of the Lease of a Pod.
type lease struct {
	pod          int16
	index, epoch int8
}

// leasesOfJob are the Leases of the Pods of a Job, and how far the cache is behind them.
type leasesOfJob struct {
	job int16
	history[[]lease]
}

// leaseCases are those of groups that report in Leases.
func leaseCases() []searched {
	one, each := [maxReplicatedJobs]int8{1}, [maxReplicatedJobs]int8{1, 1}
	group := []replicatedJob{{"w", 1, 2, -1}}
	mixed := []replicatedJob{{"w", 1, 1, -1}, {"v", 1, 1, -1}}
	return []searched{
		{scenario{name: "Leases, 1 worker exit", rjobs: group, containers: one, leases: 1, kinds: workerExit, left: budgets{failures: 1}, lag: 1, lagInAll: 2, running: true}, quick},
		{scenario{name: "Leases, 1 failure", rjobs: group, containers: one, leases: 1, left: budgets{failures: 1}, lag: 1, lagInAll: 2, running: true, refusals: true}, bounded},
		{scenario{name: "Leases, 2 failures", rjobs: group, containers: one, leases: 1, kinds: workerExit | podDeleted | podFailure | leaseDeletion, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "Leases, late reports, refusals", rjobs: group, containers: one, leases: 1, kinds: workerExit | agentCrash, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, lateReports: true, refusals: true}, bounded},
		{scenario{name: "Leases in a group that mixes, 1 failure", rjobs: mixed, containers: each, leases: 1, kinds: everyProcessFailure | leaseDeletion, left: budgets{failures: 1}, lag: 1, lagInAll: 2, running: true, refusals: true}, bounded},
		{scenario{name: "Leases beside container mode, exits", rjobs: mixed, containers: one, leases: 1, kinds: workerExit | exitZero, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "Leases, a driver succeeds, worker exits", rjobs: driverAndWorker, containers: each, leases: 3, success: success{targets: 1}, kinds: exitZero | workerExit, left: budgets{failures: 2}, lag: 1, lagInAll: 2, running: true}, bounded},
		{scenario{name: "Leases, worker exits, new leader with an empty cache", rjobs: group, containers: one, leases: 1, kinds: workerExit | podDeleted, left: budgets{failures: 1, leaders: 1}, lag: 1, lagInAll: 1, oldCaches: true, running: true}, bounded},
		{scenario{name: "Leases, managers of both versions", rjobs: group, containers: one, leases: 1, kinds: workerExit | podDeleted, left: budgets{failures: 1, leaders: 2}, lag: 1, lagInAll: 1, versions: true, running: true}, bounded},
		{scenario{name: "Leases, first start, managers of both versions", rjobs: mixed, containers: each, leases: 3, kinds: workerExit | leaseDeletion, left: budgets{failures: 1, leaders: 1}, lag: 1, lagInAll: 1, versions: true}, bounded},
	}
}

// inLease reports whether the agent of a Pod reports in a Lease.
func (w *world) inLease(p *pod) bool {
	if w.sc.leases == 0 {
		return false
	}
	j := w.jobOf(p.job)
	return j != nil && has(w.sc.leases, int(j.rjob))
}

// keepsToLease is the fault repeatsInLease.
func (w *world) keepsToLease(p *pod) bool { return w.sc.twist == repeatsInLease && w.inLease(p) }

// repeats is a report that is repeated: in the Lease, and then in the Pod (P154).
func (w *world) repeats(p *pod) {
	if w.inLease(p) && p.lease != p.agent.epoch {
		p.lease = p.agent.epoch
		return
	}
	p.epoch = p.agent.epoch
}

// reports is the epoch that a Pod reports in either place. No scenario with Leases has epochs that count for nothing.
func (p *podObject) reports() int8 {
	if p.lease == 0 {
		return p.epoch
	}
	return max(p.epoch, p.lease)
}

// reporting is a Pod with its report, by the code under test.
func (o *objects) reporting(v podObject, of job, synced int8) *facts.Member {
	pod := o.pod(v, of)
	if v.lease == 0 {
		return pod
	}
	return facts.Join(pod, &facts.Lease{Report: facts.Report{Reported: facts.Reported{Epoch: int32(v.lease)}}}, int32(synced))
}

// withoutLeases is what the API server shows of Pods.
func withoutLeases(pods []podObject) []podObject {
	for i := range pods {
		pods[i].lease = 0
	}
	return pods
}

// withLeases is how the controller sees Pods of a Job, with the Leases of its cache.
func (w *world) withLeases(job int16, pods []podObject) []podObject {
	if w.sc.leases == 0 {
		return pods
	}
	seen := withoutLeases(slices.Clone(pods))
	at := slices.IndexFunc(w.leaseCache, func(c leasesOfJob) bool { return c.job == job })
	if at < 0 || w.ignorant {
		return seen
	}
	for _, l := range w.leaseCache[at].cached() {
		for i := range seen {
			if seen[i].uid == l.pod {
				seen[i].lease = l.epoch
			}
		}
	}
	return seen
}

// publishLeases lets the cache know, some time, how the Leases of a Job are now. Those of Pods that are gone go some time
// later, with another change: the garbage collector takes its time.
func (w *world) publishLeases(job int16) {
	if w.sc.leases == 0 {
		return
	}
	var now []lease
	for i := range w.pods {
		if p := &w.pods[i]; p.job == job && p.lease != 0 {
			now = append(now, lease{p.uid, p.index, p.lease})
		}
	}
	at := slices.IndexFunc(w.leaseCache, func(c leasesOfJob) bool { return c.job == job })
	if at < 0 {
		w.leaseCache = append(slices.Clip(w.leaseCache), leasesOfJob{job, newHistory[[]lease](nil)})
		at = len(w.leaseCache) - 1
	}
	known := w.leaseCache[at].live()
	gone := func(l lease) bool { return w.podAt(l.pod) < 0 }
	if !slices.Equal(now, slices.DeleteFunc(slices.Clone(known), gone)) {
		w.leaseCache = slices.Clone(w.leaseCache)
		w.leaseCache[at].history = w.leaseCache[at].write(now, w.sc.lag)
	}
}

func (w *world) seeLeases(job int16) {
	w.leaseCache = slices.Clone(w.leaseCache)
	for i := range w.leaseCache {
		if w.leaseCache[i].job == job {
			w.leaseCache[i].history = w.leaseCache[i].advance()
		}
	}
}

// emptyLeases is a new leader whose cache of Leases has nothing yet.
func (w *world) emptyLeases() {
	w.leaseCache = slices.Clone(w.leaseCache)
	for i := range w.leaseCache {
		w.leaseCache[i].history = newHistory[[]lease](nil).write(w.leaseCache[i].live(), 1)
	}
}

func (w *world) forgetLeases() {
	w.leaseCache = slices.Clone(w.leaseCache)
	for i := range w.leaseCache {
		w.leaseCache[i].history = w.leaseCache[i].forget()
	}
}

// tidyLeases drops the caches of Jobs that are gone for everybody.
func (w *world) tidyLeases() {
	w.leaseCache = slices.DeleteFunc(slices.Clone(w.leaseCache), func(c leasesOfJob) bool {
		return !slices.ContainsFunc(w.jobs.versions, func(jobs []job) bool {
			return slices.ContainsFunc(jobs, func(j job) bool { return j.uid == c.job })
		})
	})
}

// leases writes what there is of Leases. Without them it writes nothing.
func (e *encoder) leases(w *world) {
	for i := range w.leaseCache {
		c := &w.leaseCache[i]
		e.uid(c.job)
		e.byte(int8(len(c.versions)), int8(c.place))
		for _, version := range c.versions {
			e.byte(int8(len(version)))
			for _, at := range e.inOrder(len(version), func(i int) int8 { return e.index(c.job, version[i].index) }) {
				e.uid(version[at].pod)
				e.byte(e.index(c.job, version[at].index), version[at].epoch)
			}
		}
	}
	if w.sc.versions {
		e.bits(w.ignorant)
	}
}
