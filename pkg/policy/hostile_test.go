/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// What an object says about sizes must cost nothing: a pass costs what the Jobs and Pods cost that exist. Costs are
// bytes that are allocated. The sizes are small enough that code which allocates by them fails, and does not take the
// memory of the machine. These tests are not parallel: Go counts the bytes of the whole process.
func TestCostOfHostileJobs(t *testing.T) {
	const ordinary, hostile = 1000, 1 << 22
	sized := func(size int32, in Input) Input {
		for _, job := range in.Jobs {
			job.Spec.Completions, job.Spec.Parallelism = ptr.To(size), ptr.To(size)
		}
		return in
	}
	tests := map[string]func(size int32) Input{
		"C381: workers that are missing when a period is over": func(size int32) Input {
			return sized(size, inPlace(1, 1, "2 1 _", sinceAgo(11*time.Minute)))
		},
		"C381: workers that are missing when two periods are over": func(size int32) Input {
			return sized(size, inPlace(1, 1, "2 .", sinceAgo(20*time.Minute)))
		},
		"C381: workers that are lost while the group runs": func(size int32) Input {
			return sized(size, inPlace(0, 1, "1 ."))
		},
		"C381: workers that the status of a Job says are done": func(size int32) Input {
			in := sized(size, inPlace(0, 1, "1 1"))
			in.Jobs[0].Status.CompletedIndexes = fmt.Sprintf("2-%d", size-1)
			return in
		},
		"C381: Jobs that do not exist": func(size int32) Input {
			in := inPlace(1, 1, "2 1 _", sinceAgo(11*time.Minute))
			in.JobSet.Spec.ReplicatedJobs[0].Replicas = size
			return in
		},
		"C381: Pods that tolerance of faults waits for": func(size int32) Input {
			in := sized(size, inPlace(0, 0, "_ _"))
			in.JobSet.Spec.FailurePolicy, in.JobSet.Spec.FaultTolerance = nil, &jobset.FaultTolerance{}
			in.Gates = gates.Set{FaultTolerance: true}
			return in
		},
	}
	for name, of := range tests {
		t.Run(name, func(t *testing.T) {
			few, many := bytesOf(t, of(ordinary)), bytesOf(t, of(hostile))
			if many > few+few/4+4096 {
				t.Errorf("a pass costs %d bytes with %d workers, want about as many as with %d: %d", many, hostile, ordinary, few)
			}
		})
	}
}

// bytesOf is how many bytes a pass allocates.
func bytesOf(t *testing.T, in Input) uint64 {
	t.Helper()
	return costOf(t, in, 1)
}

// Not parallel: the time is that of the whole process.
func TestForeignJobsCostAsMuchEach(t *testing.T) {
	of := make([]batchv1.Job, 100_000)
	foreign := make([]*batchv1.Job, len(of))
	for i := range of {
		foreign[i] = &of[i]
	}
	started := cpuTime(t)
	if left := withoutForeign(foreign, foreign); len(left) > 0 {
		t.Errorf("C97: %d Jobs are left, want none", len(left))
	}
	if took := cpuTime(t) - started; took > time.Second { // each compared with each, they take two, and with the race detector many
		t.Errorf("C97: leaving out %d foreign Jobs took %s of a processor", len(foreign), took)
	}
}

func TestMissingWorkersAreCountedAndTheFirstAreNamed(t *testing.T) {
	t.Parallel()
	in := inPlace(1, 1, "2 t1 .", sinceAgo(20*time.Minute))
	in.Jobs[0].Spec.Completions, in.Jobs[0].Spec.Parallelism = ptr.To[int32](1<<20), ptr.To[int32](1<<20)
	in.Pods[in.Jobs[0].UID] = in.Pods[in.Jobs[0].UID][:1]
	in.Jobs[0].Status.CompletedIndexes = "3-5"
	v, err := newView(in)
	if err != nil {
		t.Fatal(err)
	}
	const want = "1048572 Lost: index 1 of Job js-w-0, index 2 of Job js-w-0, index 6 of Job js-w-0, index 7 of Job js-w-0, index 8 of Job js-w-0 and 1048567 more"
	if got := group.WhoIsMissing(v); got != want {
		t.Errorf("C381: missing are %q, want %q", got, want)
	}
}

func TestIndexesAreComparedInOnePass(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "%d,", 2*i)
	}
	a := view.ParseIndexes(text.String(), math.MaxInt32)
	b := view.ParseIndexes("0-9,50-59,"+text.String(), math.MaxInt32)
	started := time.Now()
	if got := a.SizeWithin(a); got != 100_000 {
		t.Errorf("C382: %d indexes are in both, want 100000", got)
	}
	if took := time.Since(started); took > 2*time.Second { // 10 billion comparisons take longer, one pass a millisecond
		t.Errorf("C382: it took %s", took)
	}
	if got := b[:2].SizeWithin(a); got != 10 {
		t.Errorf("C382: %d indexes of 0-9 and 50-59 are even, want 10", got)
	}
}

func TestPlansHoldAsManyJobsAsFit(t *testing.T) {
	template := func(kib int) *jobset.JobSet {
		js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(1000)).Obj()
		env := make([]corev1.EnvVar, 16*kib)
		for i := range env {
			env[i] = corev1.EnvVar{Name: "E", Value: strings.Repeat("x", 64-7)} // and 7 bytes of tags and lengths
		}
		js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Env: env}}
		return js
	}
	resumed := func(kib int) Input {
		in := Input{JobSet: template(kib), Now: now}
		for i := range 1000 {
			in.Jobs = append(in.Jobs, builders.MakeJob(in.JobSet, "w", i).Change(func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) }).Obj())
		}
		return in
	}
	tests := map[string]struct {
		kib           int
		create, again int
	}{
		"C376: 250 Jobs of an ordinary size":                  {12, 250, 250},
		"C384: Jobs that are larger, as many as have 4 MiB":   {100, 40, 40},
		"C384: one Job at least, however large it is":         {5000, 1, 1},
		"C384: one for each pass if two have more than 4 MiB": {3000, 1, 1},
		"C384: two if both have almost 2 MiB":                 {2000, 2, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan, err := Decide(Input{JobSet: template(tc.kib), Now: now})
			if err != nil || len(created(plan)) != 1 || len(created(plan)[0]) != tc.create || plan.Uncreated != int64(1000-tc.create) || plan.RequeueAfter != time.Millisecond {
				t.Errorf("creates %d batches, leaves %d, looks again after %s, %v; want %d Jobs", len(created(plan)), plan.Uncreated, plan.RequeueAfter, err, tc.create)
			}
			plan, err = Decide(resumed(tc.kib))
			if err != nil || len(plan.Of(ResumeJob)) != tc.again || plan.Unresumed != int64(1000-tc.again) || plan.RequeueAfter != time.Millisecond {
				t.Errorf("resumes %d, leaves %d, looks again after %s, %v; want %d", len(plan.Of(ResumeJob)), plan.Unresumed, plan.RequeueAfter, err, tc.again)
			}
		})
	}
	t.Run("C384: a plan of the largest template takes no more memory than its Jobs", func(t *testing.T) {
		in := Input{JobSet: template(1024), Now: now}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Decide(in); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
			t.Errorf("the plan allocates %d bytes", got)
		}
	})
}
