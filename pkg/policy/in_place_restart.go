/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// epochs reads D and S from the status the decision is based on.
func (d *decision) epochs() (deprecated, synced int32) {
	status := &d.in.JobSet.Status
	return ptr.Deref(status.DeprecatedEpoch, 0), ptr.Deref(status.SyncedEpoch, 0)
}

// inPlace tells whether the group protocol applies to this JobSet.
func (d *decision) inPlace() bool {
	return d.in.Gates.InPlaceRestart && d.restartStrategy() == jobset.InPlaceRestart
}

// watching tells whether the group may be lifted or broken now (P20).
func (d *decision) watching() bool {
	_, bypassed := d.in.JobSet.Annotations[jobset.DisableInPlaceRestartKey]
	return d.inPlace() && !d.suspendWanted() && !bypassed
}

// gateChanged keeps the condition that tells agents whether anyone watches the
// group. It tells whether the gate just came back: that is said before
// anything else is done, so that no agent is judged by what it did while off.
func (d *decision) gateChanged() bool {
	if d.restartStrategy() != jobset.InPlaceRestart {
		return false
	}
	if !d.in.Gates.InPlaceRestart {
		d.put(jobset.JobSetInPlaceRestartDisabled, metav1.ConditionTrue,
			constants.InPlaceRestartDisabledReason, constants.InPlaceRestartDisabledMessage)
		return false
	}
	return d.isTrue(jobset.JobSetInPlaceRestartDisabled) &&
		d.put(jobset.JobSetInPlaceRestartDisabled, metav1.ConditionFalse,
			constants.InPlaceRestartEnabledReason, constants.InPlaceRestartEnabledMessage)
}

// intentFirst drops every change of Jobs while the group runs, D < S, and
// writes D := S instead; a later pass, which reads D == S, makes the changes
// (P16). So whatever crashes in between, the Pods that go or come by our own
// hand are never mistaken for failures. It tells whether it did.
func (d *decision) intentFirst() bool {
	deprecated, synced := d.epochs()
	if !d.inPlace() || deprecated >= synced || !d.plan.touchesJobs() {
		return false
	}
	d.plan.forgetJobs()
	d.deprecateEpoch()
	return true
}

// onlyIntent takes back what steps 9 and 10 told about changes that have to wait.
func (d *decision) onlyIntent() {
	d.plan.Status.Conditions = d.in.JobSet.Status.DeepCopy().Conditions
	d.plan.Events = nil
}

// deprecateEpoch writes D := S: workers of the epoch that runs must restart.
func (d *decision) deprecateEpoch() {
	if deprecated, synced := d.epochs(); d.inPlace() && deprecated < synced {
		d.plan.Status.DeprecatedEpoch = ptr.To(synced)
	}
}

// restartIncompleteGroup recreates all Jobs if the group is to assemble again
// but one of its workers ran to its end in the last round: it would be missing
// in the next (P17). The break that led here was charged, if it was a failure.
func (d *decision) restartIncompleteGroup() bool {
	deprecated, synced := d.epochs()
	if !d.watching() || deprecated < synced || synced == 0 || len(d.observed.Previous) > 0 {
		return false
	}
	g := d.look(synced)
	if g.succeeded == nil || g.slots == 0 || g.failing {
		return false
	}
	d.restartAll(constants.DefaultFailurePolicyReason, constants.RestartJobSetActionReason, incomplete(g.succeeded, synced))
	return true
}

// Bypassed tells whether the agents of a JobSet let their workers run without asking: by the
// annotation, or because the gate was off and nobody has taken that back yet (P20, P34).
func Bypassed(js *jobset.JobSet) bool {
	_, disabled := js.Annotations[jobset.DisableInPlaceRestartKey]
	return disabled || apimeta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetInPlaceRestartDisabled))
}

// countsIntervalPerWorker is how long, for each worker, the writes of nothing but counts are apart
// while a group assembles. Each is sent to every agent while all of them report, and the lift waits
// behind it. So a group of 1,000 comes back with one at the most, and one that takes minutes shows its counts.
const countsIntervalPerWorker = 10 * time.Millisecond

// mostCounted workers make that a minute; more do not make it longer.
const mostCounted = int64(time.Minute / countsIntervalPerWorker)

// group lifts the barrier of an assembled group, or breaks a group that lost a worker.
func (d *decision) group() {
	if !d.watching() {
		return
	}
	deprecated, synced := d.epochs()
	g := d.look(synced)
	d.plan.InvalidEpochs = g.invalid
	switch {
	case g.failing:
	case deprecated >= synced:
		d.plan.CountsInterval = max(time.Second, time.Duration(min(g.slots, mostCounted))*countsIntervalPerWorker)
		d.lift(g, synced)
		d.progress(g, synced)
	default:
		d.breakGroup(g, synced)
	}
}

// lift lets the workers start if the whole group stands at S+1 (P13). The Jobs
// seen must be the Jobs wanted: a stale or partial view delays the lift and never misleads.
func (d *decision) lift(g group, synced int32) {
	if d.plan.touchesJobs() || len(d.observed.Previous) > 0 || d.anyTerminating() || synced == math.MaxInt32 {
		return
	}
	if g.slots == 0 || g.crowded || g.members != g.slots || g.reported != g.slots {
		return
	}
	d.plan.Status.SyncedEpoch = ptr.To(synced + 1)
	if !d.restartingInPlace() {
		return // a first start, or the end of a restart that others announce
	}
	took := d.sinceBreak()
	d.put(jobset.JobSetRestarting, metav1.ConditionFalse, constants.WorkersSyncedReason,
		fmt.Sprintf("all %d workers stand at epoch %d", g.slots, synced+1))
	d.event(corev1.EventTypeNormal, constants.InPlaceRestartCompletedReason,
		fmt.Sprintf("%d workers restarted in place: epoch %d, %.1f seconds", g.slots, synced+1, took.Seconds()))
	d.plan.Outcomes = append(d.plan.Outcomes, GroupLifted)
	d.plan.GroupRestart = took
}

func (d *decision) anyTerminating() bool {
	for _, job := range d.in.Jobs {
		if job.DeletionTimestamp != nil {
			return true
		}
	}
	return false
}

// sinceBreak is how long the group has been coming back: by the clock in
// memory, else by the condition, which knows only whole seconds.
func (d *decision) sinceBreak() time.Duration {
	broken := d.in.BrokenAt
	if broken.IsZero() {
		c := apimeta.FindStatusCondition(d.in.JobSet.Status.Conditions, string(jobset.JobSetRestarting))
		broken = c.LastTransitionTime.Time
	}
	return max(0, d.in.Now.Sub(broken))
}

// breakGroup makes all workers of epoch S restart if one of them is lost or
// already reports S+1 (P14). A loss seen in the cache is confirmed by a read
// past it; a report cannot be a trick of a cache that lags.
func (d *decision) breakGroup(g group, synced int32) {
	if g.reporter == nil && len(g.lost) == 0 {
		if !g.graceEnds.IsZero() {
			d.plan.requeueAfter(g.graceEnds.Sub(d.in.Now))
		}
		return
	}
	if g.reporter == nil {
		job := g.lost[0]
		if !d.in.Confirmed[job.UID] {
			d.plan = Plan{Confirm: job, Status: d.in.JobSet.Status}
			return
		}
	}
	cause := causeOf(d.in.FirstFailure, g)
	switch {
	case d.budgetSpent(): // P15
		d.fail(constants.ReachedMaxRestartsReason, constants.ReachedMaxRestartsMessage)
	case g.succeeded != nil: // P17
		d.plan.Status.RestartsCountTowardsMax++
		d.restartAll(constants.DefaultFailurePolicyReason, constants.RestartJobSetActionReason,
			incomplete(g.succeeded, synced)+": "+cause)
	default:
		d.deprecateEpoch()
		d.plan.Status.InPlaceRestarts++
		message := fmt.Sprintf("%s; all workers of epoch %d restart in place", cause, synced)
		d.put(jobset.JobSetRestarting, metav1.ConditionTrue, constants.InPlaceRestartReason, message)
		d.event(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, message)
		d.plan.Outcomes = append(d.plan.Outcomes, GroupBroken)
	}
}

func incomplete(succeeded *corev1.Pod, synced int32) string {
	return fmt.Sprintf("applying %s failure policy action (worker pod %s succeeded in epoch %d, so the group cannot restart in place)",
		jobset.RestartJobSet, succeeded.Name, synced)
}
