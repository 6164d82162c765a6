/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

import (
	"fmt"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// A Pod without a node stops the clock of the assembly (P48), since another Pod would find no node either. With
// spec.faultTolerance a group does not wait for it without end (P80a):
//
//	creation of the Pod
//	  + warmup              the condition Unhealthy says so, with the message of the scheduler
//	  + warmup + failure    the JobSet is reset, as with Recreate

// withoutNode returns the Pods of a group that assembles which have had no node for too long, and how long until the next has.
func withoutNode(v *view.View) (late []*facts.Member, next time.Duration) {
	if v.Running() || v.Group.Failing || v.Group.Unscheduled == 0 {
		return nil, 0
	}
	return view.Due(v.Group.Pods(func(s *view.Slot) bool {
		return s.State == view.SlotMember && s.Pod.Node == "" && !s.Reports(v.Synced)
	}), func(pod *facts.Member) time.Duration { return warmupLeft(v, pod) })
}

// warmupLeft returns how long a Pod still has to find a node.
func warmupLeft(v *view.View, pod *facts.Member) time.Duration {
	return v.Left(v.Settings.Warmup, pod.Created())
}

// unscheduledPods resets a group whose Pods find no node for too long.
func unscheduledPods(v *view.View) pass.Result {
	late, next := withoutNode(v)
	if len(late) == 0 {
		return pass.RequeueAfter(next).And(pass.Tell(pass.BecomesFalse(jobset.JobSetUnhealthy, constants.PodsHealthyReason, "no Pod of the group has waited too long for a node")))
	}
	const reason = constants.PodsUnscheduledReason
	message := fmt.Sprintf("%d of %d Pods have no node %s after their creation: %s%s",
		len(late), v.Group.Size, v.Settings.Warmup, view.PodNames(late), pass.Parenthesized(late[0].Unscheduled))
	left := graceLeft(v)
	if left <= 0 {
		return resetUnscheduled(v, reason, message)
	}
	return pass.RequeueAfter(left).And(pass.RequeueAfter(next)).And(tellTrouble(v, reason, message))
}

// resetUnscheduled resets the JobSet, unless a read past the cache shows that the Pods have found their nodes. The break
// of a group that restarts was charged (P80).
func resetUnscheduled(v *view.View, reason, message string) pass.Result {
	if !v.ChildrenRead {
		return pass.Result{Ends: true, Ask: pass.Questions{ReadChildren: true}}
	}
	r, waits := group.WaitForSuccess(v, true)
	if waits {
		return r
	}
	if !v.RestartingInPlace() {
		return r.And(resetBecause(v, reason, message))
	}
	r = r.And(jobs.RestartAll(reason, jobset.RestartJobSet,
		fmt.Sprintf("applying %s failure policy action (%s for more than %s)", jobset.RestartJobSet, message, v.Settings.Failure), pass.OtherCause(message)))
	r.Ends = true
	return r
}
