/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// Avoiding nodes never keeps a JobSet from running (P94). If a Pod finds no place for as long as a group may take to
// assemble, the node that has been avoided longest is used again:
//
//	in place   givenUpTime is written, then the Pods without a node are replaced: see outdated
//	else       givenUpTime is written with a reset, which is not charged
//
// One at a time, since another may be the worse one. A cluster that is full for another reason loses its
// knowledge of bad nodes in that way, one in each period: running counts more.

// giveUpNodes uses an avoided node again if Pods find no place without it.
func giveUpNodes(v *view, _ result) result {
	if v.asksToAvoid() == nil || v.suspendWanted() || v.running() && v.inPlace || v.inPlace != v.watched || placement.HasPodsPlacedByQueue(v.JobSet) {
		return result{}
	}
	avoided := v.longestAvoided()
	if avoided == nil {
		return result{}
	}
	late, next := v.withoutPlace(avoided.AvoidedSince.Time)
	switch {
	case len(late) == 0:
		return requeueAfter(next)
	case !v.watched && !v.ChildrenRead:
		return result{ends: true, ask: Questions{ReadChildren: true}}
	}
	message := fmt.Sprintf("%d Pods could not be scheduled within %s: %s%s; node %s, avoided since %s, is used again",
		len(late), v.tolerance.Warmup, podNames(late), parenthesized(late[0].Unscheduled), avoided.Node, avoided.AvoidedSince.UTC().Format(time.RFC3339))
	r := tell(warning(constants.AvoidedNodeGivenUpReason, message))
	r.reports.Outcomes = []Outcome{GaveUpNode}
	if !v.watched {
		r = tell(silently(jobset.JobSetRestarting, metav1.ConditionTrue, constants.AvoidedNodeGivenUpReason,
			message+"; all Jobs are recreated, which does not count towards maxRestarts")).and(r)
		r.changes, r.reports.Restart, r.ends = restartAllJobs, jobset.RestartJobSetAndIgnoreMaxRestarts, true
		r.began = &jobset.RestartRecord{Kind: jobset.RestartedAllJobs, Reason: constants.AvoidedNodeGivenUpReason, Planned: true, Cause: otherCause(message)}
	}
	r.nodeFailures = v.without(avoided.Node)
	return r
}

// longestAvoided returns the node that has been avoided longest, nil if none is.
func (v *view) longestAvoided() *jobset.NodeFailures {
	_, within := tolerance.Avoidance(v.asksToAvoid())
	var longest *jobset.NodeFailures
	list := nodeFailuresOf(v.JobSet)
	for i := range list {
		if n := &list[i]; isAvoided(n, within, v.Now) && (longest == nil || n.AvoidedSince.Before(longest.AvoidedSince)) {
			longest = n
		}
	}
	return longest
}

// withoutPlace returns the Pods that avoid a node since some time and have found no other for too long, and how long until the
// next has. A Pod from before that does not avoid it, and one that is about to be replaced has not tried yet.
func (v *view) withoutPlace(avoidedSince time.Time) (late []*facts.Member, next time.Duration) {
	var waiting []*facts.Member
	for _, job := range withoutTerminating(v.observed.Active...) {
		for _, pod := range v.Pods[job.UID] {
			if pod.Node != "" || pod.Gated || !pod.Live() {
				continue
			}
			if pod.Unscheduled == "" || pod.Created().Before(avoidedSince.Truncate(time.Second)) || v.outdated(pod) {
				continue
			}
			waiting = append(waiting, pod)
		}
	}
	return due(sortByName(waiting), v.warmupLeft)
}

// without is the list with a node that is given up. What is counted stays, and it is not avoided again soon.
func (v *view) without(node string) *nodeFailures {
	list := slices.Clone(nodeFailuresOf(v.JobSet))
	for i := range list {
		if list[i].Node == node {
			list[i].AvoidedSince, list[i].GivenUpTime = nil, ptr.To(metav1.NewTime(wholeSecond(v.Now)))
		}
	}
	return &nodeFailures{list}
}
