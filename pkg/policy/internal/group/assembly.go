/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/elastic"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// A group that does not assemble must not wait indefinitely (P24):
//
//	assemblingSince, and plannedStopGracePeriodSeconds if the group stopped as planned (P142)
//	  + one period    Pods on a node that have not reported are deleted, and so recreated
//	  + two periods   all Jobs are recreated, charged once
//
// An assembly that began by intent, because the group is resized, resumed, or joined by others, is no failure:
// after two periods this is reported, and the clock starts over (P101a).
//
// A Pod that still shows epoch S may be saving a checkpoint: it has stopGracePeriodSeconds on top of the
// period. So has the second deadline: who takes the place of a Pod that stopped for so long is not late (P24a).
//
// The clock stands still while a slot is only leaving, the Job controller waits before it replaces a Failed Pod (P170), or a
// Pod waits for a node or is prepared: it cannot report, and another Pod would not be ready sooner. Such time moves
// assemblingSince forward, and never resets it: a Pod that crashes before it reports
// must still reach its deadline. A new leader gives every Pod a period of its own.

// AssemblyClock keeps the time since when the group assembles (P24). It is cleared while
// the group is not waited for, so that the deadline of a group that was suspended, or
// bypassed, counts from when it is waited for again.
func AssemblyClock(v *view.View, before pass.Result) pass.Result {
	stored := v.JobSet.Status.AssemblingSince
	// What kept the first Jobs of an attempt from being created, Pods of the attempt before or a
	// claim, is not the fault of the new Pods. Nor is the time that others took which they waited for.
	startsOver := len(v.Observed.Active) == 0 && before.Writes.Does(pass.CreateJob) || jobs.StartsNext(v, &before.Writes)
	cameBack := v.IsTrue(jobset.JobSetInPlaceRestartDisabled)
	switch {
	case !v.InPlace:
		return pass.Result{}
	case v.Deadlines.Assembly <= 0 || !v.Watched || v.Terminal(&before) || v.StaysRunning(&before) || before.Changes.Any(pass.LiftBarrier):
		return setClock(nil)
	// The last: the clock was put back, and the group would be waited for until it has caught up (P21).
	case stored == nil || before.Changes.Any(pass.RestartAllJobs) || cameBack || startsOver || stored.After(v.Now):
		return setClock(&v.Now)
	case before.Remember.ClockStands || before.Clock != nil:
		return pass.Result{}
	}
	moved := v.Clock.Stood.Truncate(time.Second) // the API keeps whole seconds
	if moved <= 0 {
		return pass.Result{}
	}
	since := stored.Add(moved)
	r := setClock(&since)
	r.Remember.ClockMoved = moved
	return r
}

func setClock(since *time.Time) pass.Result {
	clock := &pass.AssemblySince{}
	if since != nil {
		clock.Time = ptr.To(metav1.NewTime(*since))
	}
	return pass.Result{Clock: clock}
}

// waited returns for how long the group has been coming together, as far as that counts (P48). The
// status must have a clock.
func waited(v *view.View) time.Duration {
	since := v.JobSet.Status.AssemblingSince.Time
	if since.After(v.Now) {
		since = v.Now // as AssemblyClock writes it
	}
	from := since.Add(v.Clock.Stood + plannedGrace(v))
	if v.Clock.LedSince.After(from) {
		from = v.Clock.LedSince
	}
	return v.Now.Sub(from)
}

// WaitsForWorkers reports whether the group assembles, and its Jobs are what they should be.
func WaitsForWorkers(v *view.View, before *pass.Result) bool {
	return !v.Running() && !before.Changes.Any(pass.LiftBarrier) && !before.Writes.Does(pass.ChangeJobs) && before.Writes.Unresumed == 0
}

// AssemblyDeadline deletes or recreates what keeps a group from assembling in time (P24).
func AssemblyDeadline(v *view.View, before pass.Result) pass.Result {
	period := v.Deadlines.Assembly
	if !WaitsForWorkers(v, &before) || period <= 0 || v.JobSet.Status.AssemblingSince == nil || v.Group.Size == 0 {
		return pass.Result{}
	}
	if before.Remember.ClockStands {
		return pass.Result{} // the group pauses
	}
	backoff := v.BackoffLeft()
	if v.Group.Leaving > 0 || v.Group.Unscheduled > 0 || v.Preparation.Holds || backoff > 0 {
		return clockStands(v).And(pass.RequeueAfter(backoff))
	}
	waited := waited(v)
	if waited < period {
		return pass.RequeueAfter(period - waited)
	}
	stuck, late := v.Stuck(), slices.DeleteFunc(v.Late(), before.Writes.Replaces)
	overTime, r := overTime(v, late)
	waitsForOld := len(stuck) > 0 || len(v.Observed.Previous) > 0 || v.AnyTerminating()
	allOver, last := len(overTime) == len(late), waited >= lastDeadline(v)
	if last && !waitsForOld && !allOver {
		return r // all Jobs are recreated once nobody has time left, and nobody is read for nothing
	}
	if unread := unreadReports(v, overTime); len(unread) > 0 {
		return pass.Result{Ends: true, Ask: pass.Questions{ReadReports: unread}}
	}
	if confirmed := confirmedLate(v, overTime); len(confirmed) < len(overTime) { // the others are read in the next pass
		overTime, r = confirmed, r.And(pass.RequeueAfter(pass.RecheckInterval))
		if len(overTime) == 0 {
			return r
		}
	}
	switch {
	case waitsForOld:
		// New Jobs would not help: they would wait for the same Pods to go. So the
		// clock starts over, and what comes in their place has all of its time.
		return r.And(deleteLate(v, overTime)).And(pass.Tell(pass.Warning(constants.WorkersStuckReason, whoIsStuck(v, stuck)))).
			And(setClock(&v.Now)).And(pass.RequeueAfter(period))
	case !last:
		return r.And(deleteLate(v, overTime)).And(pass.RequeueAfter(lastDeadline(v) - waited))
	case byIntent(v):
		return r.And(deleteLate(v, overTime)).And(pass.Tell(pass.Warning(constants.WorkersMissingReason, whyItWaits(v)))).
			And(setClock(&v.Now)).And(pass.RequeueAfter(period))
	}
	return r.And(recreateAssembly(v))
}

// clockStands stops the clock: no worker is at fault for now (P48).
func clockStands(v *view.View) pass.Result {
	r := pass.RequeueAfter(v.GraceEnds())
	r.Remember.ClockStands = true
	if v.Group.Unscheduled > 0 || v.Preparation.Holds { // no event wakes the JobSet when a Pod finds its node, or is prepared
		r = r.And(pass.RequeueAfter(max(time.Second, v.Deadlines.Assembly/20))).And(pass.RequeueAfter(v.Preparation.Left))
	}
	return r
}

// whoIsStuck says what keeps the places of the group empty, and how to free them. This is reported once
// a period: then the clock starts over.
func whoIsStuck(v *view.View, stuck []*facts.Member) string {
	// Deleting the Pod by force does not help: its Job keeps one that counts as running.
	const advice = "its slot stays empty until it is gone. If its node is lost, taint the node with node.kubernetes.io/out-of-service " +
		"or delete the Node object"
	if len(stuck) > 0 {
		pod := stuck[0]
		message := fmt.Sprintf("worker pod %s on node %s should have stopped by %s and still exists; %s",
			pod.Name, pod.Node, pod.Deadline.Format(time.RFC3339), advice)
		if len(stuck) > 1 {
			message += fmt.Sprintf(". The same applies to %s", view.PodNames(stuck[1:]))
		}
		return message
	}
	for _, job := range v.Jobs {
		if job.DeletionTimestamp != nil {
			return fmt.Sprintf("Job %s has been terminating since %s, and the group waits for it. Check whether its Pods stop, and what is to remove its finalizers: %s",
				job.Name, job.DeletionTimestamp.UTC().Format(time.RFC3339), strings.Join(job.Finalizers, ", "))
		}
	}
	return fmt.Sprintf("Job %s of an earlier attempt still exists; the group waits for it to be deleted", v.Observed.Previous[0].Name)
}

// overTime returns those of the Pods that had a whole period of their own to report, and their grace
// if they had to stop first, and asks for a look when the next has had it. The API cuts a creation to
// the second, so a Pod may be a second younger than it says.
func overTime(v *view.View, late []*facts.Member) (over []*facts.Member, r pass.Result) {
	over, next := view.Due(late, func(pod *facts.Member) time.Duration {
		left := max(v.Left(v.Deadlines.Assembly+time.Second, pod.Created()), v.LeftSincePrepared(pod))
		if mayBeStopping(v, pod) {
			left = max(left, v.Deadlines.Assembly+unplannedGrace(v)-waited(v))
		}
		return left
	})
	return over, pass.RequeueAfter(next)
}

// lastDeadline is after how long all Jobs are recreated.
func lastDeadline(v *view.View) time.Duration { return 2*v.Deadlines.Assembly + unplannedGrace(v) }

// deleteLate deletes Pods that have not reported in a period of their own. Those that
// come in their place have one, too.
func deleteLate(v *view.View, late []*facts.Member) pass.Result {
	if len(late) == 0 {
		return pass.Result{}
	}
	return pass.DeletePods(late, constants.WorkersMissingReason,
		fmt.Sprintf("%s (%s); their Pods are deleted to be recreated: %s", notReportedWithin(v, v.Deadlines.Assembly), WhoIsMissing(v), view.PodNames(late)))
}

// recreateAssembly recreates all Jobs of a group that did not come together by the last deadline.
func recreateAssembly(v *view.View) pass.Result {
	r, waits := WaitForSuccess(v, true)
	if waits {
		return r
	}
	missing := fmt.Sprintf("%s: %s", notReportedWithin(v, lastDeadline(v)), WhoIsMissing(v))
	restart := jobs.RestartAll(constants.DefaultFailurePolicyReason, jobset.RestartJobSet,
		fmt.Sprintf("applying %s failure policy action (%s)", jobset.RestartJobSet, missing), pass.OtherCause(missing))
	if v.Tolerant && v.RestartingInPlace() { // the break of this round was charged (P80)
		return r.And(restart)
	}
	return r.And(jobs.Charge(v, restart, jobs.LastFailure(missing)))
}

func notReportedWithin(v *view.View, period time.Duration) string {
	g := &v.Group
	return fmt.Sprintf("%d of %d workers have not reported epoch %d within %s", g.Size-g.Reported, g.Size, int64(v.Synced)+1, period)
}

// WhoIsMissing counts the workers of each state that are not back, and names up to five of each. A Job may ask for
// 2147483647 workers, so the lost ones are counted by arithmetic (C381).
func WhoIsMissing(v *view.View) string {
	var missing [view.SlotLost + 1]view.Named
	for i := range v.Group.Jobs {
		job := &v.Group.Jobs[i]
		for k := range job.Slots {
			if slot := &job.Slots[k]; slot.State != view.SlotDone && slot.State != view.SlotLost && !v.IsBack(*slot) {
				missing[slot.State].Add(slot.Pod.Name)
			}
		}
		missing[view.SlotLost].AddLost(job)
	}
	var states []string
	for _, state := range []view.SlotState{view.SlotMember, view.SlotLeaving, view.SlotLost} {
		if n := &missing[state]; n.Count > 0 {
			states = append(states, fmt.Sprintf("%d %s: %s", n.Count, state, n))
		}
	}
	if leaving := jobs.LeavingClaims(v); len(leaving) > 0 && jobs.LacksJobs(v) {
		states = append(states, jobs.UntilGone(leaving))
	}
	if len(states) == 0 {
		return "no worker is missing, but a Pod beyond the size of its Job still exists"
	}
	return strings.Join(states, "; ")
}

// StuckPods deletes by force the Pods that a lost node does not let go (P25), unless all that is overdue is
// deleted anyway (P85).
func StuckPods(v *view.View, before pass.Result) pass.Result {
	grace := v.Deadlines.ForcefulDeletion
	if !WaitsForWorkers(v, &before) || grace <= 0 || v.Forces() {
		return pass.Result{}
	}
	stuck := slices.DeleteFunc(v.Stuck(), func(pod *facts.Member) bool { return !v.NotReady[pod.Node] || before.Writes.Replaces(pod) })
	over, r := v.Past(stuck, grace)
	if len(over) == 0 {
		return r
	}
	return r.And(pass.DeleteByForce(over, fmt.Sprintf("%d worker Pods on nodes that are not ready should have stopped more than %s ago; they are deleted by force: %s",
		len(over), grace, view.PodNames(over))))
}

// whyItWaits says who keeps a change by intent from coming together.
func whyItWaits(v *view.View) string {
	message := fmt.Sprintf("%s: %s. No worker failed before, so this is not charged and the group waits",
		notReportedWithin(v, lastDeadline(v)), WhoIsMissing(v))
	if changes := elastic.SizeChanges(v); len(changes) > 0 {
		message += fmt.Sprintf("; it was resized (%s) and runs again if it gets its earlier size back", strings.Join(changes, ", "))
	}
	return message
}
