/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// passes decides until nothing is left to create, and shows each pass the Jobs that the one before created.
func passes(t *testing.T, in Input, pass func(Plan)) Input {
	t.Helper()
	for range 100 {
		plan, err := Decide(in)
		if err != nil {
			t.Fatal(err)
		}
		pass(plan)
		if len(created(plan)) == 0 {
			return in
		}
		for _, batch := range created(plan) {
			in.Jobs = append(in.Jobs, batch...)
		}
	}
	t.Fatal("it never ends")
	return in
}

func TestJobsAreCreatedInBatches(t *testing.T) {
	t.Parallel()
	two := func() *builders.JobSetWrapper {
		return builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(300), builders.MakeReplicatedJob("b").Replicas(260))
	}
	tests := map[string]struct {
		js *builders.JobSetWrapper
		// want is how many Jobs of each ReplicatedJob each pass creates, and how many it leaves.
		want []string
	}{
		"C376: in the order of the spec, 250 in a pass": {two(), []string{"[250] 310", "[50 200] 60", "[60] 0", "[] 0"}},
		"C376: suspended, too":                          {two().Suspend(true), []string{"[250] 310", "[50 200] 60", "[60] 0", "[] 0"}},
		"C376: an order of the start is kept: the others have not got their turn": {
			two().StartupPolicy(jobset.InOrder), []string{"[250] 50", "[50] 0", "[] 0"},
		},
		"C376: so is dependsOn": {
			builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(251),
				builders.MakeReplicatedJob("b").Replicas(9).DependsOn("a", jobset.DependencyReady), builders.MakeReplicatedJob("c")),
			[]string{"[250] 2", "[1 1] 0", "[] 0"},
		},
		"C376: as many as fit need no second pass": {
			builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(250)), []string{"[250] 0", "[] 0"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			in := passes(t, Input{JobSet: tc.js.Obj(), Now: now}, func(plan Plan) {
				sizes := []int{}
				for _, batch := range created(plan) {
					sizes = append(sizes, len(batch))
				}
				got = append(got, fmt.Sprintf("%v %d", sizes, plan.Uncreated))
				if left := plan.Uncreated > 0; left != (plan.RequeueAfter > 0) {
					t.Errorf("%d Jobs are left, and the next look is after %v", plan.Uncreated, plan.RequeueAfter)
				}
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("passes (-want +got):\n%s", diff)
			}
			seen := map[string]bool{}
			for _, job := range in.Jobs {
				if seen[job.Name] {
					t.Errorf("C61: %s is created twice", job.Name)
				}
				seen[job.Name] = true
			}
		})
	}
}

// TestMemoryOfAPlan is not parallel: Go counts the bytes of the whole process.
func TestMemoryOfAPlan(t *testing.T) {
	most := func(replicas int32, change func(*Input)) uint64 {
		js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(replicas)).Obj()
		in := Input{JobSet: js, Now: now, Gates: gates.Set{RestartJob: true, ElasticJobSet: true, InPlaceRestart: true, FaultTolerance: true}}
		change(&in)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Decide(in); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	tests := map[string]func(*Input){
		"C376: no Job exists": func(*Input) {},
		"C376: the last of them exists": func(in *Input) {
			in.Jobs = append(in.Jobs, builders.MakeJob(in.JobSet, "a", int(in.JobSet.Spec.ReplicatedJobs[0].Replicas)-1).JobAttempt(0).Obj())
		},
		"C376: one failed that is restarted alone": func(in *Input) {
			in.JobSet.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 3, Rules: []jobset.FailurePolicyRule{{Name: "r", Action: jobset.RestartJob}}}
			in.Jobs = append(in.Jobs, builders.MakeJob(in.JobSet, "a", 0).JobAttempt(0).Failed(past, "r", "m").Obj())
		},
		"C376: the JobSet restarts in place": func(in *Input) {
			in.JobSet.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 3, RestartStrategy: jobset.InPlaceRestart}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			few, many := most(2000, change), most(math.MaxInt32, change)
			if many > few*3/2 {
				t.Errorf("a pass over a JobSet of %d Jobs takes %d bytes, want about as many as over one of 2000: %d", math.MaxInt32, many, few)
			}
		})
	}
}

func TestJobsAreResumedInBatches(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").Condition(jobset.JobSetSuspended, true, "r", "m", past).
		ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(200), builders.MakeReplicatedJob("b").Replicas(100)).Obj()
	in := Input{JobSet: js, Now: now}
	for i, rjob := range []string{"a", "b"} {
		for index := range []int{200, 100}[i] {
			in.Jobs = append(in.Jobs, builders.MakeJob(js, rjob, index).Suspend(true).Obj())
		}
	}
	plan := decideOnce(t, in)
	if len(plan.Of(ResumeJob)) != 250 || plan.Unresumed != 50 || plan.RequeueAfter != time.Millisecond || len(plan.Events) != 0 {
		t.Errorf("C376: resumes %d, leaves %d, looks again after %v, tells %v; want 250, 50, at once, nothing yet",
			len(plan.Of(ResumeJob)), plan.Unresumed, plan.RequeueAfter, plan.Events)
	}
	for _, op := range plan.Of(ResumeJob) {
		*op.Job.Spec.Suspend = false
	}
	plan = decideOnce(t, in)
	if len(plan.Of(ResumeJob)) != 50 || plan.Unresumed != 0 || len(plan.Events) != 1 {
		t.Errorf("C165, C376: resumes %d, leaves %d, tells %v; want 50, none, and that the JobSet is resumed", len(plan.Of(ResumeJob)), plan.Unresumed, plan.Events)
	}
}

// TestNoLiftWhileJobsAreToCome has a group that is whole as far as its Jobs exist (P13).
func TestNoLiftWhileJobsAreToCome(t *testing.T) {
	t.Parallel()
	suspendedStill := onJob(1, func(job *batchv1.Job) {
		job.Spec.Suspend = ptr.To(true)
		job.Status.StartTime, job.Status.Active = &metav1.Time{Time: past}, 1
	})
	otherTemplate := onJobSet(func(js *jobset.JobSet) {
		js.Spec.ReplicatedJobs[0].Template.Spec.Template.Labels = map[string]string{"k": "v"}
	})
	tests := map[string]struct {
		in     Input
		lifted bool
	}{
		"P13: all Jobs are there": {inPlace(1, 1, "2|2"), true},
		"P13, C376: more Jobs than a plan holds are to be created": {
			inPlace(1, 1, "2|2", onJobSet(func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[0].Replicas = math.MaxInt32 })), false,
		},
		"P13: a Job is missing that a claim keeps from being created": {inPlace(1, 1, "2|2", func(in *Input) {
			in.JobSet.Spec.ReplicatedJobs[0].Replicas = 3
			in.JobSet.Spec.VolumeClaimPolicies = builders.MakeJobSet("js", "ns").Claims(jobset.RetentionPolicyDelete, "data").Obj().Spec.VolumeClaimPolicies
			in.Claims = map[string]*metav1.PartialObjectMetadata{"data-js": existing(terminating)}
		}), false},
		"P13, C167: a Job waits to be suspended before it is resumed": {inPlace(1, 1, "2|2", suspendedStill, otherTemplate), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if lifted := *decideOnce(t, tc.in).Status.SyncedEpoch == 2; lifted != tc.lifted {
				t.Errorf("lifted: %v, want %v", lifted, tc.lifted)
			}
		})
	}
	t.Run("P16, C167: the group that runs is told to restart before a Job of it is waited for", func(t *testing.T) {
		t.Parallel()
		plan := decideOnce(t, inPlace(0, 1, "1|1", suspendedStill, otherTemplate))
		if got := plan.Status; *got.DeprecatedEpoch != 1 || got.InPlaceRestarts != 0 {
			t.Errorf("D is %d, %d charged; want 1, none", *got.DeprecatedEpoch, got.InPlaceRestarts)
		}
	})
}
