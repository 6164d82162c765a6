/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"cmp"
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/access"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// IncompleteGroup recreates all Jobs if the group is to assemble again but one of its workers
// succeeded in the last round: it would be missing in the next (P17). The break that led here was
// charged, if it was a failure. While this waits for a success (P45) nothing else is done: the
// group is not lifted without that worker.
func IncompleteGroup(v *view.View, _ pass.Result) pass.Result {
	g := &v.Group
	if !v.Watched || v.Running() || v.Synced == 0 || len(v.Observed.Previous) > 0 {
		return pass.Result{}
	}
	if !g.Success.Any() || g.Size == 0 || g.Failing {
		return pass.Result{}
	}
	r, waits := WaitForSuccess(v, true)
	if !waits {
		if loss := unconfirmedLoss(v); loss != nil {
			return pass.ConfirmFirst(loss)
		}
		r = r.And(jobs.RestartAll(constants.DefaultFailurePolicyReason, jobset.RestartJobSet, whyIncomplete(v), pass.OtherCause(v.Group.Success.Words(v.Synced))))
	}
	r.Ends = true
	return r
}

// InvalidEpochs tells which Pods have an annotation that is not an epoch (P12).
func InvalidEpochs(v *view.View, _ pass.Result) pass.Result {
	return pass.Result{Reports: pass.Reports{InvalidEpochs: v.Group.Pods(func(s *view.Slot) bool { return s.State == view.SlotMember && s.Invalid })}}
}

// JobAboutToFail leaves the group alone while a Job is about to fail: the failure policy comes first (P10).
func JobAboutToFail(v *view.View, _ pass.Result) pass.Result {
	return pass.Result{Ends: v.Group.Failing}
}

// Lift lets the workers start if the whole group has reached S+1 (P13), unless restarts lead nowhere (P136). The Jobs seen must be the Jobs
// wanted: a stale or partial view delays the lift and never misleads. A pass that creates no Jobs may
// still lack some: JobsAsWanted counts them (P46).
func Lift(v *view.View, before pass.Result) pass.Result {
	g := &v.Group
	if v.Running() || before.Remember.Moving || before.HoldsLift || !before.Writes.JobsAsWanted() || len(v.Observed.Previous) > 0 || v.AnyTerminating() || v.Synced == math.MaxInt32 {
		return pass.Result{}
	}
	if g.Size == 0 || g.Crowded || len(g.Outsiders) > 0 || g.Members != g.Size || g.Reported != g.Size || pauseLeft(v) > 0 {
		return pass.Result{}
	}
	kept, failure := judgeProgress(v)
	if failure != "" { // P136
		r, waits := WaitForSuccess(v, true)
		if waits {
			return r
		}
		return r.And(pass.Fail(constants.NoProgressReason, failure)).And(pass.Result{Progress: kept})
	}
	r := pass.Result{Changes: pass.LiftBarrier, Progress: kept}
	if v.PolicyGap != "" {
		r = r.And(pass.Tell(pass.Warning(constants.AgentPolicyMissingReason, access.PodPolicy().Missing(v.PolicyGap))))
	}
	r = r.And(access.LeasesDenied(v))
	if !v.RestartingInPlace() {
		return r.And(plannedLift(v)) // else a first start, or the end of a restart that others announce
	}
	took := max(0, v.Now.Sub(v.BrokenAt()))
	starts := warmStarts(v)
	r.Reports.Outcomes, r.Reports.GroupRestart, r.Reports.WarmStarts = []pass.Outcome{pass.GroupLifted}, took, starts
	completed := completed(v, took) + starts.String()
	if r.Suspect = cmp.Or(lostMeanwhile(v), suspect(v)); r.Suspect != "" { // P174, P135
		completed += "; " + r.Suspect
	}
	return r.And(pass.Tell(
		pass.Silently(jobset.JobSetRestarting, metav1.ConditionFalse, constants.WorkersSyncedReason,
			fmt.Sprintf("all %d workers have reached epoch %d", g.Size, v.Synced+1)),
		pass.Normal(constants.InPlaceRestartCompletedReason, completed)))
}

// BreakGroup makes all workers of epoch S restart if one of them is lost or already reports S+1
// (P14). A loss seen in the cache is confirmed by a read past it; a report needs no confirmation.
func BreakGroup(v *view.View, _ pass.Result) pass.Result {
	if !v.Running() {
		return pass.Result{}
	}
	reporter := v.Reporter()
	if reporter == nil && v.Group.Lacking == nil {
		return pass.RequeueAfter(v.GraceEnds())
	}
	first, failure := causeOfBreak(v, reporter)
	cause := pass.CauseText(&first)
	counted, incomplete := jobs.CountFailure(v, failure), v.Group.Success.Any()
	drastic := incomplete || counted.Slow != "" || jobs.BudgetSpent(v)
	r, waits := WaitForSuccess(v, drastic)
	if waits {
		return r
	}
	if drastic || reporter == nil {
		if loss := unconfirmedLoss(v); loss != nil {
			return pass.ConfirmFirst(loss)
		}
	}
	charged := pass.ChargeGroup
	if isDisruption(failure) {
		charged |= pass.Disrupted
	}
	restart := Restart(v, cause, first, charged)
	switch {
	case incomplete: // P17
		restart = jobs.RestartAll(constants.DefaultFailurePolicyReason, jobset.RestartJobSet, whyIncomplete(v)+": "+cause, first)
	case counted.Slow != "": // P93
		restart = jobs.RestartAll(constants.DefaultFailurePolicyReason, jobset.RestartJobSet,
			fmt.Sprintf("applying %s failure policy action (%s): %s", jobset.RestartJobSet, counted.Slow, cause), first)
	}
	restart.Changes |= charged & pass.Disrupted
	return r.And(jobs.Charge(v, restart.And(counted.Result), jobs.LastFailure(cause)))
}

// Restart makes all workers of epoch S restart in place. What it is charged, if anything, says how long the lift waits.
func Restart(v *view.View, why string, cause jobset.RestartCause, charged pass.Changes) pass.Result {
	message := fmt.Sprintf("%s; all workers of epoch %d restart in place%s", why, v.Synced, notBefore(v, charged))
	r := pass.Tell(pass.RestartsNow(message), pass.Warning(constants.InPlaceRestartStartedReason, message))
	r.Changes, r.Reports.Outcomes, r.Began = pass.Deprecate|pass.BreaksGroup, []pass.Outcome{pass.GroupBroken}, RestartRecord(v, cause, charged)
	return r
}

func whyIncomplete(v *view.View) string {
	return fmt.Sprintf("applying %s failure policy action (%s, so the group cannot restart in place)", jobset.RestartJobSet, v.Group.Success.Words(v.Synced))
}

// countsIntervalPerWorker is the time between two writes of nothing but counts, for each worker. Every
// such write is sent to every agent. While a group assembles all agents report, and the lift waits
// behind the writes: a group of 1,000 comes back with one write at most, and one that takes minutes
// shows its counts. After the lift, 100 Jobs that become ready would be as many writes to each agent.
const countsIntervalPerWorker = 10 * time.Millisecond

// mostCounted workers make that a minute; more do not make it longer.
const mostCounted = int64(time.Minute / countsIntervalPerWorker)

// CountsInterval keeps writes of nothing but counts apart in a JobSet that restarts in place, whatever
// its group does (P22, P49).
func CountsInterval(v *view.View, _ pass.Result) pass.Result {
	if !v.InPlace || v.Finished {
		return pass.Result{}
	}
	var workers int64
	for _, job := range v.Observed.Active {
		workers += view.SizeOf(job)
	}
	return pass.Result{Pace: pass.Pace{CountsInterval: max(time.Second, time.Duration(min(workers, mostCounted))*countsIntervalPerWorker)}}
}
