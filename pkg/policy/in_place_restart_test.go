/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const restarting = "applying RestartJobSet failure policy action "

// restarted: all Jobs are of an earlier attempt now; D is as at the break.
func restarted(deprecated, counted int32, message string) func(*summary) {
	return func(w *summary) {
		w.Status.DeprecatedEpoch = &deprecated
		w.Status.Restarts++
		w.Restart = jobset.RestartJobSet
		w.Status.RestartsCountTowardsMax += counted
		w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "DefaultFailurePolicy", message, now)}
		w.Events = []Event{{Type: "Warning", Reason: "DefaultFailurePolicy", Message: message}, {Type: "Warning", Reason: "RestartJobSetFailurePolicyAction", Message: message}}
	}
}

// again is restarted where the condition was True before.
func again(deprecated, counted int32, message string) func(*summary) {
	return func(w *summary) {
		restarted(deprecated, counted, message)(w)
		w.Status.Conditions[0].LastTransitionTime = metav1Time(past)
	}
}

// intended: D := S, not charged, and nothing else.
func intended(synced int32) func(*summary) {
	return func(w *summary) { w.Status.DeprecatedEpoch = &synced }
}

func failed(job *batchv1.Job) { withCondition(batchv1.JobFailed)(job) }

func restartingInPlace(in *Input) {
	in.JobSet.Status.InPlaceRestarts = 1
	in.JobSet.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "InPlaceRestart", "first cause", past)}
}

// TestIntentBeforeEffect: while D < S every change of Jobs waits for D := S (P16).
func TestIntentBeforeEffect(t *testing.T) {
	t.Parallel()
	isSuspended := func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) }
	withoutSecond := func(in *Input) { in.Jobs = in.Jobs[:1] }
	suspendedMessage := []metav1.Condition{builders.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", now)}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P16: create, while the group runs":      {inPlace(0, 1, "1|1", withoutSecond), intended(1)},
		"P16: create, at D == S":                 {inPlace(1, 1, "1|1", withoutSecond), func(w *summary) { assembling(w); w.Creates = [][]string{{"js-w-1"}} }},
		"P16: a report beside it is not charged": {inPlace(0, 1, "2|1", withoutSecond), intended(1)},
		"P16: a loss beside it is not charged":   {inPlace(0, 1, ".|1", withoutSecond, confirmed(0)), intended(1)},
		"P16: no budget beside it fails nothing": {inPlace(0, 1, "2|1", withoutSecond, budget(0, 0, 0)), intended(1)},
		"P16: delete, while the group runs": {
			inPlace(0, 1, "1|1", budget(3, 1, 0), onJob(0, func(job *batchv1.Job) { job.Labels[constants.RestartsKey] = "1" })), intended(1),
		},
		"P16: delete, at D == S": {
			inPlace(1, 1, "1|1", budget(3, 1, 0), onJob(0, func(job *batchv1.Job) { job.Labels[constants.RestartsKey] = "1" })),
			func(w *summary) { assembling(w); w.Deletes = []string{"js-w-1"} },
		},
		"P16: suspend, while the group runs": {inPlace(0, 1, "1 1", suspend), intended(1)},
		"P16: suspend, at D == S": {inPlace(1, 1, "1 1", suspend), func(w *summary) {
			w.Suspends, w.Status.Conditions = []string{"js-w-0"}, suspendedMessage
			w.Events = []Event{{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"}}
		}},
		"P16: suspend, while disabled by the annotation":    {inPlace(0, 1, "1 1", suspend, disabled), intended(1)},
		"P16: suspended already, D < S: nothing to intend":  {inPlace(0, 1, ". .", suspend, suspendedAlready), nil},
		"P16: resume, while the group runs":                 {inPlace(0, 1, "1|1", onJob(1, isSuspended)), intended(1)},
		"P16: resume of all, told in the pass that does it": {inPlace(0, 1, ". .", suspendedAlready), intended(1)},
		"P16: resume, at D == S": {inPlace(1, 1, ". .", suspendedAlready), func(w *summary) {
			assembling(w)
			w.Resumes = []string{"js-w-0"}
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, false, "ResumeJobs", "jobset is resumed", now)}
			w.Events = []Event{{Type: "Normal", Reason: "ResumeJobs", Message: "jobset is resumed"}}
		}},
		"P16: a full restart: restarts +1 and D := S in one status": {
			inPlace(0, 1, "1|1", onJob(1, failed)), restarted(1, 1, restarting+"(first failed job: js-w-1)"),
		},
		"P16: a full restart at D == S": {
			inPlace(1, 1, "1|1", onJob(1, failed)), restarted(1, 1, restarting+"(first failed job: js-w-1)"),
		},
		"P16: a headless Service is no change of Jobs": {
			inPlace(0, 1, "1 1", onJobSet(func(js *jobset.JobSet) { js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(true)} })),
			func(w *summary) { w.Service = "js" },
		},
		"P16: with the gate off nobody waits": {inPlace(0, 1, "1 1", suspend, gateOff, offAlready), func(w *summary) {
			w.Suspends = []string{"js-w-0"}
			w.Status.Conditions = append(w.Status.Conditions, suspendedMessage...)
			w.Events = []Event{{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestIncompleteGroup: a worker of this round succeeded (P17).
func TestIncompleteGroup(t *testing.T) {
	t.Parallel()
	const pod = restarting + "(worker pod js-w-0-0 succeeded in epoch 1, so the group cannot restart in place)"
	const anyEpoch = restarting + "(worker pod js-w-0-0 succeeded, so the group cannot restart in place)"
	const index = restarting + "(index 0 of Job js-w-0 is done, so the group cannot restart in place)"
	const job = restarting + "(Job js-w-0 completed after the last lift of the group, so the group cannot restart in place)"
	const other = ": worker pod js-w-0-1 restarted, its exit code was not seen"
	const second = ": worker pod js-w-1-0 restarted, its exit code was not seen"
	complete := onJob(0, withCondition(batchv1.JobComplete))
	// liftedAgo: the first Job completed an hour ago, at past.
	liftedAgo := func(ago time.Duration) func(*Input) {
		return onJobSet(func(js *jobset.JobSet) { js.Status.LastSyncTime = ptr.To(metav1.NewTime(now.Add(-ago))) })
	}
	completedAt := func(at time.Time) func(*Input) {
		return onJob(0, func(job *batchv1.Job) { job.Status.CompletionTime = ptr.To(metav1Time(at)) })
	}
	done := func(indexes string) func(*Input) { return onJob(0, completed(indexes)) }
	waitedFor := func(in *Input) { // the second Job is another ReplicatedJob's, which waited for the first
		in.JobSet.Spec.ReplicatedJobs[0].Replicas = 1
		in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs, builders.MakeReplicatedJob("x").Workers(1).DependsOn("w", jobset.DependencyComplete).Obj())
		in.Jobs[1] = builders.MakeJob(in.JobSet, "x", 0).Workers(1).Obj()
		in.Pods = map[types.UID][]*facts.Member{in.Jobs[1].UID: {worker(in.Jobs[1], 0, "2")}}
	}
	isDeleted := onJob(0, func(job *batchv1.Job) { job.DeletionTimestamp = ptr.To(metav1.NewTime(now)) })
	successTargetsOther := onJobSet(func(js *jobset.JobSet) {
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll}
	})
	afterBypass := func(w *summary) {
		was := w.Status.Conditions
		restarted(1, 0, job)(w)
		w.Status.Conditions = append(was, w.Status.Conditions...)
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P17: while the group runs on, nothing":                {inPlace(0, 1, "ok1 1"), nil},
		"P17: at a break by a report":                          {inPlace(0, 1, "ok1 2 1"), restarted(1, 1, pod+": worker pod js-w-0-1 restarted, its exit code was not seen")},
		"P17: at a break by a loss, which is confirmed first":  {inPlace(0, 1, "ok1 . 1"), confirms("js-w-0", 1)},
		"P17: at a break by a loss":                            {inPlace(0, 1, "ok1 . 1", confirmed(0, 1)), restarted(1, 1, pod+": "+lost)},
		"P17: at a break, its Job complete":                    {inPlace(0, 1, "ok1|2", complete, successTargetsOther, liftedAgo(2*time.Hour)), restarted(1, 1, job+second)},
		"P17: at a break, the index listed as complete":        {inPlace(0, 1, "ok1 2", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "0" })), restarted(1, 1, pod+": worker pod js-w-0-1 restarted, its exit code was not seen")},
		"P17: at a break, only its Job knows of it":            {inPlace(0, 1, "1 2", done("0")), restarted(1, 1, index+other)},
		"P17: at a break, its Pod is gone":                     {inPlace(0, 1, ". 2", done("0")), restarted(1, 1, index+other)},
		"P17: at a break, whatever its Pod reported":           {inPlace(1, 2, "ok1 3 2"), restarted(2, 1, anyEpoch+other)},
		"P17: at a break, its Job met its success criteria":    {inPlace(0, 1, ".|2", done("0"), onJob(0, withCondition(batchv1.JobSuccessCriteriaMet))), restarted(1, 1, index+second)},
		"P17: at a break, its Job is complete, its Pod gone":   {inPlace(0, 1, ".|2", complete, successTargetsOther, liftedAgo(2*time.Hour)), restarted(1, 1, job+second)},
		"P17: at a break, its Pod still seems to run":          {inPlace(0, 1, "1|2", complete, successTargetsOther, liftedAgo(2*time.Hour)), restarted(1, 1, job+second)},
		"P17: times are whole seconds":                         {inPlace(1, 1, ".|2", complete, liftedAgo(time.Hour)), restarted(1, 0, job)},
		"P17: the Job controller's clock is a little behind":   {inPlace(1, 1, ".|2", complete, liftedAgo(time.Hour-5*time.Second)), restarted(1, 0, job)},
		"P17: the completion counts, not its condition":        {inPlace(1, 1, ".|2", complete, liftedAgo(2*time.Hour), completedAt(past.Add(-3*time.Hour))), lifted(2)},
		"P17: a Job that completed before the lift stays out":  {inPlace(1, 1, ".|2", complete, liftedAgo(time.Minute)), lifted(2)},
		"P17, P34b: in a bypass, and nothing was lifted yet":   {inPlace(1, 1, ".|2", complete, bypassEndedAgo(time.Minute)), afterBypass},
		"P17, P34b: not in a bypass before the last lift":      {inPlace(2, 2, ".|3", complete, liftedAgo(time.Minute), bypassEndedAgo(2*time.Minute)), lifted(3)},
		"P17: a Job that others waited for stays out":          {inPlace(1, 1, ".|.", complete, liftedAgo(2*time.Hour), waitedFor), lifted(2)},
		"P17: an older manager wrote no time of the lift":      {inPlace(1, 1, ".|2", complete), lifted(2)},
		"P17: while assembling, only its Job knows of it":      {inPlace(1, 1, "1 2", done("0")), restarted(1, 0, index)},
		"P17: while assembling, its Pod is gone":               {inPlace(1, 1, ". 2", done("0")), restarted(1, 0, index)},
		"P17: at the first start a done index is of no round":  {inPlace(0, 0, ". 1", done("0")), lifted(1)},
		"P17: a Job that is deleted runs its indexes again":    {inPlace(1, 1, ".|2", done("0"), isDeleted), assembling},
		"P17: at a break without a budget the JobSet fails":    {inPlace(0, 1, "ok1 2 1", budget(0, 0, 0)), outOfBudgetBy("worker pod js-w-0-1 restarted, its exit code was not seen")},
		"P17: while assembling, not charged again":             {inPlace(1, 1, "ok1 2", restartingInPlace), again(1, 0, pod)},
		"P17: while assembling, even when all others are back": {inPlace(1, 1, "ok1 2 2", restartingInPlace), again(1, 0, pod)},
		"P17: while assembling, without a budget left":         {inPlace(1, 1, "ok1 2", budget(1, 0, 1)), restarted(1, 0, pod)},
		"P17: while assembling, its Job complete":              {inPlace(1, 1, "ok1|2", complete, liftedAgo(2*time.Hour)), restarted(1, 0, job)},
		"P45b: the Pod of a complete Job does not count":       {inPlace(1, 1, "ok1|2", complete, liftedAgo(time.Minute)), lifted(2)},
		"P45b: at a break, its epoch was set back":             {inPlace(1, 2, "ok1 2|3 2", onJob(0, withCondition(batchv1.JobSuccessCriteriaMet))), restarted(2, 1, anyEpoch+": worker pod js-w-1-0 restarted, its exit code was not seen")},
		"P17: while assembling, its Job terminating":           {inPlace(1, 1, "ok1|2", onJob(0, func(job *batchv1.Job) { job.DeletionTimestamp = ptr.To(metav1.NewTime(now)) })), restarted(1, 0, pod)},
		"P17: while assembling, an older success stays out":    {inPlace(2, 2, "ok1|2", complete), assembling},
		"P17: at the first start there is no round":            {inPlace(0, 0, "ok0 _"), assembling},
		"P17: nobody else is to run: the Job ends by itself":   {inPlace(1, 1, "ok1 ok1"), assembling},
		"P17: FailureTarget comes first":                       {inPlace(1, 1, "ok1 2|2 2", onJob(1, withCondition(batchv1.JobFailureTarget))), nil},
		"P17: not while Jobs of an earlier attempt are there": {
			inPlace(1, 1, "ok1 2|2 2", budget(3, 1, 0), onJob(0, func(job *batchv1.Job) { job.Labels[constants.RestartsKey] = "1" })),
			func(w *summary) { assembling(w); w.Deletes = []string{"js-w-1"} },
		},
		"P17: not twice: the Jobs are of an earlier attempt": {inPlace(1, 1, "ok1 2", budget(3, 1, 0)), func(w *summary) { assembling(w); w.Deletes = []string{"js-w-0"} }},
		"P17: of several the first by name is told":          {inPlace(1, 1, "ok1 ok1 2", restartingInPlace), again(1, 0, pod)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func offAlready(in *Input) {
	in.JobSet.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetInPlaceRestartDisabled, true,
		constants.InPlaceRestartDisabledReason, constants.InPlaceRestartDisabledMessage, past)}
}

// TestFailurePolicyInPlace: a Job that failed is handled as with Recreate (P18).
func TestFailurePolicyInPlace(t *testing.T) {
	t.Parallel()
	const message = "jobset failed due to reaching max number of restarts (first failed job: js-w-0)"
	spent := func(w *summary) {
		outOfBudget(w)
		w.Status.Conditions[0].Message, w.Events[0].Message = message, message
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P15, C131, C288: group restarts draw on the budget of RestartJobSet": {inPlace(1, 2, "2|2", budget(2, 1, 1), ofAttempt("1"), onJob(0, failed)), spent},
		"P15: below the sum it restarts":                                      {inPlace(1, 1, "1|1", budget(2, 0, 1), onJob(0, failed)), restarted(1, 1, restarting+"(first failed job: js-w-0)")},
		"P15, P18: a Job failure while assembling is one of its own": {
			inPlace(1, 1, "1|2", restartingInPlace, onJob(0, failed)), again(1, 1, restarting+"(first failed job: js-w-0)"),
		},
		"P18: a failed Job comes before a report": {inPlace(0, 1, "1|2", onJob(0, failed)), restarted(1, 1, restarting+"(first failed job: js-w-0)")},
		"P18: the ignoring action does not charge": {
			inPlace(0, 1, "1|1", onJob(0, failed), onJobSet(func(js *jobset.JobSet) {
				js.Spec.FailurePolicy.Rules = []jobset.FailurePolicyRule{{Name: "r", Action: jobset.RestartJobSetAndIgnoreMaxRestarts}}
			})),
			func(w *summary) {
				const told = "applying RestartJobSetAndIgnoreMaxRestarts failure policy action (first failed job: js-w-0)"
				restarted(1, 0, told)(w)
				w.Status.Conditions[0].Reason, w.Events[0].Reason = "FailurePolicy_r", "FailurePolicy_r"
				w.Events[1].Reason = "RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction"
				w.Restart = jobset.RestartJobSetAndIgnoreMaxRestarts
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestGate: what happens when the feature gate goes off and comes back.
func TestGate(t *testing.T) {
	t.Parallel()
	off := func(w *summary) {
		w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetInPlaceRestartDisabled, true,
			constants.InPlaceRestartDisabledReason, constants.InPlaceRestartDisabledMessage, now)}
	}
	back := func(w *summary) {
		w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetInPlaceRestartDisabled, false,
			constants.InPlaceRestartEnabledReason, constants.InPlaceRestartEnabledMessage, now)}
		spends(w)
	}
	noPods := func(in *Input) { in.Pods = nil }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P20, C280: gate off: the condition, no lift, no event": {inPlace(0, 0, "1 1", gateOff), off},
		"C280: gate off: the condition, no break":               {inPlace(0, 1, "2 .", gateOff, noPods), off},
		"gate off: the condition once":                          {inPlace(0, 1, "1 1", gateOff, offAlready), nil},
		"P20: gate off: not for another strategy":               {inPlace(0, 1, "1 1", gateOff, recreate), nil},
		"gate off: a full restart writes no epoch":              {inPlace(0, 1, "1 1", gateOff, recreate, onJob(0, failed)), restarted(0, 1, restarting+"(first failed job: js-w-0)")},
		"C280: gate back: the condition before a break":         {inPlace(0, 1, "2 .", offAlready, confirmed(0, 1)), back},
		"C280: gate back: the condition before a lift":          {inPlace(1, 1, "2 2", offAlready), back},
		"gate back: the condition before a failed Job":          {inPlace(0, 1, "1 1", offAlready, onJob(0, failed)), back},
		"gate back: the condition before missing Jobs":          {inPlace(0, 1, "1|1", offAlready, func(in *Input) { in.Jobs = in.Jobs[:1] }), back},
		"gate back: afterwards as ever":                         {inPlace(1, 1, "2 2", offAlready, func(in *Input) { in.JobSet.Status.Conditions[0].Status = metav1.ConditionFalse }), lifted(2)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestReadyJobsDoNotEndAGroupRestart: C40 ends other restarts.
func TestReadyJobsDoNotEndAGroupRestart(t *testing.T) {
	t.Parallel()
	ready := onJob(0, func(job *batchv1.Job) { job.Status.Ready = ptr.To[int32](2) })
	other := func(in *Input) {
		in.JobSet.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "DefaultFailurePolicy", "m", past)}
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P14, C40: all Jobs ready, the group still assembles": {inPlace(1, 1, "2 1", ready, restartingInPlace), assembling},
		"C40: all Jobs ready after a full restart": {inPlace(1, 2, "2 2", ready, other), func(w *summary) {
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, false, "JobsReady", "all jobs are ready", now)}
			w.Events = []Event{{Type: "Normal", Reason: "JobsReady", Message: "all jobs are ready"}}
		}},
		"P13: the lift after a full restart does not end it": {inPlace(1, 1, "2 2", other), lifted(2)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestPodsAreNotCopied: what a plan names is what the cache holds (P22).
func TestPodsAreNotCopied(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 0, "x 1")
	plan := decideOnce(t, in)
	job := in.Jobs[0]
	if want := map[types.UID][]*facts.Member{job.UID: in.Pods[job.UID]}; plan.InvalidEpochs[0] != want[job.UID][0] {
		t.Error("the invalid Pod is a copy")
	}
}
