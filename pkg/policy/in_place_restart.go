/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// incompleteGroup recreates all Jobs if the group is to assemble again but one of its workers
// succeeded in the last round: it would be missing in the next (P17). The break that led here was
// charged, if it was a failure. While this waits for a success (P45) nothing else is done: the
// group is not lifted without that worker.
func incompleteGroup(v *view, _ result) result {
	g := &v.group
	if !v.watched || v.running() || v.synced == 0 || len(v.observed.Previous) > 0 {
		return result{}
	}
	if !g.success.any() || g.size == 0 || g.failing {
		return result{}
	}
	r, waits := v.waitForSuccess(true)
	if !waits {
		if loss := v.unconfirmedLoss(); loss != nil {
			return confirmFirst(loss)
		}
		r = r.and(restartAll(constants.DefaultFailurePolicyReason, jobset.RestartJobSet, v.whyIncomplete(), otherCause(v.group.success.words(v.synced))))
	}
	r.ends = true
	return r
}

// invalidEpochs tells which Pods have an annotation that is not an epoch (P12).
func invalidEpochs(v *view, _ result) result {
	return result{reports: Reports{InvalidEpochs: v.group.pods(func(s *Slot) bool { return s.State == SlotMember && s.Invalid })}}
}

// jobAboutToFail leaves the group alone while a Job is about to fail: the failure policy comes first (P10).
func jobAboutToFail(v *view, _ result) result { return result{ends: v.group.failing} }

// lift lets the workers start if the whole group has reached S+1 (P13), unless restarts lead nowhere (P136). The Jobs seen must be the Jobs
// wanted: a stale or partial view delays the lift and never misleads. A pass that creates no Jobs may
// still lack some: jobsAsWanted counts them (P46).
func lift(v *view, before result) result {
	g := &v.group
	if v.running() || before.remember.Moving || before.holdsLift || !before.writes.jobsAsWanted() || len(v.observed.Previous) > 0 || v.anyTerminating() || v.synced == math.MaxInt32 {
		return result{}
	}
	if g.size == 0 || g.crowded || len(g.outsiders) > 0 || g.members != g.size || g.reported != g.size || v.pauseLeft() > 0 {
		return result{}
	}
	kept, failure := v.judgeProgress()
	if failure != "" { // P136
		r, waits := v.waitForSuccess(true)
		if waits {
			return r
		}
		return r.and(fail(constants.NoProgressReason, failure)).and(result{progress: kept})
	}
	r := result{changes: liftBarrier, progress: kept}
	if v.PolicyGap != "" {
		r = r.and(tell(warning(constants.AgentPolicyMissingReason, PodPolicy().Missing(v.PolicyGap))))
	}
	r = r.and(leasesDenied(v))
	if !v.restartingInPlace() {
		return r.and(v.plannedLift()) // else a first start, or the end of a restart that others announce
	}
	took := max(0, v.Now.Sub(v.brokenAt()))
	starts := v.warmStarts()
	r.reports.Outcomes, r.reports.GroupRestart, r.reports.WarmStarts = []Outcome{GroupLifted}, took, starts
	completed := v.completed(took) + starts.String()
	if r.suspect = cmp.Or(v.lostMeanwhile(), v.suspect()); r.suspect != "" { // P174, P135
		completed += "; " + r.suspect
	}
	return r.and(tell(
		silently(jobset.JobSetRestarting, metav1.ConditionFalse, constants.WorkersSyncedReason,
			fmt.Sprintf("all %d workers have reached epoch %d", g.size, v.synced+1)),
		normal(constants.InPlaceRestartCompletedReason, completed)))
}

// breakGroup makes all workers of epoch S restart if one of them is lost or already reports S+1
// (P14). A loss seen in the cache is confirmed by a read past it; a report needs no confirmation.
func breakGroup(v *view, _ result) result {
	if !v.running() {
		return result{}
	}
	reporter := v.reporter()
	if reporter == nil && v.group.lacking == nil {
		return requeueAfter(v.graceEnds())
	}
	first, failure := v.causeOfBreak(reporter)
	cause := CauseText(&first)
	counted, incomplete := v.countFailure(failure), v.group.success.any()
	drastic := incomplete || counted.slow != "" || v.budgetSpent()
	r, waits := v.waitForSuccess(drastic)
	if waits {
		return r
	}
	if drastic || reporter == nil {
		if loss := v.unconfirmedLoss(); loss != nil {
			return confirmFirst(loss)
		}
	}
	charged := chargeGroup
	if isDisruption(failure) {
		charged |= disrupted
	}
	restart := v.restartGroup(cause, first, charged)
	switch {
	case incomplete: // P17
		restart = restartAll(constants.DefaultFailurePolicyReason, jobset.RestartJobSet, v.whyIncomplete()+": "+cause, first)
	case counted.slow != "": // P93
		restart = restartAll(constants.DefaultFailurePolicyReason, jobset.RestartJobSet,
			fmt.Sprintf("applying %s failure policy action (%s): %s", jobset.RestartJobSet, counted.slow, cause), first)
	}
	restart.changes |= charged & disrupted
	return r.and(v.charge(restart.and(counted.result), lastFailure(cause)))
}

// restartGroup makes all workers of epoch S restart in place. What it is charged, if anything, says how long the lift waits.
func (v *view) restartGroup(why string, cause jobset.RestartCause, charged changes) result {
	message := fmt.Sprintf("%s; all workers of epoch %d restart in place%s", why, v.synced, v.notBefore(charged))
	r := tell(restartsNow(message), warning(constants.InPlaceRestartStartedReason, message))
	r.changes, r.reports.Outcomes, r.began = deprecate|breaksGroup, []Outcome{GroupBroken}, v.record(cause, charged)
	return r
}

func (v *view) whyIncomplete() string {
	return fmt.Sprintf("applying %s failure policy action (%s, so the group cannot restart in place)", jobset.RestartJobSet, v.group.success.words(v.synced))
}

// countsIntervalPerWorker is the time between two writes of nothing but counts, for each worker. Every
// such write is sent to every agent. While a group assembles all agents report, and the lift waits
// behind the writes: a group of 1,000 comes back with one write at most, and one that takes minutes
// shows its counts. After the lift, 100 Jobs that become ready would be as many writes to each agent.
const countsIntervalPerWorker = 10 * time.Millisecond

// mostCounted workers make that a minute; more do not make it longer.
const mostCounted = int64(time.Minute / countsIntervalPerWorker)

// countsInterval keeps writes of nothing but counts apart in a JobSet that restarts in place, whatever
// its group does (P22, P49).
func countsInterval(v *view, _ result) result {
	if !v.inPlace || v.finished {
		return result{}
	}
	var workers int64
	for _, job := range v.observed.Active {
		workers += sizeOf(job)
	}
	return result{pace: Pace{CountsInterval: max(time.Second, time.Duration(min(workers, mostCounted))*countsIntervalPerWorker)}}
}
