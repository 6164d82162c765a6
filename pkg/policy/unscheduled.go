/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// A Pod without a node stops the clock of the assembly (P48), since another Pod would find no node either. With
// spec.faultTolerance a group does not wait for it without end (P80a):
//
//	creation of the Pod
//	  + warmup              the condition Unhealthy says so, with the message of the scheduler
//	  + warmup + failure    the JobSet is reset, as with Recreate

// withoutNode returns the Pods of a group that assembles which have had no node for too long, and how long until the next has.
func (v *view) withoutNode() (late []*facts.Member, next time.Duration) {
	if v.running() || v.group.failing || v.group.unscheduled == 0 {
		return nil, 0
	}
	return due(v.group.pods(func(s *Slot) bool {
		return s.State == SlotMember && s.Pod.Node == "" && !s.reports(v.synced)
	}), v.warmupLeft)
}

// warmupLeft returns how long a Pod still has to find a node.
func (v *view) warmupLeft(pod *facts.Member) time.Duration {
	return v.left(v.tolerance.Warmup, pod.Created())
}

// unscheduledPods resets a group whose Pods find no node for too long.
func (v *view) unscheduledPods() result {
	late, next := v.withoutNode()
	if len(late) == 0 {
		return requeueAfter(next).and(tell(becomesFalse(jobset.JobSetUnhealthy, constants.PodsHealthyReason, "no Pod of the group has waited too long for a node")))
	}
	const reason = constants.PodsUnscheduledReason
	message := fmt.Sprintf("%d of %d Pods have no node %s after their creation: %s%s",
		len(late), v.group.size, v.tolerance.Warmup, podNames(late), parenthesized(late[0].Unscheduled))
	left := v.graceLeft()
	if left <= 0 {
		return v.resetUnscheduled(reason, message)
	}
	return requeueAfter(left).and(requeueAfter(next)).and(v.tellTrouble(reason, message))
}

// resetUnscheduled resets the JobSet, unless a read past the cache shows that the Pods have found their nodes. The break
// of a group that restarts was charged (P80).
func (v *view) resetUnscheduled(reason, message string) result {
	if !v.ChildrenRead {
		return result{ends: true, ask: Questions{ReadChildren: true}}
	}
	r, waits := v.waitForSuccess(true)
	if waits {
		return r
	}
	if !v.restartingInPlace() {
		return r.and(v.resetBecause(reason, message))
	}
	r = r.and(restartAll(reason, jobset.RestartJobSet,
		fmt.Sprintf("applying %s failure policy action (%s for more than %s)", jobset.RestartJobSet, message, v.tolerance.Failure), otherCause(message)))
	r.ends = true
	return r
}
