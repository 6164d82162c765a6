/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"math"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// counted makes executions of a JobSet be counted, of which so many were; -1: none that is known.
func counted(attempts int32, changes ...func(*Input)) func(*Input) {
	return func(in *Input) {
		in.Gates.ExecutionAttemptsTracking = true
		if attempts >= 0 {
			in.JobSet.Status.ExecutionAttempts = &attempts
		}
		for _, change := range changes {
			change(in)
		}
	}
}

func hasCounted(attempts int32) func(*summary) {
	return func(w *summary) { w.Status.ExecutionAttempts = &attempts }
}

func sleepy(w *builders.JobSetWrapper) *builders.JobSetWrapper {
	return w.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", past)
}

// drowsy is a JobSet of which some Jobs may be suspended.
func drowsy(w *builders.JobSetWrapper) *builders.JobSetWrapper {
	return w.Condition(jobset.JobSetSuspended, false, "SuspendingJobs", "jobset is being suspended", past)
}

var allOff = jobChanges{"js-a-0": off, "js-a-1": off, "js-b-0": off}

func TestExecutionAttempts(t *testing.T) {
	t.Parallel()
	all := []string{"js-a-0", "js-a-1", "js-b-0"}
	resumed := func(attempts int32) func(*summary) {
		return func(w *summary) {
			hasCounted(attempts)(w)
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, false, "ResumeJobs", "jobset is resumed", now)}
			w.Events = []Event{{Type: "Normal", Reason: "ResumeJobs", Message: "jobset is resumed"}}
		}
	}
	resumes := func(w *summary) { w.Resumes = all }
	awake := func() *builders.JobSetWrapper {
		return twoKinds().Condition(jobset.JobSetSuspended, false, "ResumeJobs", "jobset is resumed", past)
	}
	untracked := func(in *Input) { in.Gates.ExecutionAttemptsTracking = false }
	none := func(in *Input) { in.Jobs = nil }
	for name, tc := range map[string]struct {
		js   *builders.JobSetWrapper
		jobs jobChanges
		with func(*Input)
		want func(*summary)
	}{
		"C396: a JobSet that runs for the first time has 0":             {twoKinds(), nil, counted(-1), hasCounted(0)},
		"C396: one that was never resumed has none":                     {sleepy(twoKinds().Suspend(true)), allOff, counted(-1), nil},
		"C396 C398: the first start is 0, before its Jobs are resumed":  {sleepy(twoKinds()), allOff, counted(-1), resumed(0)},
		"C398: its Jobs are resumed then, and nothing is counted":       {awake(), allOff, counted(0), resumes},
		"C396 C398: a resumption adds one, before its Jobs are resumed": {sleepy(twoKinds()), allOff, counted(4), resumed(5)},
		"C398: a Job of it that is still suspended adds nothing":        {awake(), jobChanges{"js-b-0": off}, counted(5), func(w *summary) { w.Resumes = all[2:] }},
		"C398: a JobSet without Jobs is resumed, too":                   {sleepy(twoKinds()), nil, counted(4, none), resumed(5)},
		"C398: that it is suspended is written before its Jobs are": {twoKinds().Suspend(true), nil, counted(4), func(w *summary) {
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, false, "SuspendingJobs", "jobset is being suspended", now)}
		}},
		"C398: they are suspended then, and nothing is counted": {drowsy(twoKinds().Suspend(true)), nil, counted(4), func(w *summary) {
			w.Suspends = all
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", now)}
			w.Events = []Event{{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"}}
		}},
		"C398: one that is resumed before all of them were counts": {drowsy(twoKinds()), jobChanges{"js-a-0": off}, counted(4), func(w *summary) {
			resumed(5)(w)
			w.Status.Conditions[0].LastTransitionTime = metav1Time(past)
		}},
		"C397 C398: that its Jobs ran is written before they are suspended": {sleepy(twoKinds().Suspend(true)), jobChanges{"js-a-0": off, "js-a-1": off}, counted(-1), func(w *summary) {
			hasCounted(0)(w)
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, false, "SuspendingJobs", "jobset is being suspended", now)}
		}},
		"C398: one that is resumed before they were counts":    {sleepy(twoKinds()), nil, counted(4), resumed(5)},
		"C397: one that runs when the gate comes has restarts": {twoKinds().Restarts(3, 3), jobChanges{"js-a-0": third, "js-a-1": third, "js-b-0": third}, counted(-1), hasCounted(3)},
		"C397: a suspended one, too":                           {sleepy(twoKinds().Suspend(true).Restarts(3, 3)), jobChanges{"js-a-0": offThird, "js-a-1": offThird, "js-b-0": offThird}, counted(-1), hasCounted(3)},

		"C397: it is at least restarts, also after a time without the gate": {twoKinds().Restarts(3, 3), jobChanges{"js-a-0": third, "js-a-1": third, "js-b-0": third}, counted(1), hasCounted(3)},
		"C397 C188: with the gate off it is left": {sleepy(twoKinds()), allOff, counted(4, untracked), func(w *summary) {
			resumed(4)(w)
			w.Resumes = all
		}},
		"C397: one that was counted differently is counted before its Jobs are created": {twoKinds().Restarts(3, 3), nil, counted(-1, none), hasCounted(3)},
		"C396: it stops at the most that a number holds":                                {sleepy(twoKinds()), allOff, counted(math.MaxInt32), resumed(math.MaxInt32)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := doing(tc.js, tc.jobs)
			tc.with(&in)
			check(t, in, tc.want)
		})
	}
}

func third(w *builders.JobWrapper)    { w.Attempt(3) }
func offThird(w *builders.JobWrapper) { w.Attempt(3).Suspend(true) }

// TestRestartsAreExecutions looks at status.executionAttempts alone, after each kind of restart.
func TestRestartsAreExecutions(t *testing.T) {
	t.Parallel()
	rules := func(action jobset.FailurePolicyAction) Input {
		in := doing(twoKinds().FailurePolicy(jobset.Recreate, 3, jobset.FailurePolicyRule{Name: "r", Action: action}), jobChanges{"js-a-0": jobFailed})
		in.Gates.RestartJob = true
		for i := range in.Jobs {
			in.Jobs[i].Labels["jobset.sigs.k8s.io/job-restart-attempt"] = "0"
		}
		return in
	}
	spent := onJobSet(func(js *jobset.JobSet) { js.Status.InPlaceRestarts = 3 })
	grows := func(in *Input) {
		in.Gates.ElasticJobSet = true
		job := &in.JobSet.Spec.ReplicatedJobs[0].Template.Spec
		job.Completions, job.Parallelism, job.CompletionMode = ptr.To[int32](3), ptr.To[int32](3), ptr.To(batchv1.IndexedCompletion)
	}
	resumedWithFailure := rules(jobset.RestartJobSet)
	resumedWithFailure.JobSet.Status.Conditions = sleepy(twoKinds()).Obj().Status.Conditions
	lost := rules(jobset.RestartJobSet)
	for i := range lost.Jobs { // a status that was lost catches up in one step
		lost.Jobs[i].Labels["jobset.sigs.k8s.io/restart-attempt"] = "20"
	}
	for name, tc := range map[string]struct {
		in   Input
		want int32
	}{
		"C396: a restart of all Jobs adds one":                       {rules(jobset.RestartJobSet), 8},
		"C396: one that does not count towards maxRestarts adds one": {rules(jobset.RestartJobSetAndIgnoreMaxRestarts), 8},
		"C396: a restart of a single Job adds none":                  {rules(jobset.RestartJob), 7},
		"C396: a failure that ends the JobSet adds none":             {rules(jobset.FailJobSet), 7},
		"C396: a restart before a resumption was counted adds one":   {resumedWithFailure, 8},
		"C396: it is at least restarts":                              {lost, 21},
		"C396: a group restart in place that is charged adds one":    {inPlace(0, 1, "1 2"), 8},
		"C396: one for which no restart is left adds none":           {inPlace(0, 1, "1 2", spent), 7},
		"C396: one that is planned adds none":                        {inPlace(0, 1, "1 1", grows), 7},
		"C396: a lift adds none":                                     {inPlace(0, 0, "1 1"), 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted(7)(&tc.in)
			if got := ptr.Deref(decideOnce(t, tc.in).Status.ExecutionAttempts, -1); got != tc.want {
				t.Errorf("executionAttempts %d, want %d", got, tc.want)
			}
			tc.in.Gates.ExecutionAttemptsTracking = false
			if got := ptr.Deref(decideOnce(t, tc.in).Status.ExecutionAttempts, -1); got != 7 {
				t.Errorf("C397: executionAttempts %d with the gate off, want 7", got)
			}
		})
	}
}

// TestJobsCarryTheirExecution: those that are created and those that are resumed, and their Pods.
func TestJobsCarryTheirExecution(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with   func(*Input)
		create bool
		want   string
	}{
		"C399: a Job that is created carries the attempt":                     {counted(5), true, "5"},
		"C399: the first execution is 0, although the status does not say so": {counted(-1), true, "0"},
		"C399: a Job that is resumed carries the attempt":                     {counted(5), false, "5"},
		"C399 C397: with the gate off a Job that is created carries nothing":  {counted(5, func(in *Input) { in.Gates.ExecutionAttemptsTracking = false }), true, ""},
		"C399 C397: one that is resumed keeps what it carries":                {counted(5, func(in *Input) { in.Gates.ExecutionAttemptsTracking = false }), false, "4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := doing(twoKinds(), allOff)
			if tc.create {
				in.Jobs = nil
			}
			for _, job := range in.Jobs {
				job.Annotations = map[string]string{jobset.ExecutionAttemptKey: "4"}
				job.Spec.Template.Annotations = map[string]string{jobset.ExecutionAttemptKey: "4"}
			}
			tc.with(&in)
			plan := decideOnce(t, in)
			var jobs []*batchv1.Job
			for _, op := range plan.Of(CreateJob | ResumeJob) {
				jobs = append(jobs, map[OpKind]*batchv1.Job{CreateJob: op.Job, ResumeJob: op.Resumed}[op.Kind])
			}
			if len(jobs) != 3 {
				t.Fatalf("%d Jobs, want 3", len(jobs))
			}
			for _, job := range jobs {
				onJob, onPods := job.Annotations[jobset.ExecutionAttemptKey], job.Spec.Template.Annotations[jobset.ExecutionAttemptKey]
				if onJob != tc.want || onPods != tc.want {
					t.Errorf("Job %s carries %q, its Pods %q, want %q", job.Name, onJob, onPods, tc.want)
				}
				if _, isLabel := job.Labels[jobset.ExecutionAttemptKey]; isLabel {
					t.Errorf("Job %s has a label of that name", job.Name)
				}
			}
		})
	}
}
