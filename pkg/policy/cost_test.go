/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// What a pass costs for each Job must not grow with the number of Jobs. Costs are
// bytes that are allocated, which are the same on every machine; how long a pass
// takes is for BenchmarkDecideJobs. These tests are not parallel: Go counts the
// bytes of the whole process.
func TestCostOfAPass(t *testing.T) {
	all := gates.Set{InPlaceRestart: true, RestartJob: true, ElasticJobSet: true, FaultTolerance: true}
	tests := map[string]struct {
		in func(jobs int) Input
	}{
		"C346: of Jobs that are there":   {func(jobs int) Input { return manyJobs(1, jobs, true) }},
		"C346: of Jobs that are missing": {func(jobs int) Input { return manyJobs(1, jobs, false) }},
		"C347: of Jobs that were restarted one by one": {func(jobs int) Input {
			in := manyJobs(1, jobs, false)
			in.JobSet.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{
				Name: "w0", JobRestarts: make([]int32, jobs), JobRestartsCountTowardsMax: make([]int32, jobs),
			}}
			in.Gates = all
			return in
		}},
		"C348: of Jobs that are missing, in as many ReplicatedJobs": {func(jobs int) Input { return manyJobs(jobs, 1, false) }},
		"C349: of Jobs that are there, in as many ReplicatedJobs":   {func(jobs int) Input { return manyJobs(jobs, 1, true) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			few, many := costOf(t, tc.in(100), 100), costOf(t, tc.in(1000), 1000)
			if many > few*5/4 {
				t.Errorf("one of 1000 Jobs costs %d bytes, want about as many as one of 100: %d", many, few)
			}
		})
	}
}

// costOf is how many bytes a pass allocates for each Job.
func costOf(t *testing.T, in Input, jobs int) uint64 {
	t.Helper()
	const passes = 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range passes {
		if _, err := Decide(in); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / uint64(passes*jobs)
}

func TestPatternsAreCompiledOnce(t *testing.T) {
	const pattern = `(?i)(preempted|evicted|shut ?down).*(node|host)[- ]\d{1,5}`
	compiled := testing.AllocsPerRun(10, func() { regexp.MustCompile(pattern) })
	pass := func(failed int) float64 {
		js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.Recreate, 3, jobset.FailurePolicyRule{
			Name: "r", Action: jobset.FailJobSet, OnJobFailureMessagePatterns: []string{pattern},
		}).ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(int32(failed))).Obj()
		in := Input{JobSet: js, Now: now}
		for i := range failed {
			in.Jobs = append(in.Jobs, builders.MakeJob(js, "w", i).Failed(past, "R", "no match").Obj())
		}
		return testing.AllocsPerRun(3, func() {
			if _, err := Decide(in); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("C350: a pattern is compiled once in a pass, however many Jobs failed", func(t *testing.T) {
		if each := (pass(1000) - pass(10)) / 990; each > compiled/10 {
			t.Errorf("each failed Job costs %.1f allocations, and a pattern %.1f to compile", each, compiled)
		}
	})
}

func TestCountsAreFoundByName(t *testing.T) {
	t.Parallel()
	in := manyJobs(20, 1, true)
	observed, err := Observe(in.JobSet, in.Jobs, in.Gates)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("C346: the index of every Job is held, by its name", func(t *testing.T) {
		t.Parallel()
		want := view.Taken{}
		for i := range 20 {
			want[fmt.Sprintf("w%d", i)] = []int32{0}
		}
		if diff := cmp.Diff(want, observed.Taken); diff != "" {
			t.Errorf("held (-want +got):\n%s", diff)
		}
	})
	t.Run("C349: the counts of a ReplicatedJob have its name", func(t *testing.T) {
		t.Parallel()
		for i := range observed.Statuses {
			if status := &observed.Statuses[i]; observed.ByName[status.Name].ReplicatedJobStatus != status {
				t.Errorf("%s leads to %v", status.Name, observed.ByName[status.Name].ReplicatedJobStatus)
			}
		}
	})
}

// TestPassesThatAreRepeated lists what makes a pass ask for the next; all others wait for an event.
func TestPassesThatAreRepeated(t *testing.T) {
	t.Parallel()
	w := func() *builders.JobSetWrapper {
		return builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a"), builders.MakeReplicatedJob("b").DependsOn("a", jobset.DependencyReady))
	}
	missing := func(w *builders.JobSetWrapper) Input { return Input{JobSet: w.Obj(), Now: now} }
	failed := missing(twoKinds().FailurePolicy(jobset.BlockingRecreate, 3))
	failed.Jobs = jobsOf(failed.JobSet, jobChanges{"js-a-0": func(w *builders.JobWrapper) { w.Failed(past, "R", "m") }})
	blocked := missing(twoKinds().FailurePolicy(jobset.BlockingRecreate, 3).Restarts(1, 1))
	blocked.Jobs = jobsOf(blocked.JobSet, jobChanges{"js-a-0": func(w *builders.JobWrapper) { w.Attempt(0).Terminating(recent) }})
	tests := map[string]struct {
		in   Input
		want time.Duration
	}{
		"C11: not while Jobs are to be created, and others wait for them": {missing(w()), 0},
		"C11: not while Jobs run":                            {doing(twoKinds(), nil), 0},
		"C11: not while the JobSet is suspended":             {missing(w().Suspend(true)), 0},
		"C11: not for a restart":                             {failed, 0},
		"C11: for Jobs of an earlier attempt that do not go": {blocked, 29 * time.Second},
		"C11: not after the end, without a ttl":              {missing(w().Condition(jobset.JobSetFailed, true, "r", "m", past)), 0},
		"C11: for the ttl":                                   {missing(w().Condition(jobset.JobSetFailed, true, "r", "m", past).TTL(3630)), 30 * time.Second},
		"C11: not while a group assembles":                   {inPlace(1, 1, "2 _"), 0},
		"C11: not while a group runs":                        {inPlace(0, 1, "1 1"), 0},
		"C11: for the end of a Pod's grace":                  {inPlace(0, 1, "1 t1"), 10 * time.Second},
		"C11: for the deadline of P24":                       {inPlace(1, 1, "2 1", sinceAgo(time.Minute), func(in *Input) { in.Deadlines.Assembly = time.Hour }), 59 * time.Minute},
		"C11: for a claim that has to go first": {func() Input {
			in := missing(builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").JobSpec(mounts("data"))).Claims(jobset.RetentionPolicyDelete, "data"))
			in.Claims = map[string]*metav1.PartialObjectMetadata{"data-js": existing(terminating)}
			return in
		}(), time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := decideOnce(t, tc.in).RequeueAfter; got != tc.want {
				t.Errorf("looks again after %v, want %v", got, tc.want)
			}
		})
	}
}
