/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// buckets are the names of the Jobs in them.
type buckets struct{ Active, Successful, Failed, Previous []string }

func TestObserveSortsJobsIntoBuckets(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").Restarts(2, 2).ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(9)).Obj()
	job := func(index int) *builders.JobWrapper { return builders.MakeJob(js, "a", index) }
	notTrue := func(job *batchv1.Job) {
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionFalse}}
	}
	tests := map[string]struct {
		job  *builders.JobWrapper
		want buckets
	}{
		"C101: no condition: active":                                 {job(0), buckets{Active: []string{"js-a-0"}}},
		"C101: Complete: successful":                                 {job(0).Complete(), buckets{Successful: []string{"js-a-0"}}},
		"C101: Failed: failed":                                       {job(0).Failed(past, "r", "m"), buckets{Failed: []string{"js-a-0"}}},
		"C101: a condition that is False does not count":             {job(0).Change(notTrue), buckets{Active: []string{"js-a-0"}}},
		"C101: the first of both conditions counts, Complete":        {job(0).Complete().Failed(past, "r", "m"), buckets{Successful: []string{"js-a-0"}}},
		"C101: the first of both conditions counts, Failed":          {job(0).Failed(past, "r", "m").Complete(), buckets{Failed: []string{"js-a-0"}}},
		"C101: FailureTarget, SuccessCriteriaMet, Suspended: active": {job(0).Condition(batchv1.JobFailureTarget).Condition(batchv1.JobSuccessCriteriaMet).Condition(batchv1.JobSuspended), buckets{Active: []string{"js-a-0"}}},
		"C98: an older attempt is previous":                          {job(0).Attempt(1), buckets{Previous: []string{"js-a-0"}}},
		"C98: an older attempt is previous, failed or not":           {job(0).Attempt(0).Failed(past, "r", "m"), buckets{Previous: []string{"js-a-0"}}},
		"C98: a later attempt is current":                            {job(0).Attempt(3), buckets{Active: []string{"js-a-0"}}},
		"C102: a terminating Job stays in its bucket":                {job(0).Terminating(past).Complete(), buckets{Successful: []string{"js-a-0"}}},
		"C102: a terminating active Job stays active":                {job(0).Terminating(past), buckets{Active: []string{"js-a-0"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := Observe(js, []*batchv1.Job{tc.job.Obj()}, gates.Set{})
			if err != nil {
				t.Fatal(err)
			}
			got := buckets{names(o.Active), names(o.Successful), names(o.Failed), names(o.Previous)}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("buckets (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(view.Taken{"a": {0}}, o.Taken); diff != "" {
				t.Errorf("C61: held (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObserveWantsReadableAttempts(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").Obj()
	tests := map[string]func(*batchv1.Job){
		"C97: no label":               func(job *batchv1.Job) { delete(job.Labels, constants.RestartsKey) },
		"C97: a label that is a word": func(job *batchv1.Job) { job.Labels[constants.RestartsKey] = "one" },
		"C327: an attempt that nobody built, after which the next would overflow": func(job *batchv1.Job) {
			withCondition(batchv1.JobFailed)(job)
			job.Labels[constants.RestartsKey] = "2147483647"
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobs := []*batchv1.Job{builders.MakeJob(js, "a", 0).Obj(), builders.MakeJob(js, "a", 1).Change(change).Obj()}
			if plan, err := Decide(Input{JobSet: js, Jobs: jobs, Now: now}); err == nil {
				t.Errorf("no error but plan %+v", plan)
			}
		})
	}
}

func TestObserveReadsTheAttemptsOfALostStatus(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.Recreate, 3).Restarts(2, 2).ReplicatedJob(builders.MakeReplicatedJob("a")).Obj()
	for attempt, readable := range map[int]bool{2 + 1<<20: true, 3 + 1<<20: false} {
		job := builders.MakeJob(js, "a", 0).Change(withCondition(batchv1.JobFailed)).Obj()
		job.Labels[constants.RestartsKey] = strconv.Itoa(attempt)
		plan, err := Decide(Input{JobSet: js, Jobs: []*batchv1.Job{job}, Now: now})
		if (err == nil) != readable || readable && int(plan.Status.Restarts) != attempt+1 {
			t.Errorf("C327: after attempt %d, error %v, restarts %d", attempt, err, plan.Status.Restarts)
		}
	}
}

func TestAForeignJobSaysNothingAboutAttempts(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.Recreate, 3).ReplicatedJob(builders.MakeReplicatedJob("a")).Obj()
	theirs := builders.MakeJob(js, "a", 0).Attempt(7).Obj()
	theirs.Name, theirs.UID, theirs.Annotations = "theirs", "theirs", nil
	delete(theirs.Labels, jobset.JobIndexKey)
	ours := builders.MakeJob(js, "a", 0).Change(withCondition(batchv1.JobFailed)).Obj()
	plan := decideOnce(t, Input{JobSet: js, Jobs: []*batchv1.Job{ours, theirs}, Now: now, Gates: gates.Set{RestartJob: true}})
	if len(plan.Foreign) != 1 || plan.Status.Restarts != 1 {
		t.Errorf("C97, C327: %d foreign Jobs, restarts %d, want 1 and 1", len(plan.Foreign), plan.Status.Restarts)
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").Restarts(1, 1).ReplicatedJob(
		builders.MakeReplicatedJob("b"), builders.MakeReplicatedJob("a").Replicas(4), builders.MakeReplicatedJob("c")).Obj()
	js.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{
		{Name: "a", Ready: 7, JobRestarts: []int32{1, 0}, JobRestartsCountTowardsMax: []int32{1}}, {Name: "gone", Ready: 3},
	}
	status := func(name string, change func(*jobset.ReplicatedJobStatus)) []jobset.ReplicatedJobStatus {
		all := []jobset.ReplicatedJobStatus{{Name: "c"}, {Name: "b"}, {Name: "a", JobRestarts: []int32{1, 0}, JobRestartsCountTowardsMax: []int32{1}}}
		for i := range all {
			if all[i].Name == name {
				change(&all[i])
			}
		}
		return all
	}
	nothing := func(*jobset.ReplicatedJobStatus) {}
	ready := func(s *jobset.ReplicatedJobStatus) { s.Ready = 1 }
	job := builders.MakeJob(js, "a", 0)
	obj := func(w *builders.JobWrapper) []*batchv1.Job { return []*batchv1.Job{w.Obj()} }
	fresh := func() *builders.JobWrapper { return builders.MakeJob(js, "a", 0).Workers(2) }
	tests := map[string]struct {
		jobs []*batchv1.Job
		want []jobset.ReplicatedJobStatus
	}{
		"C113: an entry for each ReplicatedJob, descending by name; C111: counters kept": {nil, status("", nothing)},
		"C106: Pods ready":                                     {obj(fresh().Counts(0, 2, 0)), status("a", ready)},
		"C106: Pods ready and succeeded":                       {obj(fresh().Counts(0, 1, 1)), status("a", ready)},
		"C106: too few Pods ready":                             {obj(fresh().Counts(0, 1, 0)), status("", nothing)},
		"C106: fewer completions than parallelism":             {obj(fresh().Counts(0, 1, 0).Change(func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](1) })), status("a", ready)},
		"C106: more completions than parallelism":              {obj(fresh().Counts(0, 2, 0).Change(func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](9) })), status("a", ready)},
		"C106: no ready count in the Job reads as 0":           {obj(fresh().Change(func(j *batchv1.Job) { j.Status.Succeeded = 2 })), status("a", ready)},
		"C107: active with a Pod":                              {obj(fresh().Counts(1, 0, 0)), status("a", func(s *jobset.ReplicatedJobStatus) { s.Active = 1 })},
		"C108: suspended":                                      {obj(fresh().Suspend(true)), status("a", func(s *jobset.ReplicatedJobStatus) { s.Suspended = 1 })},
		"C109: succeeded, and no longer ready":                 {obj(fresh().Counts(0, 0, 2).Complete()), status("a", func(s *jobset.ReplicatedJobStatus) { s.Succeeded = 1 })},
		"C112: previous Jobs count nowhere":                    {obj(fresh().Attempt(0).Counts(2, 2, 0)), status("", nothing)},
		"C112: one Job may count as ready, active, suspended":  {obj(fresh().Counts(2, 2, 0).Suspend(true)), status("a", func(s *jobset.ReplicatedJobStatus) { s.Ready, s.Active, s.Suspended = 1, 1, 1 })},
		"C106: Jobs of an unknown ReplicatedJob count nowhere": {obj(job.Label(jobset.ReplicatedJobNameKey, "x").Counts(1, 1, 0)), status("", nothing)},
		"C327: a Job without the label counts for what its annotation says": {
			obj(fresh().Counts(0, 2, 0).Change(func(j *batchv1.Job) {
				delete(j.Labels, jobset.ReplicatedJobNameKey)
				j.Annotations = map[string]string{jobset.ReplicatedJobNameKey: "a"}
			})), status("a", ready),
		},
		"C125: a Job that says nowhere what it belongs to counts nowhere": {
			obj(fresh().Counts(0, 2, 0).Change(func(j *batchv1.Job) { delete(j.Labels, jobset.ReplicatedJobNameKey) })), status("", nothing),
		},
		"C106: several Jobs add up": {
			[]*batchv1.Job{fresh().Counts(2, 2, 0).Obj(), builders.MakeJob(js, "a", 1).Counts(1, 1, 0).Obj(), builders.MakeJob(js, "a", 2).Complete().Obj()},
			status("a", func(s *jobset.ReplicatedJobStatus) { s.Ready, s.Active, s.Succeeded = 2, 2, 1 }),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, Input{JobSet: js, Jobs: tc.jobs, Now: now, Gates: gateOn})
			if diff := cmp.Diff(tc.want, plan.Status.ReplicatedJobsStatus, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("replicatedJobsStatus (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("C110: failed", func(t *testing.T) {
		t.Parallel()
		plan := decideOnce(t, Input{JobSet: js, Jobs: obj(builders.MakeJob(js, "a", 0).Failed(past, "r", "m")), Now: now})
		want := status("a", func(s *jobset.ReplicatedJobStatus) { s.Failed = 1 })
		if diff := cmp.Diff(want, plan.Status.ReplicatedJobsStatus); diff != "" {
			t.Errorf("replicatedJobsStatus (-want +got):\n%s", diff)
		}
	})
	t.Run("the counters share nothing with the input", func(t *testing.T) {
		t.Parallel()
		mine := js.DeepCopy()
		plan := decideOnce(t, Input{JobSet: mine, Now: now})
		plan.Status.ReplicatedJobsStatus[2].JobRestarts[0] = 99
		if got := mine.Status.ReplicatedJobsStatus[0].JobRestarts[0]; got != 1 {
			t.Errorf("the JobSet says %d now", got)
		}
	})
}
