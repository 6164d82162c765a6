/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// result is what a step decided, or what several add up to. The zero result decides nothing.
type result struct {
	// ends: no later step is asked.
	ends bool
	// err: the input makes no sense.
	err error
	// ask, writes, remember, reports, pace and verdict are what the step adds to the plan. Events follow from the notices
	// below, and the status from the other fields.
	ask      Questions
	writes   Writes
	remember Remembered
	reports  Reports
	pace     Pace
	verdict  *Verdict
	// changes are those of the status, besides restartJob, clock and conditions.
	changes changes
	// restartJob makes one Job, and no other, one of an earlier attempt.
	restartJob *jobRestart
	// reset, if not nil, is how far the reset has come.
	reset *resetStage
	// holdsJobs: no Job may be created yet. deploys: Jobs are to run, once the status says so (P86).
	holdsJobs, deploys bool
	// holdsLift: the barrier is not lifted yet.
	holdsLift bool
	// nodeFailures, if not nil, is what is known of nodes from now on.
	nodeFailures *nodeFailures
	// lostNodes, if not nil, is which nodes new Pods keep off from now on (P174).
	lostNodes *lostNodeList
	// kept, if not nil, is until when the Jobs of a failed JobSet are kept.
	kept *keptUntil
	// progress, if not nil, is what the status keeps of the steps of workers (P136).
	progress *keptProgress
	// clock, if not nil, is what the clock of the assembly becomes.
	clock *assemblySince
	// began, if not nil, is a restart that begins. suspect is who stood out in the one that ends, "" if nobody hung.
	began   *jobset.RestartRecord
	suspect string
	// notices are conditions and events, in the order in which they are reported.
	notices []notice
}

// keptProgress is what status.progress becomes; nil if it is not kept.
type keptProgress struct{ *jobset.ProgressStatus }

// keptUntil is when the Jobs of a failed JobSet are deleted; nil if they are not kept.
type keptUntil struct{ *metav1.Time }

// nodeFailures is what status.faultTolerance.nodeFailures becomes.
type nodeFailures struct{ list []jobset.NodeFailures }

// lostNodeList is what status.lostNodes becomes.
type lostNodeList struct{ list []jobset.LostNode }

// resetStage is how far a reset has come; nil if there is none.
type resetStage struct{ *jobset.ResetStatus }

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
	// disrupted, with a charge: a Pod was taken away, and nothing failed (P71b).
	disrupted
	// planned, with deprecate: nothing failed, so the workers may save their state before they end (P142).
	planned
	// spendEpoch, with deprecate, makes S+1 an epoch that has ended: a bypass ends (P34b).
	spendEpoch
	// resumesJobSet: another execution begins after a suspension.
	resumesJobSet
)

func (c changes) any(of changes) bool { return c&of != 0 }

// assemblySince is since when the group assembles; nil if it does not assemble.
type assemblySince struct{ *metav1.Time }

// requeueAfter asks for another pass after some time; 0 or less asks for none.
func requeueAfter(after time.Duration) result {
	return result{pace: Pace{RequeueAfter: max(0, after)}}
}

// confirmFirst ends the pass: a loss has to be confirmed before anything is decided on it.
func confirmFirst(loss *Loss) result {
	return result{ends: true, ask: Questions{Confirm: loss}}
}

func tell(notices ...notice) result { return result{notices: notices} }

// deletePods deletes Pods, and says why when it does.
func deletePods(pods []*facts.Member, reason, message string) (r result) {
	because := warning(reason, message).event
	for _, pod := range pods {
		r.writes.do(Op{Kind: DeletePod, Pod: pod, Because: &because})
	}
	return r
}

// deleteJobs deletes those Jobs that are not being deleted.
func deleteJobs(jobs ...*batchv1.Job) (r result) {
	for _, job := range withoutTerminating(jobs...) {
		r.writes.do(Op{Kind: DeleteJob, Job: job})
	}
	return r
}

// once tells why something waits.
func once(reason, message string) result {
	return result{reports: Reports{Once: []Event{warning(reason, message).event}}}
}

// and adds what a later step decided.
func (r result) and(next result) result {
	r.ends = r.ends || next.ends
	r.ask, r.writes = r.ask.and(next.ask), r.writes.and(next.writes)
	r.remember, r.reports = r.remember.and(next.remember), r.reports.and(next.reports)
	r.pace, r.verdict = r.pace.and(next.pace), cmp.Or(r.verdict, next.verdict)
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
	r.began, r.suspect = cmp.Or(next.began, r.began), cmp.Or(next.suspect, r.suspect)
	r.lostNodes = cmp.Or(next.lostNodes, r.lostNodes)
	r.notices = join(r.notices, next.notices)
	r.err = cmp.Or(r.err, next.err)
	return r
}

// complete ends the JobSet as completed.
func complete() result {
	r := tell(becomesTrue(jobset.JobSetCompleted, constants.AllJobsCompletedReason, constants.AllJobsCompletedMessage),
		becomesFalse(jobset.JobSetRestarting, constants.RestartingEndedCompletedReason, constants.RestartingEndedCompletedMessage),
		startupEnds(constants.RestartingEndedCompletedReason, constants.RestartingEndedCompletedMessage))
	r.ends, r.changes, r.reports.Outcomes = true, completesJobSet, []Outcome{Completed}
	return r
}

// fail ends the JobSet as failed.
func fail(reason, message string) result {
	r := tell(becomesTrue(jobset.JobSetFailed, reason, message),
		becomesFalse(jobset.JobSetRestarting, constants.RestartingEndedFailedReason, constants.RestartingEndedFailedMessage),
		startupEnds(constants.RestartingEndedFailedReason, constants.RestartingEndedFailedMessage))
	r.ends, r.changes, r.reports.Outcomes = true, failsJobSet, []Outcome{Failed}
	return r
}

// startupEnds: a JobSet that has ended starts no more Jobs. The end itself is the event.
func startupEnds(reason, message string) notice {
	n := silently(jobset.JobSetStartupPolicyInProgress, metav1.ConditionFalse, reason, message)
	n.ifTrue = true
	return n
}

// gatherNodes is how long a move waits for more nodes to be marked: a switch or a rack fails as a whole.
const gatherNodes = time.Second

// forced deletes Pods by force. One that changed since it was read is not deleted, and such a change may wake nobody.
func forced(pods []*facts.Member, message string) result {
	r := deletePods(pods, constants.ForcefulDeletionReason, message).and(requeueAfter(gatherNodes))
	for i := range r.writes.Ops {
		r.writes.Ops[i].Force = true
	}
	return r
}
