/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// jobsOf are the Jobs of a JobSet of a(2) and b(1), changed by name.
func jobsOf(js *jobset.JobSet, changes map[string]func(*builders.JobWrapper)) []*batchv1.Job {
	var jobs []*batchv1.Job
	for _, w := range []*builders.JobWrapper{builders.MakeJob(js, "a", 0), builders.MakeJob(js, "a", 1), builders.MakeJob(js, "b", 0)} {
		if change := changes[w.Obj().Name]; change != nil {
			change(w)
		}
		jobs = append(jobs, w.Obj())
	}
	return jobs
}

func twoKinds() *builders.JobSetWrapper {
	return builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(2), builders.MakeReplicatedJob("b"))
}

func doing(w *builders.JobSetWrapper, changes map[string]func(*builders.JobWrapper)) Input {
	js := w.Obj()
	return Input{JobSet: js, Jobs: jobsOf(js, changes), Now: now}
}

type jobChanges = map[string]func(*builders.JobWrapper)

func done(w *builders.JobWrapper) { w.Complete() }
func up(w *builders.JobWrapper)   { w.Counts(1, 1, 0) }
func off(w *builders.JobWrapper)  { w.Suspend(true) }

func completes(w *summary) {
	const message = "jobset completed successfully"
	w.Status.Conditions = append(w.Status.Conditions, builders.Condition(jobset.JobSetCompleted, true, "AllJobsCompleted", message, now))
	w.Status.TerminalState = "Completed"
	w.Events = []Event{{Type: "Normal", Reason: "AllJobsCompleted", Message: message}}
	w.Outcomes = []Outcome{Completed}
}

func TestSuccessPolicy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"C116, C165: nothing has happened":           {doing(twoKinds(), nil), nil},
		"C118: All, all succeeded":                   {doing(twoKinds().SuccessPolicy(jobset.OperatorAll), jobChanges{"js-a-0": done, "js-a-1": done, "js-b-0": done}), completes},
		"C118: All, one is missing":                  {doing(twoKinds().SuccessPolicy(jobset.OperatorAll), jobChanges{"js-a-0": done, "js-b-0": done}), nil},
		"C118: Any, one succeeded":                   {doing(twoKinds().SuccessPolicy(jobset.OperatorAny), jobChanges{"js-a-1": done}), completes},
		"C117: All of the targets":                   {doing(twoKinds().SuccessPolicy(jobset.OperatorAll, "b"), jobChanges{"js-b-0": done}), completes},
		"C117: All, but not of the targets":          {doing(twoKinds().SuccessPolicy(jobset.OperatorAll, "a"), jobChanges{"js-a-0": done, "js-b-0": done}), nil},
		"C117: Any of the targets":                   {doing(twoKinds().SuccessPolicy(jobset.OperatorAny, "a"), jobChanges{"js-a-1": done}), completes},
		"C117: Any, but not of the targets":          {doing(twoKinds().SuccessPolicy(jobset.OperatorAny, "a"), jobChanges{"js-b-0": done}), nil},
		"C121: without a policy all Jobs count":      {doing(twoKinds(), jobChanges{"js-a-0": done, "js-a-1": done, "js-b-0": done}), completes},
		"C121: without a policy one is missing":      {doing(twoKinds(), jobChanges{"js-a-0": done, "js-a-1": done}), nil},
		"C112: a success of an earlier attempt":      {doing(twoKinds().Restarts(1, 1).SuccessPolicy(jobset.OperatorAny), jobChanges{"js-a-0": func(w *builders.JobWrapper) { w.Attempt(0).Complete() }}), func(w *summary) { w.Deletes = []string{"js-a-0"} }},
		"C119: completion ends a restart, told once": {doing(twoKinds().SuccessPolicy(jobset.OperatorAny).Condition(jobset.JobSetRestarting, true, "r", "m", past), jobChanges{"js-a-0": done}), endsRestart},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func endsRestart(w *summary) {
	completes(w)
	w.Status.Conditions[0] = builders.Condition(jobset.JobSetRestarting, false, "JobSetCompleted", "jobset completed successfully", now)
	w.Events = append(w.Events, Event{Type: "Normal", Reason: "JobSetCompleted", Message: "jobset completed successfully"})
}

func TestFinished(t *testing.T) {
	t.Parallel()
	ended := func(condition jobset.JobSetConditionType) *builders.JobSetWrapper {
		return twoKinds().Condition(condition, true, "r", "m", past).TerminalState(condition)
	}
	some := jobChanges{"js-a-0": done, "js-a-1": func(w *builders.JobWrapper) { w.Failed(past, "r", "m") }}
	leaving := jobChanges{"js-a-0": done, "js-a-1": done, "js-b-0": func(w *builders.JobWrapper) { w.Terminating(past) }}
	deletes := func(jobs ...string) func(*summary) { return func(w *summary) { w.Deletes = jobs } }
	hour := int32(3600)
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"C105: Completed: only active Jobs are deleted":          {doing(ended(jobset.JobSetCompleted), some), deletes("js-b-0")},
		"C105: Failed: only active Jobs are deleted":             {doing(ended(jobset.JobSetFailed), some), deletes("js-b-0")},
		"C337: Jobs of an earlier attempt too":                   {doing(ended(jobset.JobSetFailed).Restarts(1, 1), jobChanges{"js-b-0": func(w *builders.JobWrapper) { w.Attempt(0).Complete() }, "js-a-0": done, "js-a-1": done}), deletes("js-b-0")},
		"C103: those that terminate are left alone":              {doing(ended(jobset.JobSetFailed), leaving), nil},
		"C38: nothing is created, resumed or restarted":          {Input{JobSet: ended(jobset.JobSetFailed).FailurePolicy(jobset.Recreate, 9).Obj(), Now: now}, nil},
		"C38: nothing is lifted or broken":                       {inPlace(1, 1, "2 2", onJobSet(func(js *jobset.JobSet) { js.Status.Conditions = ended(jobset.JobSetFailed).Obj().Status.Conditions })), deletes("js-w-0")},
		"C38: effects need no intent, nobody breaks it any more": {inPlace(0, 1, "1 1", onJobSet(func(js *jobset.JobSet) { js.Status.Conditions = ended(jobset.JobSetFailed).Obj().Status.Conditions })), deletes("js-w-0")},
		"C224: a condition that is False finishes nothing":       {doing(twoKinds().Condition(jobset.JobSetFailed, false, "r", "m", past), nil), nil},
		"C174: no ttl, no deletion":                              {doing(ended(jobset.JobSetFailed), jobChanges{"js-a-0": done, "js-a-1": done, "js-b-0": done}), nil},
		"C174: before the ttl, look again":                       {Input{JobSet: ended(jobset.JobSetFailed).TTL(hour + 30).Obj(), Now: now}, looksAgain(30 * time.Second)},
		"C173: at the ttl, delete":                               {Input{JobSet: ended(jobset.JobSetFailed).TTL(hour).Obj(), Now: now}, func(w *summary) { w.DeleteJobSet = true }},
		"C173: after the ttl, delete":                            {Input{JobSet: ended(jobset.JobSetCompleted).TTL(0).Obj(), Now: now}, func(w *summary) { w.DeleteJobSet = true }},
		"C174: the largest ttl does not overflow":                {Input{JobSet: ended(jobset.JobSetFailed).TTL(1<<31 - 1).Obj(), Now: now}, looksAgain((1<<31 - 1 - 3600) * time.Second)},
		"C172: the first of both conditions counts":              {Input{JobSet: ended(jobset.JobSetFailed).Condition(jobset.JobSetCompleted, true, "r", "m", now).TTL(hour).Obj(), Now: now}, func(w *summary) { w.DeleteJobSet = true }},
		"C175: not in the pass that finishes":                    {doing(twoKinds().SuccessPolicy(jobset.OperatorAny).TTL(0), jobChanges{"js-a-0": done}), completes},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
	t.Run("C176: without a time nothing is deleted", func(t *testing.T) {
		t.Parallel()
		js := twoKinds().Condition(jobset.JobSetFailed, true, "r", "m", time.Time{}).TTL(0).Obj()
		plan, err := Decide(Input{JobSet: js, Now: now})
		if err == nil || plan.Does(DeleteJobSet) {
			t.Fatalf("error %v, plan %+v, want an error", err, plan)
		}
		const want = "error checking if ttl expired: unable to find the time when the JobSet ns/js finished"
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	isSuspended := func(w *summary) {
		w.Status.Conditions = append(w.Status.Conditions, builders.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", now))
		w.Events = append(w.Events, Event{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"})
	}
	wasSuspended := func(w *builders.JobSetWrapper) *builders.JobSetWrapper {
		return w.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", past)
	}
	resumed := func(jobs ...string) func(*summary) {
		return func(w *summary) {
			w.Resumes = jobs
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, false, "ResumeJobs", "jobset is resumed", now)}
			w.Events = []Event{{Type: "Normal", Reason: "ResumeJobs", Message: "jobset is resumed"}}
		}
	}
	all := jobChanges{"js-a-0": off, "js-a-1": off, "js-b-0": off}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"C163: all unfinished Jobs are suspended": {doing(twoKinds().Suspend(true), jobChanges{"js-a-1": done}), func(w *summary) {
			isSuspended(w)
			w.Suspends = []string{"js-a-0", "js-b-0"}
		}},
		"C163: those that are suspended are left alone": {doing(wasSuspended(twoKinds().Suspend(true)), all), nil},
		"C163: a restart ends with the suspend": {doing(twoKinds().Suspend(true).Condition(jobset.JobSetRestarting, true, "r", "m", past), all), func(w *summary) {
			isSuspended(w)
			w.Status.Conditions[0] = builders.Condition(jobset.JobSetRestarting, false, "JobSetSuspended", "jobset is suspended", now)
			w.Events = append(w.Events, Event{Type: "Normal", Reason: "JobSetSuspended", Message: "jobset is suspended"})
		}},
		"C318: a suspend does not rewrite a restart that ended": {doing(twoKinds().Suspend(true).Condition(jobset.JobSetRestarting, false, "JobsReady", "m", past), all), isSuspended},
		"C40: suspended Jobs do not end a restart as ready":     {doing(wasSuspended(twoKinds().Suspend(true)).Condition(jobset.JobSetRestarting, false, "r", "m", past), jobChanges{"js-a-0": func(w *builders.JobWrapper) { off(w); up(w) }, "js-a-1": func(w *builders.JobWrapper) { off(w); up(w) }, "js-b-0": done}), nil},
		"C164: missing Jobs are created, suspended already": {Input{JobSet: twoKinds().Suspend(true).Obj(), Now: now}, func(w *summary) {
			isSuspended(w)
			w.Creates = [][]string{{"js-a-0", "js-a-1"}, {"js-b-0"}}
		}},
		"C166: all suspended Jobs are resumed":           {doing(wasSuspended(twoKinds()), all), resumed("js-a-0", "js-a-1", "js-b-0")},
		"C166: finished Jobs are not resumed":            {doing(wasSuspended(twoKinds()), jobChanges{"js-a-0": off, "js-a-1": func(w *builders.JobWrapper) { off(w); done(w) }}), resumed("js-a-0")},
		"C166: Jobs of an unknown ReplicatedJob are not": {doing(wasSuspended(twoKinds()), jobChanges{"js-b-0": func(w *builders.JobWrapper) { off(w); w.Label(jobset.ReplicatedJobNameKey, "x") }}), resumed()},
		"C165: a Job that somebody suspended is resumed": {doing(twoKinds(), jobChanges{"js-b-0": off}), func(w *summary) { w.Resumes = []string{"js-b-0"} }},
		"C171: no counter moves":                         {doing(wasSuspended(twoKinds()).Restarts(2, 1), all), resumed("js-a-0", "js-a-1", "js-b-0")},
		"C40: all ready ends a restart": {doing(twoKinds().Condition(jobset.JobSetRestarting, true, "r", "m", past), jobChanges{"js-a-0": up, "js-a-1": up, "js-b-0": done}), func(w *summary) {
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, false, "JobsReady", "all jobs are ready", now)}
			w.Events = []Event{{Type: "Normal", Reason: "JobsReady", Message: "all jobs are ready"}}
		}},
		"C40: one is not ready":                  {doing(twoKinds().Condition(jobset.JobSetRestarting, true, "r", "m", past), jobChanges{"js-a-0": up, "js-a-1": up}), nil},
		"C56: nothing restarted: no condition":   {doing(twoKinds(), jobChanges{"js-a-0": up, "js-a-1": up, "js-b-0": up}), nil},
		"C61: only missing names are created":    {Input{JobSet: twoKinds().Obj(), Now: now, Jobs: jobsOf(twoKinds().Obj(), nil)[1:2]}, func(w *summary) { w.Creates = [][]string{{"js-a-0"}, {"js-b-0"}} }},
		"C60: no replicas, no Jobs":              {Input{JobSet: builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(0)).Obj(), Now: now}, nil},
		"C91: the Service is created when asked": {serviceWanted(false), func(w *summary) { w.Service = "js" }},
		"C94: a Service of that name is enough":  {serviceWanted(true), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func serviceWanted(exists bool) Input {
	return Input{JobSet: builders.MakeJobSet("js", "ns").Network(jobset.Network{EnableDNSHostnames: ptr.To(true)}).Obj(), Now: now, ServiceExists: exists}
}

func TestResumeOfAJobWhoseTemplateChanges(t *testing.T) {
	t.Parallel()
	started := func(w *builders.JobWrapper) {
		off(w)
		w.Change(func(job *batchv1.Job) { job.Status.StartTime = ptr.To(metav1.NewTime(past)) })
	}
	isSuspended := func(w *builders.JobWrapper) { started(w); w.Condition(batchv1.JobSuspended) }
	stopping := func(w *builders.JobWrapper) { isSuspended(w); w.Counts(1, 0, 0) }
	same, other := builders.MakeReplicatedJob("a"), builders.MakeReplicatedJob("a").PodMeta("k", "v")
	tests := map[string]struct {
		rjob           *builders.ReplicatedJobWrapper
		change         func(*builders.JobWrapper)
		resumes, reset bool
	}{
		"C167: the Job controller suspended it: the start time is reset":              {other, isSuspended, true, true},
		"C167: it never started: it has no start time":                                {other, off, true, false},
		"C167: the Job controller has yet to suspend it: it is waited for":            {other, started, false, false},
		"C167: a Pod of it is still active: it is waited for":                         {other, stopping, false, false},
		"C167: the template stays: nothing is in the way":                             {same, started, true, false},
		"C167: the template stays: not even a Pod that is still active is in the way": {same, stopping, true, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").ReplicatedJob(tc.rjob).Condition(jobset.JobSetSuspended, true, "r", "m", past).Obj()
			job := builders.MakeJob(js, "a", 0)
			tc.change(job)
			plan := decideOnce(t, Input{JobSet: js, Jobs: []*batchv1.Job{job.Obj()}, Now: now})
			stillSuspended := apimeta.IsStatusConditionTrue(plan.Status.Conditions, string(jobset.JobSetSuspended))
			if !tc.resumes {
				if len(plan.Of(ResumeJob)) != 0 || plan.Unresumed != 1 || !stillSuspended || plan.RequeueAfter != 0 {
					t.Errorf("resumes %+v, %d not, suspended %v, looks again after %v; want it to wait for the Job, and the JobSet to be suspended so long",
						plan.Of(ResumeJob), plan.Unresumed, stillSuspended, plan.RequeueAfter)
				}
				return
			}
			if len(plan.Of(ResumeJob)) != 1 || plan.Of(ResumeJob)[0].ResetStartTime != tc.reset || stillSuspended {
				t.Errorf("resumes %+v, suspended %v, want one with ResetStartTime %v", plan.Of(ResumeJob), stillSuspended, tc.reset)
			}
		})
	}
}
