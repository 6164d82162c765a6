/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// outdated reports whether a Pod was created before it was decided which nodes it avoids: it is on one of them, or has no
// node because it avoids one that was given up. One that was created later, and does, is left alone: nobody made it avoid
// the node, and nobody would make the next.
func (v *view) outdated(pod *facts.Member) bool {
	_, within := tolerance.Avoidance(v.asksToAvoid())
	for _, n := range nodeFailuresOf(v.JobSet) {
		switch node := pod.Node; {
		case node == n.Node && isAvoided(&n, within, v.Now):
			return !pod.Created().After(n.AvoidedSince.Time)
		case node == "" && n.GivenUpTime != nil && pod.Created().Before(n.GivenUpTime.Time):
			return true
		}
	}
	return false
}

// replaceOutdated deletes such Pods while the group assembles; the barrier waits for those in their place (P93, P94).
func replaceOutdated(v *view, before result) result {
	if v.running() || v.asksToAvoid() == nil || placement.HasPodsPlacedByQueue(v.JobSet) || len(nodeFailuresOf(v.JobSet)) == 0 || !v.waitsForWorkers(&before) {
		return result{}
	}
	pods := v.group.pods(func(s *Slot) bool { return s.State == SlotMember && v.outdated(s.Pod) })
	if len(pods) == 0 {
		return result{}
	}
	r := requeueAfter(gatherNodes) // a Pod that changed since it was read is not deleted
	r.holdsLift = true
	return r.and(deletePods(pods, constants.WorkersMovedReason,
		fmt.Sprintf("%d Pods were created before it was decided which nodes this JobSet avoids; they are deleted to be recreated: %s", len(pods), podNames(pods))))
}
