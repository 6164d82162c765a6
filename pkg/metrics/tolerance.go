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
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
)

// toleranceSummary is what the gauges say about JobSets with spec.faultTolerance.
type toleranceSummary struct {
	// unhealthyFor is the longest time that one has not been as it should be, over resets that did not help.
	unhealthyFor time.Duration
	// heldFor is the longest time that something that should be gone has held up a reset or a quota.
	heldFor time.Duration
	// onSickNodes is how many have Pods on sick nodes that are not moved.
	onSickNodes int
	// avoided are the nodes that new Pods of a JobSet, or of several, avoid.
	avoided map[string]bool
}

// add adds a JobSet, finished or not. One without the status was not looked at: the gate is off.
func (s *toleranceSummary) add(js *jobset.JobSet, g gates.Set, now time.Time) {
	if js.Spec.FaultTolerance == nil || js.Status.FaultTolerance == nil {
		return
	}
	if since, held := heldSince(js); held {
		s.heldFor = max(s.heldFor, now.Sub(since))
	}
	if finished(js) {
		return
	}
	for _, kind := range []jobset.JobSetConditionType{jobset.JobSetUnhealthy, jobset.JobSetRestarting} {
		// A restart in place has gauges of its own.
		if c := policy.IfTrue(js, kind); c != nil && c.Reason != constants.InPlaceRestartReason {
			s.unhealthyFor = max(s.unhealthyFor, now.Sub(c.LastTransitionTime.Time))
		}
	}
	if policy.IfTrue(js, jobset.JobSetOnSickNodes) != nil {
		s.onSickNodes++
	}
	for _, node := range policy.AvoidedNodes(js, g, now) {
		if s.avoided == nil {
			s.avoided = map[string]bool{}
		}
		s.avoided[node] = true
	}
}

// heldSince returns since when Jobs or Pods should have been gone, if some are still there: those of a
// reset, or those of a JobSet that has ended or is suspended (P82, P86).
func heldSince(js *jobset.JobSet) (time.Time, bool) {
	known := js.Status.FaultTolerance
	if reset := known.Reset; reset != nil && reset.JobsGoneTime == nil && !finished(js) {
		return reset.StartTime.Time, true
	}
	if policy.IfTrue(js, jobset.JobSetResourcesDeployed) == nil {
		return time.Time{}, false
	}
	for _, kind := range []jobset.JobSetConditionType{jobset.JobSetCompleted, jobset.JobSetFailed} {
		if c := policy.IfTrue(js, kind); c != nil {
			since := c.LastTransitionTime.Time
			if kept := known.PodsKeptUntil; kept != nil && kept.After(since) {
				since = kept.Time // until then they are kept on purpose (P87)
			}
			return since, true
		}
	}
	if c := policy.IfTrue(js, jobset.JobSetSuspended); c != nil && ptr.Deref(js.Spec.Suspend, false) {
		return c.LastTransitionTime.Time, true
	}
	return time.Time{}, false
}
