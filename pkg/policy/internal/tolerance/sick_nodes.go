/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

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
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// A node gets a label that says a resource of it is sick. Pods that use the resource are moved off it (P92):
//
//	           in place                                           else
//	running    D := S, uncharged, then as below                   reset: all Jobs are recreated, uncharged
//	assembling delete these Pods; the barrier waits for those     reset
//	           that come in their place
//
// In place needs a group, and that a new Pod comes soon, and not back to the node: see ByReset. No restart
// is charged, but none is begun either once the budget is spent: a node whose label comes and goes
// must not use up what failures need.

// gatherNodes is how long a move waits for more nodes to be marked: a switch or a rack fails as a whole.
const gatherNodes = time.Second

// A label that comes and goes must not restart the group each time (P92a): soon after a move it has to last.
const (
	calmAfterMove = 10 * time.Minute
	lastingMark   = time.Minute
)

// mayMove reports whether Pods of this JobSet are moved at all. A group that is not watched is left alone (P20).
func mayMove(v *view.View) bool {
	return v.Tolerant && !v.Finished && !v.SuspendWanted() && (v.Watched || v.RestartStrategy() != jobset.InPlaceRestart)
}

// FindMove looks for Pods to move.
func FindMove(v *view.View) view.Move {
	m := view.Move{Nodes: map[string]nodehealth.Mark{}, Queued: map[string]nodehealth.Mark{}}
	if !mayMove(v) {
		return m
	}
	if v.Watched && v.Running() && v.Group.Success.Any() {
		m.ByReset = v.Group.Success.Words(v.Synced)
	}
	for _, job := range pass.WithoutTerminating(v.Observed.Active...) {
		template, before := &job.Spec.Template.Spec, len(m.Pods)
		placedByQueue := placement.PlacedByQueue(template)
		for _, pod := range v.Pods[job.UID] {
			marks := nodehealth.Moving(template, v.SickNodes.Marked[pod.Node])
			if len(marks) == 0 || pod.Terminating() || pod.Phase == corev1.PodFailed || pod.EndedWell {
				continue
			}
			if placedByQueue {
				m.Queued[pod.Node] = marks[0]
				continue
			}
			m.Pods = append(m.Pods, pod)
			m.Nodes[pod.Node] = marks[0]
			if !nodehealth.Avoids(template, marks) {
				m.ByReset = cmp.Or(m.ByReset, fmt.Sprintf("Job %s was built without the affinity that keeps its Pods away from there", job.Name))
			}
		}
		if moved := m.Pods[before:]; len(moved) > 0 {
			if wait := view.ReplacedAfter(job, moved); wait > view.LongestReplacement {
				m.ByReset = cmp.Or(m.ByReset, fmt.Sprintf("the Job controller would wait %s before it replaces Pods of Job %s", wait, job.Name))
			}
		}
	}
	m.Pods = view.SortByName(m.Pods)
	return m
}

// movesInPlace reports whether Pods that have to move do so by a restart in place.
func movesInPlace(v *view.View) bool { return v.Watched && v.Move.ByReset == "" }

// ResetOffNodes moves Pods off sick nodes by recreating all Jobs, if they cannot be moved in place.
func ResetOffNodes(v *view.View, _ pass.Result) pass.Result {
	if v.Move.None() || movesInPlace(v) || FailureComesFirst(v) {
		return pass.Result{}
	}
	r, waits := beforeMove(v)
	if waits {
		return r
	}
	if v.Watched {
		wait, waits := group.WaitForSuccess(v, true)
		if r = r.And(wait); waits {
			return r
		}
	}
	message := fmt.Sprintf("%s; all Jobs are recreated, which does not count towards maxRestarts", &v.Move)
	if v.Watched {
		message += ", and not restarted in place: " + v.Move.ByReset + group.SavesFirst(v)
	}
	r.Changes |= pass.RestartAllJobs | pass.Deprecate | pass.BreaksGroup | pass.Planned
	r = r.And(pass.Tell(pass.Silently(jobset.JobSetRestarting, metav1.ConditionTrue, constants.MovedOffNodesReason, message),
		pass.Warning(constants.MovedOffNodesReason, message)))
	r.Reports.Restart, r.Reports.Outcomes = jobset.RestartJobSetAndIgnoreMaxRestarts, []pass.Outcome{pass.MovedByReset}
	r.Began = &jobset.RestartRecord{Kind: jobset.RestartedAllJobs, Reason: constants.MovedOffNodesReason, Planned: true, Cause: pass.OtherCause(v.Move.String())}
	r.Ends = true
	return r
}

// MoveInPlace moves Pods off sick nodes by a group restart, or by deleting them if the group assembles anyway.
func MoveInPlace(v *view.View, _ pass.Result) pass.Result {
	m := &v.Move
	switch {
	case m.None() || !movesInPlace(v):
		return pass.Result{}
	case !v.Running():
		r := pass.RequeueAfter(pass.RecheckInterval)
		r.Remember.Moving = true
		return r.And(pass.DeletePods(m.Pods, constants.WorkersMovedReason, m.String()+"; they are deleted to be recreated elsewhere"))
	case FailureComesFirst(v):
		return pass.Result{}
	}
	r, waits := beforeMove(v)
	if waits {
		return r
	}
	wait, waits := group.WaitForSuccess(v, false)
	if r = r.And(wait); waits {
		return r
	}
	restart := group.Restart(v, m.String()+", and move, which does not count towards maxRestarts"+group.SavesFirst(v), pass.OtherCause(m.String()), pass.Deprecate)
	restart.Changes |= pass.Planned
	restart.Began.Planned = true
	restart.Reports.Outcomes = append(restart.Reports.Outcomes, pass.MovedInPlace)
	return r.And(restart)
}

// FailureComesFirst reports whether something failed that has its own restart, which is charged. Pods
// that have to move do so on the way. A move does not wait for Pods that may still heal.
func FailureComesFirst(v *view.View) bool {
	if slices.ContainsFunc(v.Observed.Active, func(job *batchv1.Job) bool { return view.HasCondition(job, batchv1.JobFailureTarget) }) {
		return true
	}
	if !v.Watched {
		return resetIsDue(v)
	}
	return v.Running() && (v.Group.Lacking != nil || v.Reporter() != nil)
}

// beforeMove holds a restart back that moves Pods: indefinitely if the budget is spent, else for a moment in
// which more nodes may be marked.
func beforeMove(v *view.View) (r pass.Result, waits bool) {
	if jobs.BudgetSpent(v) {
		return pass.Result{}, true // MoveRefused says so
	}
	left := gatherNodes
	if movedLately(v) {
		left = lastingMark
	}
	if !v.SickNodes.Since.IsZero() {
		left -= v.Now.Sub(v.SickNodes.Since)
	}
	r = pass.RequeueAfter(left)
	r.Remember.Moving = true
	return r, left > 0
}

// movedLately reports whether the last move was a short time ago. A clock that was put back does not make it longer than that.
func movedLately(v *view.View) bool {
	known := v.JobSet.Status.FaultTolerance
	if known == nil || known.LastMoveTime == nil {
		return false
	}
	ago := v.Now.Sub(known.LastMoveTime.Time)
	return ago > -calmAfterMove && ago < calmAfterMove
}

// MoveRefused keeps the condition that says that Pods stay on sick nodes because the budget is spent.
func MoveRefused(v *view.View, before pass.Result) pass.Result {
	if !v.Tolerant {
		return pass.Result{} // forgetTolerance ends it
	}
	refused := !v.Move.None() && !v.Terminal(&before) && jobs.BudgetSpent(v) && (!movesInPlace(v) || v.StaysRunning(&before))
	reported := v.TrueCondition(jobset.JobSetOnSickNodes)
	switch {
	case refused: // the message has no Pods: each that ends would cost a write of the status
		r := pass.Tell(pass.BecomesTrue(jobset.JobSetOnSickNodes, constants.MoveRefusedReason,
			fmt.Sprintf("Pods run%s with a label of effect NoExecute; they are not moved, since maxRestarts is used up", v.Move.Where())))
		if reported == nil {
			r.Reports.Outcomes = []pass.Outcome{pass.MoveRefused}
		}
		return r
	case reported != nil && (!mayMove(v) || v.Terminal(&before)):
		return pass.Tell(pass.Silently(jobset.JobSetOnSickNodes, metav1.ConditionFalse, constants.HealthNotWatchedReason, constants.MovesNotWatchedMessage))
	case reported != nil:
		return pass.Tell(pass.Silently(jobset.JobSetOnSickNodes, metav1.ConditionFalse, constants.NotOnSickNodesReason, constants.NotOnSickNodesMessage))
	}
	return pass.Result{}
}
