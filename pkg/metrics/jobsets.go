/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"time"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// summary holds the values of the gauges at one moment.
type summary struct {
	// assembling is how many groups assemble, and longest the longest time that one of them has done so.
	assembling int
	longest    time.Duration
	// nearlySpent is how many JobSets have used most of their restarts.
	nearlySpent int
	// notReady is how many workers of running groups are not ready, and notReadyFor the longest time of one.
	notReady    int
	notReadyFor time.Duration
	// stuckFor is the longest time since a Pod that still exists should have been gone.
	stuckFor time.Duration
	toleranceSummary
}

// summarize reads every JobSet once, and the Leases of the few Pods that say something. It skips those that this controller does not manage: their
// status may be out of date.
func summarize(jobSets []*jobset.JobSet, pods []*facts.Member, reporting facts.Leases, gates gates.Set, now time.Time) summary {
	var s summary
	groups := map[string]*jobset.JobSet{}
	for _, js := range jobSets {
		if js.DeletionTimestamp != nil || !managedHere(js) {
			continue
		}
		s.toleranceSummary.add(js, gates, now)
		if finished(js) {
			continue
		}
		if nearlySpent(js) {
			s.nearlySpent++
		}
		if since, ok := assemblingSince(js); ok {
			s.assembling++
			s.longest = max(s.longest, now.Sub(since))
		}
		if workerpod.RestartsInPlace(js, gates) {
			groups[string(js.UID)] = js
		}
	}
	for _, pod := range pods {
		s.addPod(groups, pod, reporting, now)
	}
	return s
}

// addPod adds one Pod of the cache. Nearly all are running and ready, and say nothing.
func (s *summary) addPod(groups map[string]*jobset.JobSet, m *facts.Member, reporting facts.Leases, now time.Time) {
	if m.Ended() || !m.Terminating() && m.Readiness == facts.Ready {
		return
	}
	js := groups[m.Labels[jobset.JobSetUIDKey]]
	switch {
	case js == nil:
		return
	case m.Terminating():
		s.stuckFor = max(s.stuckFor, now.Sub(m.Deadline))
		return
	}
	m = facts.Join(m, reporting.Of(m), ptr.Deref(js.Status.SyncedEpoch, 0))
	if policy.RunsAt(js, m) {
		readiness, since := policy.UnreadySince(js, m)
		if late, _ := policy.Late(readiness, since, now, 0); late {
			s.notReady++
			s.notReadyFor = max(s.notReadyFor, now.Sub(since))
		}
	}
}

// withAgents returns how many JobSets have agents that may still run.
func withAgents(jobSets []*jobset.JobSet) int {
	n := 0
	for _, js := range jobSets {
		if workerpod.WantsInPlace(js) && js.DeletionTimestamp == nil && !finished(js) {
			n++
		}
	}
	return n
}

// assemblingSince returns since when the group of a JobSet has been assembling, if it is (P20, P24).
func assemblingSince(js *jobset.JobSet) (time.Time, bool) {
	if policy.Bypassed(js) || policy.Runs(js) || ptr.Deref(js.Spec.Suspend, false) {
		return time.Time{}, false
	}
	if js.Status.AssemblingSince != nil {
		return js.Status.AssemblingSince.Time, true
	}
	// Without deadlines the status does not have that time. A restart still has its condition, a start has nothing.
	c := policy.IfTrue(js, jobset.JobSetRestarting)
	if c == nil || c.Reason != constants.InPlaceRestartReason {
		return time.Time{}, false
	}
	return c.LastTransitionTime.Time, true
}

// nearlySpent reports whether at least 80 % of maxRestarts are used. A JobSet that
// allows no restarts cannot run out of them.
func nearlySpent(js *jobset.JobSet) bool {
	var most int64
	switch {
	case js.Spec.FailurePolicy != nil:
		most = int64(js.Spec.FailurePolicy.MaxRestarts)
	case js.Status.FaultTolerance != nil:
		most = int64(js.Status.FaultTolerance.MaxRestarts)
	}
	return most >= 1 && policy.UsedRestarts(&js.Status)*5 >= most*4
}

func finished(js *jobset.JobSet) bool {
	return policy.IfTrue(js, jobset.JobSetCompleted) != nil || policy.IfTrue(js, jobset.JobSetFailed) != nil
}

func managedHere(js *jobset.JobSet) bool {
	return js.Spec.ManagedBy == nil || *js.Spec.ManagedBy == jobset.JobSetControllerName
}
