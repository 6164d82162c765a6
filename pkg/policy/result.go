/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// step decides one thing. It looks at the view, and at what the steps before it decided.
type step func(v *view, before result) result

// result is what a step decided, or what several add up to. The zero result decides nothing.
type result struct {
	// ends: no later step is asked.
	ends bool
	// err: the input makes no sense.
	err error
	// plan is what the step adds to the plan. It leaves Status and Events empty: they follow from
	// the fields below.
	plan Plan
	// changes are those of the status, besides restartJob, clock and conditions.
	changes changes
	// restartJob makes one Job, and no other, one of an earlier attempt.
	restartJob *jobRestart
	// reset, if not nil, is how far the reset has come.
	reset *resetProgress
	// holdsJobs: no Job may be created yet. deploys: Jobs are to run, once the status says so (P86).
	holdsJobs, deploys bool
	// holdsLift: the barrier is not lifted yet.
	holdsLift bool
	// nodeFailures, if not nil, is what is known of nodes from now on.
	nodeFailures *nodeFailures
	// kept, if not nil, is until when the Jobs of a failed JobSet are kept.
	kept *keptUntil
	// progress, if not nil, is what the status keeps of the steps of workers (P136).
	progress *keptProgress
	// clock, if not nil, is what the clock of the assembly becomes.
	clock *assemblySince
	// notices are conditions and events, in the order in which they are reported.
	notices []notice
}

// keptProgress is what status.progress becomes; nil if it is not kept.
type keptProgress struct{ *jobset.ProgressStatus }

// keptUntil is when the Jobs of a failed JobSet are deleted; nil if they are not kept.
type keptUntil struct{ *metav1.Time }

// nodeFailures is what status.faultTolerance.nodeFailures becomes.
type nodeFailures struct{ list []jobset.NodeFailures }

// resetProgress is how far a reset has come; nil if there is none.
type resetProgress struct{ *jobset.ResetStatus }

// jobRestart makes one Job, and no other, one of an earlier attempt.
type jobRestart struct {
	replicatedJob string
	index         int
	replicas      int32
	// attempt is what the counter of the Job becomes at least.
	attempt int32
	// counted: the restart counts towards maxRestarts.
	counted bool
}

type changes uint16

const (
	// deprecate sets D := S: workers of the epoch that runs must restart.
	deprecate changes = 1 << iota
	// liftBarrier sets S := S+1: workers that report it may start.
	liftBarrier
	// restartAllJobs makes every Job one of an earlier attempt.
	restartAllJobs
	// chargeAllJobs and chargeGroup: a restart of all Jobs, or of the group, counts towards maxRestarts; see view.charge.
	chargeAllJobs
	chargeGroup
	// completesJobSet and failsJobSet are the terminal states.
	completesJobSet
	failsJobSet
	// breaksGroup: the pause after quick failures counts from now if the group runs (P71a).
	breaksGroup
	// planned, with deprecate: nothing failed, so the workers may save their state before they end (P142).
	planned
)

func (c changes) any(of changes) bool { return c&of != 0 }

// assemblySince is since when the group assembles; nil if it does not assemble.
type assemblySince struct{ *metav1.Time }

// requeueAfter asks for another pass after some time; 0 or less asks for none.
func requeueAfter(after time.Duration) result {
	return result{plan: Plan{RequeueAfter: max(0, after)}}
}

// confirmFirst ends the pass: a loss has to be confirmed before anything is decided on it.
func confirmFirst(loss *Loss) result {
	return result{ends: true, plan: Plan{Confirm: loss}}
}

// sooner returns the shorter of two times to wait; 0 or less means no limit.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return max(0, b)
	}
	return a
}

func tell(notices ...notice) result { return result{notices: notices} }

// and adds what a later step decided.
func (r result) and(next result) result {
	r.ends = r.ends || next.ends
	r.plan.add(&next.plan)
	r.changes |= next.changes
	r.restartJob = cmp.Or(next.restartJob, r.restartJob)
	r.clock = cmp.Or(next.clock, r.clock)
	r.progress = cmp.Or(next.progress, r.progress)
	r.reset = cmp.Or(next.reset, r.reset)
	r.kept = cmp.Or(next.kept, r.kept)
	r.holdsJobs = r.holdsJobs || next.holdsJobs
	r.deploys = r.deploys || next.deploys
	r.holdsLift = r.holdsLift || next.holdsLift
	r.nodeFailures = cmp.Or(next.nodeFailures, r.nodeFailures)
	r.notices = join(r.notices, next.notices)
	r.err = cmp.Or(r.err, next.err)
	return r
}

// add adds a part of a plan. Status and Events are not added.
func (p *Plan) add(part *Plan) {
	p.Confirm = cmp.Or(p.Confirm, part.Confirm)
	p.CreateService = cmp.Or(p.CreateService, part.CreateService)
	p.Grant = cmp.Or(p.Grant, part.Grant)
	p.Verdict = cmp.Or(p.Verdict, part.Verdict)
	p.ReadChildren = p.ReadChildren || part.ReadChildren
	p.DeleteJobSet = p.DeleteJobSet || part.DeleteJobSet
	p.DeleteJobs = join(p.DeleteJobs, part.DeleteJobs)
	p.TellDeleted = cmp.Or(p.TellDeleted, part.TellDeleted)
	p.DeletePods = join(p.DeletePods, part.DeletePods)
	p.ForceJobs = join(p.ForceJobs, part.ForceJobs)
	p.CreateClaims = join(p.CreateClaims, part.CreateClaims)
	p.ScaleJobs = join(p.ScaleJobs, part.ScaleJobs)
	p.CreateJobs = join(p.CreateJobs, part.CreateJobs)
	p.SuspendJobs = join(p.SuspendJobs, part.SuspendJobs)
	p.ResumeJobs = join(p.ResumeJobs, part.ResumeJobs)
	p.Uncreated += part.Uncreated
	p.Unresumed += part.Unresumed
	p.Held = p.Held || part.Held
	p.Moving = p.Moving || part.Moving
	p.ClockStands = p.ClockStands || part.ClockStands
	p.ClockMoved += part.ClockMoved
	p.CountsInterval = max(p.CountsInterval, part.CountsInterval)
	p.Outcomes = join(p.Outcomes, part.Outcomes)
	p.Restart = cmp.Or(part.Restart, p.Restart)
	p.GroupRestart = max(p.GroupRestart, part.GroupRestart)
	p.WarmStarts = cmp.Or(p.WarmStarts, part.WarmStarts)
	p.AskAccess = join(p.AskAccess, part.AskAccess)
	p.AskLeases = p.AskLeases || part.AskLeases
	p.InvalidEpochs = join(p.InvalidEpochs, part.InvalidEpochs)
	p.Replaced = join(p.Replaced, part.Replaced)
	p.RequeueAfter = sooner(p.RequeueAfter, part.RequeueAfter)
}

func join[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}

// terminal reports whether the JobSet is finished once these results are written.
func (r *result) terminal(v *view) bool {
	return v.JobSet.Status.TerminalState != "" || r.changes.any(completesJobSet|failsJobSet)
}

// staysRunning reports whether the group runs, and goes on to run once these results are written.
func (r *result) staysRunning(v *view) bool { return v.running() && !r.changes.any(deprecate) }

// touchesJobs reports whether the plan changes Jobs.
func (p *Plan) touchesJobs() bool {
	return len(p.DeleteJobs)+len(p.ScaleJobs)+len(p.CreateJobs)+len(p.SuspendJobs)+len(p.ResumeJobs) > 0
}

// jobsAsWanted reports whether nothing is left to be done to Jobs, by this plan or a later one.
func (p *Plan) jobsAsWanted() bool {
	return !p.touchesJobs() && p.Uncreated == 0 && p.Unresumed == 0
}

// forgetJobs drops every change of Jobs.
func (p *Plan) forgetJobs() {
	p.DeleteJobs, p.ScaleJobs, p.CreateJobs, p.SuspendJobs, p.ResumeJobs, p.TellDeleted = nil, nil, nil, nil, nil, nil
	p.Uncreated, p.Unresumed = 0, 0
}

// complete ends the JobSet as completed.
func complete() result {
	r := tell(becomesTrue(jobset.JobSetCompleted, constants.AllJobsCompletedReason, constants.AllJobsCompletedMessage),
		becomesFalse(jobset.JobSetRestarting, constants.RestartingEndedCompletedReason, constants.RestartingEndedCompletedMessage))
	r.ends, r.changes, r.plan.Outcomes = true, completesJobSet, []Outcome{Completed}
	return r
}

// fail ends the JobSet as failed.
func fail(reason, message string) result {
	r := tell(becomesTrue(jobset.JobSetFailed, reason, message),
		becomesFalse(jobset.JobSetRestarting, constants.RestartingEndedFailedReason, constants.RestartingEndedFailedMessage))
	r.ends, r.changes, r.plan.Outcomes = true, failsJobSet, []Outcome{Failed}
	return r
}
