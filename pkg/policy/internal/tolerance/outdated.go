/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

import (
	"fmt"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// outdated reports whether a Pod was created before it was decided which nodes it avoids: it is on one of them, or has no
// node because it avoids one that was given up. One that was created later, and does, is left alone: nobody made it avoid
// the node, and nobody would make the next.
func outdated(v *view.View, pod *facts.Member) bool {
	_, within := tolerance.Avoidance(jobs.AsksToAvoid(v))
	for _, n := range jobs.NodeFailuresOf(v.JobSet) {
		switch node := pod.Node; {
		case node == n.Node && jobs.IsAvoided(&n, within, v.Now):
			return !pod.Created().After(n.AvoidedSince.Time)
		case node == "" && n.GivenUpTime != nil && pod.Created().Before(n.GivenUpTime.Time):
			return true
		}
	}
	return false
}

// ReplaceOutdated deletes such Pods while the group assembles; the barrier waits for those in their place (P93, P94).
func ReplaceOutdated(v *view.View, before pass.Result) pass.Result {
	if v.Running() || jobs.AsksToAvoid(v) == nil || placement.HasPodsPlacedByQueue(v.JobSet) || len(jobs.NodeFailuresOf(v.JobSet)) == 0 || !group.WaitsForWorkers(v, &before) {
		return pass.Result{}
	}
	pods := v.Group.Pods(func(s *view.Slot) bool { return s.State == view.SlotMember && outdated(v, s.Pod) })
	if len(pods) == 0 {
		return pass.Result{}
	}
	r := pass.RequeueAfter(pass.RecheckInterval)
	r.HoldsLift = true
	return r.And(pass.DeletePods(pods, constants.WorkersMovedReason,
		fmt.Sprintf("%d Pods were created before it was decided which nodes this JobSet avoids; they are deleted to be recreated: %s", len(pods), view.PodNames(pods))))
}
