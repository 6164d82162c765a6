/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import (
	"cmp"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Result is what a step decided, or what several add up to. The zero result decides nothing.
type Result struct {
	// Ends: no later step is asked.
	Ends bool
	// Err: the input makes no sense.
	Err error
	// Ask to Verdict are what the step adds to the plan. Events follow from the notices
	// below, and the status from the other fields.
	Ask      Questions
	Writes   Writes
	Remember Remembered
	Reports  Reports
	Pace     Pace
	Verdict  *Verdict
	// Changes are those of the status, besides RestartJob, Clock and conditions.
	Changes Changes
	// RestartJob makes one Job, and no other, one of an earlier attempt.
	RestartJob *JobRestart
	// Reset, if not nil, is how far the reset has come.
	Reset *ResetStage
	// HoldsJobs: no Job may be created yet. Deploys: Jobs are to run, once the status says so (P86).
	HoldsJobs, Deploys bool
	// HoldsLift: the barrier is not lifted yet.
	HoldsLift bool
	// NodeFailures, if not nil, is what is known of nodes from now on.
	NodeFailures *NodeFailures
	// LostNodes, if not nil, is which nodes new Pods keep off from now on (P174).
	LostNodes *LostNodeList
	// Kept, if not nil, is until when the Jobs of a failed JobSet are kept.
	Kept *KeptUntil
	// Progress, if not nil, is what the status keeps of the steps of workers (P136).
	Progress *KeptProgress
	// Clock, if not nil, is what the clock of the assembly becomes.
	Clock *AssemblySince
	// Began, if not nil, is a restart that begins. Suspect is who stood out in the one that ends, "" if nobody hung.
	Began   *jobset.RestartRecord
	Suspect string
	// Notices are conditions and events, in the order in which they are reported.
	Notices []Notice
}

// KeptProgress is what status.progress becomes; nil if it is not kept.
type KeptProgress struct{ *jobset.ProgressStatus }

// KeptUntil is when the Jobs of a failed JobSet are deleted; nil if they are not kept.
type KeptUntil struct{ *metav1.Time }

// NodeFailures is what status.faultTolerance.nodeFailures becomes.
type NodeFailures struct{ List []jobset.NodeFailures }

// LostNodeList is what status.lostNodes becomes.
type LostNodeList struct{ List []jobset.LostNode }

// ResetStage is how far a reset has come; nil if there is none.
type ResetStage struct{ *jobset.ResetStatus }

// JobRestart makes one Job, and no other, one of an earlier attempt.
type JobRestart struct {
	ReplicatedJob string
	Index         int
	Replicas      int32
	// Attempt is what the counter of the Job becomes at least.
	Attempt int32
	// Counted: the restart counts towards maxRestarts.
	Counted bool
}

// Changes is a set of changes of the status.
type Changes uint16

const (
	// Deprecate sets D := S: workers of the epoch that runs must restart.
	Deprecate Changes = 1 << iota
	// LiftBarrier sets S := S+1: workers that report it may start.
	LiftBarrier
	// RestartAllJobs makes every Job one of an earlier attempt.
	RestartAllJobs
	// ChargeAllJobs: a restart of all Jobs counts towards maxRestarts. Who charges is jobs.Charge.
	ChargeAllJobs
	// ChargeGroup: the same of a group restart.
	ChargeGroup
	// CompletesJobSet is a terminal state.
	CompletesJobSet
	// FailsJobSet is the other.
	FailsJobSet
	// BreaksGroup: the pause after quick failures counts from now if the group runs (P71a).
	BreaksGroup
	// Disrupted, with a charge: a Pod was taken away, and nothing failed (P71b).
	Disrupted
	// Planned, with Deprecate: nothing failed, so the workers may save their state before they end (P142).
	Planned
	// SpendEpoch, with Deprecate, makes S+1 an epoch that has ended: a bypass ends (P34b).
	SpendEpoch
	// ResumesJobSet: another execution begins after a suspension.
	ResumesJobSet
)

// Any reports whether one of some changes is made.
func (c Changes) Any(of Changes) bool { return c&of != 0 }

// AssemblySince is since when the group assembles; nil if it does not assemble.
type AssemblySince struct{ *metav1.Time }

// RequeueAfter asks for another pass after some time; 0 or less asks for none.
func RequeueAfter(after time.Duration) Result {
	return Result{Pace: Pace{RequeueAfter: max(0, after)}}
}

// ConfirmFirst ends the pass: a loss has to be confirmed before anything is decided on it.
func ConfirmFirst(loss *Loss) Result {
	return Result{Ends: true, Ask: Questions{Confirm: loss}}
}

// Tell reports conditions and events, and does nothing else.
func Tell(notices ...Notice) Result { return Result{Notices: notices} }

// DeletePods deletes Pods, and says why when it does.
func DeletePods(pods []*facts.Member, reason, message string) (r Result) {
	because := Warning(reason, message).Event
	for _, pod := range pods {
		r.Writes.Do(Op{Kind: DeletePod, Pod: pod, Because: &because})
	}
	return r
}

// RecheckInterval is how soon to look again at Pods that are to be deleted: one that changed since it was read is not, and such a change
// may wake nobody.
const RecheckInterval = time.Second

// DeleteByForce deletes Pods by force, and looks again.
func DeleteByForce(pods []*facts.Member, message string) Result {
	r := DeletePods(pods, constants.ForcefulDeletionReason, message).And(RequeueAfter(RecheckInterval))
	for i := range r.Writes.Ops {
		r.Writes.Ops[i].Force = true
	}
	return r
}

// DeleteJobs deletes those Jobs that are not being deleted.
func DeleteJobs(jobs ...*batchv1.Job) (r Result) {
	for _, job := range WithoutTerminating(jobs...) {
		r.Writes.Do(Op{Kind: DeleteJob, Job: job})
	}
	return r
}

// Once tells why something waits.
func Once(reason, message string) Result {
	return Result{Reports: Reports{Once: []Event{Warning(reason, message).Event}}}
}

// And adds what a later step decided.
func (r Result) And(next Result) Result {
	r.Ends = r.Ends || next.Ends
	r.Ask, r.Writes = r.Ask.and(next.Ask), r.Writes.and(next.Writes)
	r.Remember, r.Reports = r.Remember.and(next.Remember), r.Reports.and(next.Reports)
	r.Pace, r.Verdict = r.Pace.and(next.Pace), cmp.Or(r.Verdict, next.Verdict)
	r.Changes |= next.Changes
	r.RestartJob = cmp.Or(next.RestartJob, r.RestartJob)
	r.Clock = cmp.Or(next.Clock, r.Clock)
	r.Progress = cmp.Or(next.Progress, r.Progress)
	r.Reset = cmp.Or(next.Reset, r.Reset)
	r.Kept = cmp.Or(next.Kept, r.Kept)
	r.HoldsJobs = r.HoldsJobs || next.HoldsJobs
	r.Deploys = r.Deploys || next.Deploys
	r.HoldsLift = r.HoldsLift || next.HoldsLift
	r.NodeFailures = cmp.Or(next.NodeFailures, r.NodeFailures)
	r.Began, r.Suspect = cmp.Or(next.Began, r.Began), cmp.Or(next.Suspect, r.Suspect)
	r.LostNodes = cmp.Or(next.LostNodes, r.LostNodes)
	r.Notices = Join(r.Notices, next.Notices)
	r.Err = cmp.Or(r.Err, next.Err)
	return r
}

// Complete ends the JobSet as completed.
func Complete() Result {
	r := Tell(BecomesTrue(jobset.JobSetCompleted, constants.AllJobsCompletedReason, constants.AllJobsCompletedMessage),
		BecomesFalse(jobset.JobSetRestarting, constants.RestartingEndedCompletedReason, constants.RestartingEndedCompletedMessage),
		startupEnds(constants.RestartingEndedCompletedReason, constants.RestartingEndedCompletedMessage))
	r.Ends, r.Changes, r.Reports.Outcomes = true, CompletesJobSet, []Outcome{Completed}
	return r
}

// Fail ends the JobSet as failed.
func Fail(reason, message string) Result {
	r := Tell(BecomesTrue(jobset.JobSetFailed, reason, message),
		BecomesFalse(jobset.JobSetRestarting, constants.RestartingEndedFailedReason, constants.RestartingEndedFailedMessage),
		startupEnds(constants.RestartingEndedFailedReason, constants.RestartingEndedFailedMessage))
	r.Ends, r.Changes, r.Reports.Outcomes = true, FailsJobSet, []Outcome{Failed}
	return r
}

// startupEnds: a JobSet that has ended starts no more Jobs. The end itself is the event.
func startupEnds(reason, message string) Notice {
	n := Silently(jobset.JobSetStartupPolicyInProgress, metav1.ConditionFalse, reason, message)
	n.IfTrue = true
	return n
}
