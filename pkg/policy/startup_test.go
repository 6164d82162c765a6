/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// chain is a(2), then b(1) with what it depends on.
func chain(status jobset.DependsOnStatus) *builders.JobSetWrapper {
	return builders.MakeJobSet("js", "ns").ReplicatedJob(
		builders.MakeReplicatedJob("a").Replicas(2), builders.MakeReplicatedJob("b").DependsOn("a", status))
}

// only keeps the named Jobs.
func only(in Input, wanted ...string) Input {
	jobs := in.Jobs
	in.Jobs = nil
	for _, job := range jobs {
		for _, name := range wanted {
			if job.Name == name {
				in.Jobs = append(in.Jobs, job)
			}
		}
	}
	return in
}

func creates(batches ...[]string) func(*summary) {
	return func(w *summary) { w.Creates = batches }
}

func TestDependsOn(t *testing.T) {
	t.Parallel()
	both := []string{"js-a-0", "js-a-1"}
	two := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(2), builders.MakeReplicatedJob("b"),
		builders.MakeReplicatedJob("c").DependsOn("a", jobset.DependencyReady).DependsOn("b", jobset.DependencyComplete))
	unknown := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(2), builders.MakeReplicatedJob("b").DependsOn("z", jobset.DependencyReady))
	suspendedChain := only(doing(chain(jobset.DependencyReady).Suspend(true), jobChanges{"js-a-0": off, "js-a-1": off}), both...)
	resumed := doing(chain(jobset.DependencyReady).Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", past),
		jobChanges{"js-a-0": off, "js-a-1": off, "js-b-0": off})
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"C154, C365: only the first is created at the start":       {Input{JobSet: chain(jobset.DependencyReady).Obj(), Now: now}, creates(both)},
		"C156: Ready: one of two is ready":                         {only(doing(chain(jobset.DependencyReady), jobChanges{"js-a-0": up}), both...), nil},
		"C156: Ready: both are ready":                              {only(doing(chain(jobset.DependencyReady), jobChanges{"js-a-0": up, "js-a-1": up}), both...), creates([]string{"js-b-0"})},
		"C156: Ready: one is ready and one succeeded":              {only(doing(chain(jobset.DependencyReady), jobChanges{"js-a-0": up, "js-a-1": done}), both...), creates([]string{"js-b-0"})},
		"C155: Complete: both are ready":                           {only(doing(chain(jobset.DependencyComplete), jobChanges{"js-a-0": up, "js-a-1": up}), both...), nil},
		"C155: Complete: one of two succeeded":                     {only(doing(chain(jobset.DependencyComplete), jobChanges{"js-a-0": done, "js-a-1": up}), both...), nil},
		"C155: Complete: both succeeded":                           {only(doing(chain(jobset.DependencyComplete), jobChanges{"js-a-0": done, "js-a-1": done}), both...), creates([]string{"js-b-0"})},
		"C154: the walk goes on behind one that waits":             {Input{JobSet: withThird().Obj(), Now: now}, creates(both, []string{"js-c-0"})},
		"C162, O326, O327: of several dependencies one is missing": {only(doing(two, jobChanges{"js-a-0": up, "js-a-1": up}), "js-a-0", "js-a-1", "js-b-0"), nil},
		"C162, O326, O327: several dependencies":                   {only(doing(two, jobChanges{"js-a-0": up, "js-a-1": up, "js-b-0": done}), "js-a-0", "js-a-1", "js-b-0"), creates([]string{"js-c-0"})},
		"C157, C158: a dependency that is not there":               {only(doing(unknown, nil), both...), nil},
		"C159: dependents are not created while suspended either":  {suspendedChain, func(w *summary) { isSuspended(w) }},
		"C160: a dependent stays suspended, and the JobSet is resumed": {resumed, func(w *summary) {
			w.Resumes = both
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, false, "ResumeJobs", "jobset is resumed", now)}
			w.Events = []Event{{Type: "Normal", Reason: "ResumeJobs", Message: "jobset is resumed"}}
		}},
		"C160: a dependent is resumed once its dependency is reached": {doing(chain(jobset.DependencyReady), jobChanges{"js-a-0": up, "js-a-1": up, "js-b-0": off}), func(w *summary) {
			w.Resumes = []string{"js-b-0"}
		}},
		"C161: after a restart the order starts over": {only(doing(chain(jobset.DependencyReady).Restarts(1, 1), jobChanges{
			"js-a-0": up, "js-a-1": func(w *builders.JobWrapper) { w.Attempt(0).Counts(1, 1, 0) },
		}), both...), func(w *summary) { w.Deletes = []string{"js-a-1"} }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func withThird() *builders.JobSetWrapper {
	return chain(jobset.DependencyReady).ReplicatedJob(builders.MakeReplicatedJob("c"))
}

func isSuspended(w *summary) {
	w.Status.Conditions = append(w.Status.Conditions, builders.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", now))
	w.Events = []Event{{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"}}
}

const (
	inProgress = "in order startup policy is in progress"
	startedAll = "in order startup policy has completed"
)

func inOrder() *builders.JobSetWrapper { return twoKinds().StartupPolicy(jobset.InOrder) }

func starting(w *builders.JobSetWrapper) *builders.JobSetWrapper {
	return w.Condition(jobset.JobSetStartupPolicyInProgress, true, "InOrderStartupPolicyInProgress", inProgress, past)
}

func hasStarted(w *builders.JobSetWrapper) *builders.JobSetWrapper {
	return w.Condition(jobset.JobSetStartupPolicyInProgress, false, "InOrderStartupPolicyInProgress", inProgress, past).
		Condition(jobset.JobSetStartupPolicyCompleted, true, "InOrderStartupPolicyCompleted", startedAll, past)
}

func toldInProgress(w *summary) {
	w.Status.Conditions = append(w.Status.Conditions, builders.Condition(jobset.JobSetStartupPolicyInProgress, true, "InOrderStartupPolicyInProgress", inProgress, now))
	w.Events = append(w.Events, Event{Type: "Normal", Reason: "InOrderStartupPolicyInProgress", Message: inProgress})
}

func TestStartupPolicy(t *testing.T) {
	t.Parallel()
	first, second := []string{"js-a-0", "js-a-1"}, []string{"js-b-0"}
	suspendedOnes := jobChanges{"js-a-0": off, "js-a-1": off, "js-b-0": off}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"C147: AnyOrder: all at once":  {Input{JobSet: twoKinds().StartupPolicy(jobset.AnyOrder).Obj(), Now: now}, creates(first, second)},
		"C147: no policy: all at once": {Input{JobSet: twoKinds().Obj(), Now: now}, creates(first, second)},
		"C149: InOrder: the first at the start": {Input{JobSet: inOrder().Obj(), Now: now}, func(w *summary) {
			w.Creates = [][]string{first}
			toldInProgress(w)
		}},
		"C148: one of two is ready: the second waits":          {only(doing(starting(inOrder()), jobChanges{"js-a-0": up}), first...), nil},
		"C148: the first has started":                          {only(doing(starting(inOrder()), jobChanges{"js-a-0": up, "js-a-1": done}), first...), creates(second)},
		"C149: the last was created and is not ready":          {doing(starting(inOrder()), jobChanges{"js-a-0": up, "js-a-1": up}), nil},
		"C57, C149, C222: all have started":                    {doing(starting(inOrder()), jobChanges{"js-a-0": up, "js-a-1": up, "js-b-0": up}), toldStarted},
		"C53: all have started, as before":                     {doing(hasStarted(inOrder()), jobChanges{"js-a-0": up, "js-a-1": up, "js-b-0": up}), nil},
		"C320: a worker that is not ready for a moment":        {doing(hasStarted(inOrder()), jobChanges{"js-a-0": up, "js-b-0": up}), nil},
		"C148: a ReplicatedJob of no Jobs has started":         {Input{JobSet: builders.MakeJobSet("js", "ns").StartupPolicy(jobset.InOrder).ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(0), builders.MakeReplicatedJob("b")).Obj(), Now: now}, emptyFirst},
		"C150, C364: suspended: all are created, no condition": {Input{JobSet: inOrder().Suspend(true).Obj(), Now: now}, func(w *summary) { w.Creates = [][]string{first, second}; isSuspended(w) }},
		"C151, C322, C364: resumed in order, and told so at once": {
			doing(inOrder().Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", past), suspendedOnes), func(w *summary) {
				w.Resumes = first
				w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, false, "ResumeJobs", "jobset is resumed", now)}
				toldInProgress(w)
				w.Events = append(w.Events, Event{Type: "Normal", Reason: "ResumeJobs", Message: "jobset is resumed"})
			},
		},
		"C151: the second is resumed when the first has started": {doing(starting(inOrder()), jobChanges{"js-a-0": up, "js-a-1": up, "js-b-0": off}), func(w *summary) {
			w.Resumes = second
		}},
		"C151, C324: a Job that counts as ready although it is suspended is resumed all the same": {
			only(doing(starting(inOrder()), jobChanges{"js-a-0": up, "js-a-1": func(w *builders.JobWrapper) { w.Counts(0, 0, 1).Suspend(true) }}), first...), func(w *summary) {
				w.Resumes = []string{"js-a-1"}
			},
		},
		"C152: after a restart the order starts over": {only(doing(hasStarted(inOrder().Restarts(1, 1)), nil)), func(w *summary) {
			w.Creates = [][]string{first}
			w.Status.Conditions = []metav1.Condition{
				builders.Condition(jobset.JobSetStartupPolicyInProgress, true, "InOrderStartupPolicyInProgress", inProgress, now),
				builders.Condition(jobset.JobSetStartupPolicyCompleted, false, "InOrderStartupPolicyCompleted", startedAll, now),
			}
			w.Events = []Event{{Type: "Normal", Reason: "InOrderStartupPolicyInProgress", Message: inProgress}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func toldStarted(w *summary) {
	w.Status.Conditions = []metav1.Condition{
		builders.Condition(jobset.JobSetStartupPolicyInProgress, false, "InOrderStartupPolicyInProgress", inProgress, now),
		builders.Condition(jobset.JobSetStartupPolicyCompleted, true, "InOrderStartupPolicyCompleted", startedAll, now),
	}
	w.Events = []Event{{Type: "Normal", Reason: "InOrderStartupPolicyCompleted", Message: startedAll}}
}

func emptyFirst(w *summary) {
	w.Creates = [][]string{{"js-b-0"}}
	toldInProgress(w)
}
