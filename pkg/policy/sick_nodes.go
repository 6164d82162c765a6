/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/placement"
)

// A node gets a label that says a resource of it is sick. Pods that use the resource are moved off it (P92):
//
//	           in place                                           else
//	running    D := S, uncharged, then as below                   reset: all Jobs are recreated, uncharged
//	assembling delete these Pods; the barrier waits for those     reset
//	           that come in their place
//
// In place needs a group, and that a new Pod comes soon, and not back to the node: see byReset. No restart
// is charged, but none is begun either once the budget is spent: a node whose label comes and goes
// must not use up what failures need.

// A label that comes and goes must not restart the group each time (P92a): soon after a move it has to last.
const (
	calmAfterMove = 10 * time.Minute
	lastingMark   = time.Minute
)

// mayMove reports whether Pods of this JobSet are moved at all. A group that is not watched is left alone (P20).
func (v *view) mayMove() bool {
	return v.tolerant && !v.finished && !v.suspendWanted() && (v.watched || v.restartStrategy() != jobset.InPlaceRestart)
}

// findMove looks for Pods to move.
func (v *view) findMove() move {
	m := move{nodes: map[string]nodehealth.Mark{}, queued: map[string]nodehealth.Mark{}}
	if !v.mayMove() {
		return m
	}
	if v.watched && v.running() && v.group.success.any() {
		m.byReset = v.group.success.words(v.synced)
	}
	for _, job := range withoutTerminating(v.observed.Active...) {
		template, before := &job.Spec.Template.Spec, len(m.pods)
		placedByQueue := placement.PlacedByQueue(template)
		for _, pod := range v.Pods[job.UID] {
			marks := nodehealth.Moving(template, v.SickNodes.Marked[pod.Node])
			if len(marks) == 0 || pod.Terminating() || pod.Phase == corev1.PodFailed || pod.EndedWell {
				continue
			}
			if placedByQueue {
				m.queued[pod.Node] = marks[0]
				continue
			}
			m.pods = append(m.pods, pod)
			m.nodes[pod.Node] = marks[0]
			if !nodehealth.Avoids(template, marks) {
				m.byReset = cmp.Or(m.byReset, fmt.Sprintf("Job %s was built without the affinity that keeps its Pods away from there", job.Name))
			}
		}
		if moved := m.pods[before:]; len(moved) > 0 {
			if wait := replacedAfter(job, moved); wait > longestReplacement {
				m.byReset = cmp.Or(m.byReset, fmt.Sprintf("the Job controller would wait %s before it replaces Pods of Job %s", wait, job.Name))
			}
		}
	}
	m.pods = sortByName(m.pods)
	return m
}

func (m *move) none() bool { return len(m.pods) == 0 }

// String says which Pods have to move, and why.
func (m *move) String() string {
	return fmt.Sprintf("%d Pods run on %d nodes with a label of effect NoExecute: %s%s", len(m.pods), len(m.nodes), podNames(m.pods), m.where())
}

// where says on which nodes, and because of what.
func (m *move) where() string {
	names := make([]string, 0, len(m.nodes))
	for node, mark := range m.nodes {
		names = append(names, fmt.Sprintf("%s (%s)", node, mark))
	}
	slices.Sort(names)
	return " on " + firstOf(names)
}

// movesInPlace reports whether Pods that have to move do so by a restart in place.
func (v *view) movesInPlace() bool { return v.watched && v.move.byReset == "" }

// resetOffNodes moves Pods off sick nodes by recreating all Jobs, if they cannot be moved in place.
func resetOffNodes(v *view, _ result) result {
	if v.move.none() || v.movesInPlace() || v.failureComesFirst() {
		return result{}
	}
	r, waits := v.beforeMove()
	if waits {
		return r
	}
	if v.watched {
		wait, waits := v.waitForSuccess(true)
		if r = r.and(wait); waits {
			return r
		}
	}
	message := fmt.Sprintf("%s; all Jobs are recreated, which does not count towards maxRestarts", &v.move)
	if v.watched {
		message += ", and not restarted in place: " + v.move.byReset + v.savesFirst()
	}
	r.changes |= restartAllJobs | deprecate | breaksGroup | planned
	r = r.and(tell(silently(jobset.JobSetRestarting, metav1.ConditionTrue, constants.MovedOffNodesReason, message),
		warning(constants.MovedOffNodesReason, message)))
	r.reports.Restart, r.reports.Outcomes = jobset.RestartJobSetAndIgnoreMaxRestarts, []Outcome{MovedByReset}
	r.began = &jobset.RestartRecord{Kind: jobset.RestartedAllJobs, Reason: constants.MovedOffNodesReason, Planned: true, Cause: otherCause(v.move.String())}
	r.ends = true
	return r
}

// moveInPlace moves Pods off sick nodes by a group restart, or by deleting them if the group assembles anyway.
func moveInPlace(v *view, _ result) result {
	m := &v.move
	switch {
	case m.none() || !v.movesInPlace():
		return result{}
	case !v.running():
		r := requeueAfter(gatherNodes) // a Pod that changed since it was read is not deleted
		r.remember.Moving = true
		return r.and(deletePods(m.pods, constants.WorkersMovedReason, m.String()+"; they are deleted to be recreated elsewhere"))
	case v.failureComesFirst():
		return result{}
	}
	r, waits := v.beforeMove()
	if waits {
		return r
	}
	wait, waits := v.waitForSuccess(false)
	if r = r.and(wait); waits {
		return r
	}
	restart := v.restartGroup(m.String()+", and move, which does not count towards maxRestarts"+v.savesFirst(), otherCause(m.String()), deprecate)
	restart.changes |= planned
	restart.began.Planned = true
	restart.reports.Outcomes = append(restart.reports.Outcomes, MovedInPlace)
	return r.and(restart)
}

// failureComesFirst reports whether something failed that has its own restart, which is charged. Pods
// that have to move do so on the way. A move does not wait for Pods that may still heal.
func (v *view) failureComesFirst() bool {
	if slices.ContainsFunc(v.observed.Active, func(job *batchv1.Job) bool { return hasCondition(job, batchv1.JobFailureTarget) }) {
		return true
	}
	if !v.watched {
		return v.resetIsDue()
	}
	return v.running() && (v.group.lacking != nil || v.reporter() != nil)
}

// beforeMove holds a restart back that moves Pods: indefinitely if the budget is spent, else for a moment in
// which more nodes may be marked.
func (v *view) beforeMove() (r result, waits bool) {
	if v.budgetSpent() {
		return result{}, true // moveRefused says so
	}
	left := gatherNodes
	if v.movedLately() {
		left = lastingMark
	}
	if !v.SickNodes.Since.IsZero() {
		left -= v.Now.Sub(v.SickNodes.Since)
	}
	r = requeueAfter(left)
	r.remember.Moving = true
	return r, left > 0
}

// movedLately reports whether the last move was a short time ago. A clock that was put back does not make it longer than that.
func (v *view) movedLately() bool {
	known := v.JobSet.Status.FaultTolerance
	if known == nil || known.LastMoveTime == nil {
		return false
	}
	ago := v.Now.Sub(known.LastMoveTime.Time)
	return ago > -calmAfterMove && ago < calmAfterMove
}

// moveRefused keeps the condition that says that Pods stay on sick nodes because the budget is spent.
func moveRefused(v *view, before result) result {
	if !v.tolerant {
		return result{} // forgetTolerance ends it
	}
	refused := !v.move.none() && !before.terminal(v) && v.budgetSpent() && (!v.movesInPlace() || before.staysRunning(v))
	reported := v.trueCondition(jobset.JobSetOnSickNodes)
	switch {
	case refused: // the message has no Pods: each that ends would cost a write of the status
		r := tell(becomesTrue(jobset.JobSetOnSickNodes, constants.MoveRefusedReason,
			fmt.Sprintf("Pods run%s with a label of effect NoExecute; they are not moved, since maxRestarts is used up", v.move.where())))
		if reported == nil {
			r.reports.Outcomes = []Outcome{MoveRefused}
		}
		return r
	case reported != nil && (!v.mayMove() || before.terminal(v)):
		return tell(silently(jobset.JobSetOnSickNodes, metav1.ConditionFalse, constants.HealthNotWatchedReason, constants.MovesNotWatchedMessage))
	case reported != nil:
		return tell(silently(jobset.JobSetOnSickNodes, metav1.ConditionFalse, constants.NotOnSickNodesReason, constants.NotOnSickNodesMessage))
	}
	return result{}
}
