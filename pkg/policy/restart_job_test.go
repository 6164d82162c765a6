/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

var byJob = gates.Set{RestartJob: true}

func restartRule(action jobset.FailurePolicyAction) jobset.FailurePolicyRule {
	return jobset.FailurePolicyRule{Name: "r", Action: action}
}

// withGate switches the gate RestartJob on; the Jobs are those of the current attempt.
func withGate(in Input) Input {
	in.Gates = byJob
	builder := children.NewBuilder(in.JobSet).CountJobRestarts(true)
	for i := range in.JobSet.Spec.ReplicatedJobs {
		rjob := &in.JobSet.Spec.ReplicatedJobs[i]
		for index := range int(rjob.Replicas) {
			built := builder.Job(rjob, index)
			for _, job := range in.Jobs {
				if job.Name == built.Name {
					job.Labels[constants.JobRestartAttemptKey] = built.Labels[constants.JobRestartAttemptKey]
				}
			}
		}
	}
	return in
}

// jobCounters are the counters of one ReplicatedJob after a decision.
type jobCounters struct{ All, Counted []int32 }

func countersOf(plan Plan) map[string]jobCounters {
	counters := map[string]jobCounters{}
	for _, status := range plan.Status.ReplicatedJobsStatus {
		if status.JobRestarts != nil || status.JobRestartsCountTowardsMax != nil {
			counters[status.Name] = jobCounters{status.JobRestarts, status.JobRestartsCountTowardsMax}
		}
	}
	return counters
}

func TestRestartJob(t *testing.T) {
	t.Parallel()
	one := fell{"a", 1, 1, "BackoffLimitExceeded", "m"}
	alone := func(action jobset.FailurePolicyAction, job string) func(*summary) {
		return func(w *summary) {
			w.Restart = action
			w.Events = []Event{{Type: "Warning", Reason: string(action) + "FailurePolicyAction",
				Message: "applying " + string(action) + " failure policy action (first failed job: " + job + ")"}}
		}
	}
	spent := failsWith("ReachedMaxRestarts", "jobset failed due to reaching max number of restarts (first failed job: js-a-1)")
	counted, ignored := restartRule(jobset.RestartJob), restartRule(jobset.RestartJobAndIgnoreMaxRestarts)
	tests := map[string]struct {
		in       Input
		want     func(*summary)
		counters map[string]jobCounters
	}{
		"C133, C136, C361: RestartJob raises both counters of the matched Job; they are as long as the replicas": {
			withGate(failing(recreated(counted), one)), alone(jobset.RestartJob, "js-a-1"),
			map[string]jobCounters{"a": {[]int32{0, 1, 0}, []int32{0, 1, 0}}},
		},
		"C134, C136, C361: the ignoring action raises one, and the other stays absent": {
			withGate(failing(recreated(ignored), one)), alone(jobset.RestartJobAndIgnoreMaxRestarts, "js-a-1"),
			map[string]jobCounters{"a": {[]int32{0, 1, 0}, nil}},
		},
		"C133: counters add up, those of other Jobs and ReplicatedJobs stay": {
			withGate(failing(recreated(ignored).JobRestarts("a", []int32{4, 5, 0}, []int32{0, 1, 0}).JobRestarts("b", []int32{2, 0}, nil), one)),
			alone(jobset.RestartJobAndIgnoreMaxRestarts, "js-a-1"),
			map[string]jobCounters{"a": {[]int32{4, 6, 0}, []int32{0, 1, 0}}, "b": {[]int32{2, 0}, nil}},
		},
		"C133: the budget is spent by restarts of single Jobs": {
			withGate(failing(recreated(counted).JobRestarts("b", []int32{1, 1}, []int32{1, 1}), one)), spent,
			map[string]jobCounters{"b": {[]int32{1, 1}, []int32{1, 1}}},
		},
		"C133: the budget is spent by restarts of both kinds": {
			withGate(failing(recreated(counted).Restarts(1, 1).JobRestarts("b", []int32{0, 1}, []int32{0, 1}), one)), spent,
			map[string]jobCounters{"b": {[]int32{0, 1}, []int32{0, 1}}},
		},
		"C134: ignoring goes beyond the budget": {
			withGate(failing(recreated(ignored).Restarts(2, 2), one)), alone(jobset.RestartJobAndIgnoreMaxRestarts, "js-a-1"),
			map[string]jobCounters{"a": {[]int32{0, 1, 0}, nil}},
		},
		"C131: RestartJobSet counts restarts of single Jobs too": {
			withGate(failing(recreated().Restarts(1, 1).JobRestarts("b", []int32{0, 1}, []int32{0, 1}), one)), spent,
			map[string]jobCounters{"b": {[]int32{0, 1}, []int32{0, 1}}},
		},
		"C131: RestartJobSet counts them while the gate is off, too": {
			failing(recreated().Restarts(1, 1).JobRestarts("b", []int32{0, 1}, []int32{0, 1}), one), spent,
			map[string]jobCounters{"b": {[]int32{0, 1}, []int32{0, 1}}},
		},
		"C142: a restart of the whole JobSet keeps the counters": {
			withGate(failing(recreated().JobRestarts("a", []int32{7, 0, 0}, nil), one)), byDefault("js-a-1"),
			map[string]jobCounters{"a": {[]int32{7, 0, 0}, nil}},
		},
		"C361: RestartJobSet never creates the counters": {withGate(failing(recreated(), one)), byDefault("js-a-1"), map[string]jobCounters{}},
		"C135, C329: while the gate is off RestartJob restarts the whole JobSet": {
			failing(recreated(counted), one), restartsBy("FailurePolicy_r", jobset.RestartJobSet, 1, "js-a-1"), map[string]jobCounters{},
		},
		"C135, C329: while the gate is off the ignoring action restarts the whole JobSet, uncounted": {
			failing(recreated(ignored), one), restartsBy("FailurePolicy_r", jobset.RestartJobSetAndIgnoreMaxRestarts, 0, "js-a-1"), map[string]jobCounters{},
		},
		"C143: of several failed Jobs one is restarted in a pass": {
			withGate(failing(recreated(ignored), one, fell{"b", 0, 3, "R", "m"}, fell{"a", 2, 2, "R", "m"})),
			alone(jobset.RestartJobAndIgnoreMaxRestarts, "js-a-1"),
			map[string]jobCounters{"a": {[]int32{0, 1, 0}, nil}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := check(t, tc.in, tc.want)
			if diff := cmp.Diff(tc.counters, countersOf(plan)); diff != "" {
				t.Errorf("counters (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRestartedJobIsReplaced follows two failed Jobs until both run again and no other was touched.
func TestRestartedJobIsReplaced(t *testing.T) {
	t.Parallel()
	in := withGate(failing(recreated(restartRule(jobset.RestartJob)), fell{"a", 1, 1, "R", "m"}, fell{"b", 0, 2, "R", "m"}))
	for _, other := range []struct {
		rjob  string
		index int
	}{{"a", 0}, {"a", 2}, {"b", 1}} {
		in.Jobs = append(in.Jobs, builders.MakeJob(in.JobSet, other.rjob, other.index).JobAttempt(0).Obj())
	}
	for _, job := range in.Jobs {
		job.Labels[constants.JobRestartAttemptKey] = "0"
	}
	first := decideOnce(t, in)
	in.JobSet.Status = first.Status
	second := decideOnce(t, in)
	if diff := cmp.Diff([]string{"js-a-1"}, jobsWith(second, DeleteJob)); diff != "" {
		t.Errorf("C99: deletes of the second pass (-want +got):\n%s", diff)
	}
	if second.Does(CreateJob) {
		t.Errorf("C143: creates %v while a failed Job is left", jobsWith(second, CreateJob))
	}
	in.JobSet.Status = second.Status
	in.Jobs = in.Jobs[2:] // both are gone
	third := decideOnce(t, in)
	if diff := cmp.Diff([][]string{{"js-a-1"}, {"js-b-0"}}, summarize(third).Creates); diff != "" {
		t.Errorf("creates of the third pass (-want +got):\n%s", diff)
	}
	for _, batch := range created(third) {
		if got := batch[0].Labels[constants.JobRestartAttemptKey]; got != "1" {
			t.Errorf("C72: label of %s is %q, want 1", batch[0].Name, got)
		}
	}
}

func TestAttemptsOfSingleJobs(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(2), builders.MakeReplicatedJob("b")).
		JobRestarts("a", []int32{0, 2}, nil).Obj()
	tests := map[string]struct {
		job     *builders.JobWrapper
		gates   gates.Set
		want    buckets
		wantErr string
	}{
		"C99: a smaller value is previous":                    {job: builders.MakeJob(js, "a", 1).JobAttempt(1), gates: byJob, want: buckets{Previous: []string{"js-a-1"}}},
		"C99: the same value is current":                      {job: builders.MakeJob(js, "a", 1).JobAttempt(2), gates: byJob, want: buckets{Active: []string{"js-a-1"}}},
		"C98: a larger value is current":                      {job: builders.MakeJob(js, "a", 1).JobAttempt(3), gates: byJob, want: buckets{Active: []string{"js-a-1"}}},
		"C100: without counters all are current":              {job: builders.MakeJob(js, "b", 0).JobAttempt(0), gates: byJob, want: buckets{Active: []string{"js-b-0"}}},
		"C328: without a label, restarted since: previous":    {job: builders.MakeJob(js, "a", 1).Failed(past, "R", "m"), gates: byJob, want: buckets{Previous: []string{"js-a-1"}}},
		"C99: without a label, never restarted: current":      {job: builders.MakeJob(js, "a", 0), gates: byJob, want: buckets{Active: []string{"js-a-0"}}},
		"C99: while the gate is off the label does not count": {job: builders.MakeJob(js, "a", 1).JobAttempt(0), want: buckets{Active: []string{"js-a-1"}}},
		"C327: a removed label is read from the annotation": {
			job: builders.MakeJob(js, "a", 1).JobAttempt(2).Change(func(job *batchv1.Job) {
				job.Annotations, job.Labels = job.Labels, map[string]string{}
			}), gates: byJob, want: buckets{Active: []string{"js-a-1"}},
		},
		"C99: a label that is a word":    {job: builders.MakeJob(js, "a", 1).Label(constants.JobRestartAttemptKey, "x"), gates: byJob, wantErr: "job-restart-attempt"},
		"C99: no ReplicatedJob":          {job: builders.MakeJob(js, "a", 1).Label(jobset.ReplicatedJobNameKey, ""), gates: byJob, wantErr: "replicatedjob-name"},
		"C99: an index that is a word":   {job: builders.MakeJob(js, "a", 1).Label(jobset.JobIndexKey, "x"), gates: byJob, wantErr: "job-index"},
		"C99: an index beyond the Jobs":  {job: builders.MakeJob(js, "a", 2).JobAttempt(0), gates: byJob, wantErr: "job-index"},
		"C327: a negative index":         {job: builders.MakeJob(js, "a", -1).JobAttempt(0), gates: byJob, wantErr: "job-index"},
		"C100: an unknown ReplicatedJob": {job: builders.MakeJob(js, "z", 0).JobAttempt(0), gates: byJob, wantErr: "job-index"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := Observe(js, []*batchv1.Job{tc.job.Obj()}, tc.gates)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v, want one about %s", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, buckets{names(o.Active), names(o.Successful), names(o.Failed), names(o.Previous)}); diff != "" {
				t.Errorf("buckets (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLostStatus: a status that was wiped counts fewer restarts than the Jobs were built for.
func TestLostStatus(t *testing.T) {
	t.Parallel()
	t.Run("C98: one failure is one restart of the JobSet", func(t *testing.T) {
		t.Parallel()
		in := failing(recreated(), fell{"a", 0, 0, "R", "m"})
		in.Jobs[0].Labels[constants.RestartsKey] = "4"
		in.JobSet.Status = decideOnce(t, in).Status
		if got := in.JobSet.Status; got.Restarts != 5 || got.RestartsCountTowardsMax != 1 {
			t.Errorf("restarts %d, counted %d, want 5 and 1", got.Restarts, got.RestartsCountTowardsMax)
		}
		if again := decideOnce(t, in); again.Restart != "" {
			t.Errorf("restarts again: %+v", summarize(again))
		}
	})
	t.Run("C99: one failure is one restart of the Job", func(t *testing.T) {
		t.Parallel()
		in := failing(recreated(restartRule(jobset.RestartJob)), fell{"a", 0, 0, "R", "m"})
		in.Gates, in.Jobs[0].Labels[constants.JobRestartAttemptKey] = byJob, "4"
		plan := decideOnce(t, in)
		if diff := cmp.Diff(map[string]jobCounters{"a": {[]int32{5, 0, 0}, []int32{1, 0, 0}}}, countersOf(plan)); diff != "" {
			t.Errorf("counters (-want +got):\n%s", diff)
		}
	})
}
