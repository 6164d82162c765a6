/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

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

// assemblyClock keeps the time since when the group assembles (P24). It is cleared while
// the group is not waited for, so that the deadline of a group that was suspended, or
// bypassed, counts from when it is waited for again.
func assemblyClock(v *view, before result) result {
	stored := v.JobSet.Status.AssemblingSince
	// What kept the first Jobs of an attempt from being created, Pods of the attempt before or a
	// claim, is not the fault of the new Pods. Nor is the time that others took which they waited for.
	startsOver := len(v.observed.Active) == 0 && before.writes.Does(CreateJob) || v.startsNext(&before.writes)
	cameBack := v.isTrue(jobset.JobSetInPlaceRestartDisabled)
	switch {
	case !v.inPlace:
		return result{}
	case v.Deadlines.Assembly <= 0 || !v.watched || before.terminal(v) || before.staysRunning(v) || before.changes.any(liftBarrier):
		return setClock(nil)
	// The last: the clock was put back, and the group would be waited for until it has caught up (P21).
	case stored == nil || before.changes.any(restartAllJobs) || cameBack || startsOver || stored.After(v.Now):
		return setClock(&v.Now)
	case before.remember.ClockStands || before.clock != nil:
		return result{}
	}
	moved := v.Clock.Stood.Truncate(time.Second) // the API keeps whole seconds
	if moved <= 0 {
		return result{}
	}
	since := stored.Add(moved)
	r := setClock(&since)
	r.remember.ClockMoved = moved
	return r
}

func setClock(since *time.Time) result {
	clock := &assemblySince{}
	if since != nil {
		clock.Time = ptr.To(metav1.NewTime(*since))
	}
	return result{clock: clock}
}

// waited returns for how long the group has been coming together, as far as that counts (P48). The
// status must have a clock.
func (v *view) waited() time.Duration {
	since := v.JobSet.Status.AssemblingSince.Time
	if since.After(v.Now) {
		since = v.Now // as assemblyClock writes it
	}
	from := since.Add(v.Clock.Stood + v.plannedGrace())
	if v.Clock.LedSince.After(from) {
		from = v.Clock.LedSince
	}
	return v.Now.Sub(from)
}

// waitsForWorkers reports whether the group assembles, and its Jobs are what they should be.
func (v *view) waitsForWorkers(before *result) bool {
	return !v.running() && !before.changes.any(liftBarrier) && !before.writes.Does(ChangeJobs) && before.writes.Unresumed == 0
}

// assemblyDeadline deletes or recreates what keeps a group from assembling in time (P24).
func assemblyDeadline(v *view, before result) result {
	period := v.Deadlines.Assembly
	if !v.waitsForWorkers(&before) || period <= 0 || v.JobSet.Status.AssemblingSince == nil || v.group.size == 0 {
		return result{}
	}
	if before.remember.ClockStands {
		return result{} // the group pauses
	}
	backoff := v.backoffLeft()
	if v.group.leaving > 0 || v.group.unscheduled > 0 || v.preparation.holds || backoff > 0 {
		return v.clockStands().and(requeueAfter(backoff))
	}
	waited := v.waited()
	if waited < period {
		return requeueAfter(period - waited)
	}
	stuck, late := v.stuck(), slices.DeleteFunc(v.late(), before.writes.replaces)
	overTime, r := v.overTime(late)
	waitsForOld := len(stuck) > 0 || len(v.observed.Previous) > 0 || v.anyTerminating()
	allOver, last := len(overTime) == len(late), waited >= v.lastDeadline()
	if last && !waitsForOld && !allOver {
		return r // all Jobs are recreated once nobody has time left, and nobody is read for nothing
	}
	if unread := v.unreadReports(overTime); len(unread) > 0 {
		return result{ends: true, ask: Questions{ReadReports: unread}}
	}
	if confirmed := v.confirmedLate(overTime); len(confirmed) < len(overTime) { // the others are read in the next pass
		overTime, r = confirmed, r.and(requeueAfter(gatherNodes))
		if len(overTime) == 0 {
			return r
		}
	}
	switch {
	case waitsForOld:
		// New Jobs would not help: they would wait for the same Pods to go. So the
		// clock starts over, and what comes in their place has all of its time.
		return r.and(v.deleteLate(overTime)).and(tell(warning(constants.WorkersStuckReason, v.whoIsStuck(stuck)))).
			and(setClock(&v.Now)).and(requeueAfter(period))
	case !last:
		return r.and(v.deleteLate(overTime)).and(requeueAfter(v.lastDeadline() - waited))
	case v.byIntent():
		return r.and(v.deleteLate(overTime)).and(tell(warning(constants.WorkersMissingReason, v.whyItWaits()))).
			and(setClock(&v.Now)).and(requeueAfter(period))
	}
	return r.and(v.recreateAssembly())
}

// clockStands stops the clock: no worker is at fault for now (P48).
func (v *view) clockStands() result {
	r := requeueAfter(v.graceEnds())
	r.remember.ClockStands = true
	if v.group.unscheduled > 0 || v.preparation.holds { // no event wakes the JobSet when a Pod finds its node, or is prepared
		r = r.and(requeueAfter(max(time.Second, v.Deadlines.Assembly/20))).and(requeueAfter(v.preparation.left))
	}
	return r
}

// whoIsStuck says what keeps the places of the group empty, and how to free them. This is reported once
// a period: then the clock starts over.
func (v *view) whoIsStuck(stuck []*facts.Member) string {
	// Deleting the Pod by force does not help: its Job keeps one that counts as running.
	const advice = "its slot stays empty until it is gone. If its node is lost, taint the node with node.kubernetes.io/out-of-service " +
		"or delete the Node object"
	if len(stuck) > 0 {
		pod := stuck[0]
		message := fmt.Sprintf("worker pod %s on node %s should have stopped by %s and still exists; %s",
			pod.Name, pod.Node, pod.Deadline.Format(time.RFC3339), advice)
		if len(stuck) > 1 {
			message += fmt.Sprintf(". The same applies to %s", podNames(stuck[1:]))
		}
		return message
	}
	for _, job := range v.Jobs {
		if job.DeletionTimestamp != nil {
			return fmt.Sprintf("Job %s has been terminating since %s, and the group waits for it. Check whether its Pods stop, and what is to remove its finalizers: %s",
				job.Name, job.DeletionTimestamp.UTC().Format(time.RFC3339), strings.Join(job.Finalizers, ", "))
		}
	}
	return fmt.Sprintf("Job %s of an earlier attempt still exists; the group waits for it to be deleted", v.observed.Previous[0].Name)
}

// overTime returns those of the Pods that had a whole period of their own to report, and their grace
// if they had to stop first, and asks for a look when the next has had it. The API cuts a creation to
// the second, so a Pod may be a second younger than it says.
func (v *view) overTime(late []*facts.Member) (over []*facts.Member, r result) {
	over, next := due(late, func(pod *facts.Member) time.Duration {
		left := max(v.left(v.Deadlines.Assembly+time.Second, pod.Created()), v.leftSincePrepared(pod))
		if v.mayBeStopping(pod) {
			left = max(left, v.Deadlines.Assembly+v.unplannedGrace()-v.waited())
		}
		return left
	})
	return over, requeueAfter(next)
}

// lastDeadline is after how long all Jobs are recreated.
func (v *view) lastDeadline() time.Duration { return 2*v.Deadlines.Assembly + v.unplannedGrace() }

// deleteLate deletes Pods that have not reported in a period of their own. Those that
// come in their place have one, too.
func (v *view) deleteLate(late []*facts.Member) result {
	if len(late) == 0 {
		return result{}
	}
	return deletePods(late, constants.WorkersMissingReason,
		fmt.Sprintf("%s (%s); their Pods are deleted to be recreated: %s", v.notReportedWithin(v.Deadlines.Assembly), v.whoIsMissing(), podNames(late)))
}

// recreateAssembly recreates all Jobs of a group that did not come together by the last deadline.
func (v *view) recreateAssembly() result {
	r, waits := v.waitForSuccess(true)
	if waits {
		return r
	}
	missing := fmt.Sprintf("%s: %s", v.notReportedWithin(v.lastDeadline()), v.whoIsMissing())
	restart := restartAll(constants.DefaultFailurePolicyReason, jobset.RestartJobSet,
		fmt.Sprintf("applying %s failure policy action (%s)", jobset.RestartJobSet, missing), otherCause(missing))
	if v.tolerant && v.restartingInPlace() { // the break of this round was charged (P80)
		return r.and(restart)
	}
	return r.and(v.charge(restart, lastFailure(missing)))
}

func (v *view) notReportedWithin(period time.Duration) string {
	g := &v.group
	return fmt.Sprintf("%d of %d workers have not reported epoch %d within %s", g.size-g.reported, g.size, int64(v.synced)+1, period)
}

// whoIsMissing counts the workers of each state that are not back, and names up to five of each. A Job may ask for
// 2147483647 workers, so the lost ones are counted by arithmetic (C381).
func (v *view) whoIsMissing() string {
	var missing [SlotLost + 1]named
	for i := range v.group.jobs {
		job := &v.group.jobs[i]
		for k := range job.slots {
			if slot := &job.slots[k]; slot.State != slotDone && slot.State != SlotLost && !v.isBack(*slot) {
				missing[slot.State].add(slot.Pod.Name)
			}
		}
		missing[SlotLost].addLost(job)
	}
	var states []string
	for _, state := range []SlotState{SlotMember, SlotLeaving, SlotLost} {
		if n := &missing[state]; n.count > 0 {
			states = append(states, fmt.Sprintf("%d %s: %s", n.count, state, n))
		}
	}
	if leaving := v.leavingClaims(); len(leaving) > 0 && v.lacksJobs() {
		states = append(states, untilGone(leaving))
	}
	if len(states) == 0 {
		return "no worker is missing, but a Pod beyond the size of its Job still exists"
	}
	return strings.Join(states, "; ")
}

// stuckPods deletes by force the Pods that a lost node does not let go (P25), unless all that is overdue is
// deleted anyway (P85).
func stuckPods(v *view, before result) result {
	grace := v.Deadlines.ForcefulDeletion
	if !v.waitsForWorkers(&before) || grace <= 0 || v.forces() {
		return result{}
	}
	stuck := slices.DeleteFunc(v.stuck(), func(pod *facts.Member) bool { return !v.NotReady[pod.Node] || before.writes.replaces(pod) })
	over, r := v.past(stuck, grace)
	if len(over) == 0 {
		return r
	}
	return r.and(forced(over, fmt.Sprintf("%d worker Pods on nodes that are not ready should have stopped more than %s ago; they are deleted by force: %s",
		len(over), grace, podNames(over))))
}

// whyItWaits says who keeps a change by intent from coming together.
func (v *view) whyItWaits() string {
	message := fmt.Sprintf("%s: %s. No worker failed before, so this is not charged and the group waits",
		v.notReportedWithin(v.lastDeadline()), v.whoIsMissing())
	if changes := v.sizeChanges(); len(changes) > 0 {
		message += fmt.Sprintf("; it was resized (%s) and runs again if it gets its earlier size back", strings.Join(changes, ", "))
	}
	return message
}
