/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

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
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
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

// GiveUpNodes uses an avoided node again if Pods find no place without it.
func GiveUpNodes(v *view.View, _ pass.Result) pass.Result {
	if jobs.AsksToAvoid(v) == nil || v.SuspendWanted() || v.Running() && v.InPlace || v.InPlace != v.Watched || placement.HasPodsPlacedByQueue(v.JobSet) {
		return pass.Result{}
	}
	avoided := longestAvoided(v)
	if avoided == nil {
		return pass.Result{}
	}
	late, next := withoutPlace(v, avoided.AvoidedSince.Time)
	switch {
	case len(late) == 0:
		return pass.RequeueAfter(next)
	case !v.Watched && !v.ChildrenRead:
		return pass.Result{Ends: true, Ask: pass.Questions{ReadChildren: true}}
	}
	message := fmt.Sprintf("%d Pods could not be scheduled within %s: %s%s; node %s, avoided since %s, is used again",
		len(late), v.Settings.Warmup, view.PodNames(late), pass.Parenthesized(late[0].Unscheduled), avoided.Node, avoided.AvoidedSince.UTC().Format(time.RFC3339))
	r := pass.Tell(pass.Warning(constants.AvoidedNodeGivenUpReason, message))
	r.Reports.Outcomes = []pass.Outcome{pass.GaveUpNode}
	if !v.Watched {
		r = pass.Tell(pass.Silently(jobset.JobSetRestarting, metav1.ConditionTrue, constants.AvoidedNodeGivenUpReason,
			message+"; all Jobs are recreated, which does not count towards maxRestarts")).And(r)
		r.Changes, r.Reports.Restart, r.Ends = pass.RestartAllJobs, jobset.RestartJobSetAndIgnoreMaxRestarts, true
		r.Began = &jobset.RestartRecord{Kind: jobset.RestartedAllJobs, Reason: constants.AvoidedNodeGivenUpReason, Planned: true, Cause: pass.OtherCause(message)}
	}
	r.NodeFailures = without(v, avoided.Node)
	return r
}

// longestAvoided returns the node that has been avoided longest, nil if none is.
func longestAvoided(v *view.View) *jobset.NodeFailures {
	_, within := tolerance.Avoidance(jobs.AsksToAvoid(v))
	var longest *jobset.NodeFailures
	list := jobs.NodeFailuresOf(v.JobSet)
	for i := range list {
		if n := &list[i]; jobs.IsAvoided(n, within, v.Now) && (longest == nil || n.AvoidedSince.Before(longest.AvoidedSince)) {
			longest = n
		}
	}
	return longest
}

// withoutPlace returns the Pods that avoid a node since some time and have found no other for too long, and how long until the
// next has. A Pod from before that does not avoid it, and one that is about to be replaced has not tried yet.
func withoutPlace(v *view.View, avoidedSince time.Time) (late []*facts.Member, next time.Duration) {
	var waiting []*facts.Member
	for _, job := range pass.WithoutTerminating(v.Observed.Active...) {
		for _, pod := range v.Pods[job.UID] {
			if pod.Node != "" || pod.Gated || !pod.Live() {
				continue
			}
			if pod.Unscheduled == "" || pod.Created().Before(avoidedSince.Truncate(time.Second)) || outdated(v, pod) {
				continue
			}
			waiting = append(waiting, pod)
		}
	}
	return view.Due(view.SortByName(waiting), func(pod *facts.Member) time.Duration { return warmupLeft(v, pod) })
}

// without is the list with a node that is given up. What is counted stays, and it is not avoided again soon.
func without(v *view.View, node string) *pass.NodeFailures {
	list := slices.Clone(jobs.NodeFailuresOf(v.JobSet))
	for i := range list {
		if list[i].Node == node {
			list[i].AvoidedSince, list[i].GivenUpTime = nil, ptr.To(metav1.NewTime(wholeSecond(v.Now)))
		}
	}
	return &pass.NodeFailures{List: list}
}
