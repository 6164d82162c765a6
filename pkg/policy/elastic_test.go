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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestElasticJobSet(t *testing.T) {
	t.Parallel()
	// The Jobs have one worker each, of a template that asks for four.
	elastic := func(rjob *builders.ReplicatedJobWrapper, changes ...func(*builders.JobWrapper)) Input {
		js := builders.MakeJobSet("js", "ns").ReplicatedJob(rjob.Replicas(2)).Obj()
		in := Input{JobSet: js, Now: now, Gates: gates.Set{ElasticJobSet: true}}
		for i := range 2 {
			w := builders.MakeJob(js, "a", i)
			for _, change := range changes {
				change(w)
			}
			in.Jobs = append(in.Jobs, w.Obj())
		}
		return in
	}
	four := func() *builders.ReplicatedJobWrapper { return builders.MakeReplicatedJob("a").Workers(4) }
	off := elastic(four())
	off.Gates = gates.Set{}
	isSuspendedToo := elastic(four(), func(w *builders.JobWrapper) { w.Suspend(true) })
	isSuspendedToo.JobSet.Spec.Suspend = ptr.To(true)
	one := elastic(four())
	one.Jobs[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}
	both := func(w *summary) { w.Scales = map[string]int32{"js-a-0": 4, "js-a-1": 4} }
	looksAgain := func(w *summary) { w.RequeueAfter = 29 * time.Second }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"C183, C371: unfinished Jobs get the new size":     {elastic(four()), both},
		"C183: suspended Jobs too":                         {isSuspendedToo, func(w *summary) { both(w); isSuspended(w) }},
		"C183: a finished Job keeps its size":              {one, func(w *summary) { w.Scales = map[string]int32{"js-a-1": 4} }},
		"C183: the size they have":                         {elastic(four(), func(w *builders.JobWrapper) { w.Workers(4) }), nil},
		"C28, C30: the gate is off":                        {off, nil},
		"C339: a template that says nothing":               {elastic(builders.MakeReplicatedJob("a").JobSpec(func(s *batchv1.JobSpec) { s.CompletionMode = ptr.To(batchv1.IndexedCompletion) })), nil},
		"C339: a template of another completion mode":      {elastic(four().JobSpec(func(s *batchv1.JobSpec) { s.CompletionMode = ptr.To(batchv1.NonIndexedCompletion) })), nil},
		"C183: parallelism and completions that differ":    {elastic(four().JobSpec(func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](2) })), nil},
		"C102: a Job that is being deleted keeps its size": {elastic(four(), func(w *builders.JobWrapper) { w.Terminating(recent) }), looksAgain}, // C388
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestElasticGroups: resizing a group that restarts in place is an intent first, and never a failure (P16).
func TestElasticGroups(t *testing.T) {
	t.Parallel()
	resized := func(deprecated, synced int32, picture string, size int32) Input {
		return inPlace(deprecated, synced, picture, func(in *Input) {
			in.Gates.ElasticJobSet = true
			spec := &in.JobSet.Spec.ReplicatedJobs[0].Template.Spec
			spec.Parallelism, spec.Completions = ptr.To(size), ptr.To(size)
		})
	}
	assembling := func(w *summary) { w.CountsInterval = time.Second }
	t.Run("P16: while the group runs only D is written", func(t *testing.T) {
		t.Parallel()
		check(t, resized(0, 1, "1 1", 3), func(w *summary) { w.Status.DeprecatedEpoch = ptr.To[int32](1) })
	})
	t.Run("P13: while the Jobs are not of the wanted size there is no lift", func(t *testing.T) {
		t.Parallel()
		check(t, resized(1, 1, "2 2", 3), func(w *summary) { assembling(w); w.Scales = map[string]int32{"js-w-0": 3} })
	})
	// The Job controller forgets that an index ended when it leaves the range; if the Job
	// grew again, it would run beside a Pod that says the index is done.
	for name, picture := range map[string]string{
		"P16, P17: a worker of this round succeeded and stays in the range":  "ok1 2 2",
		"P16, P17: a worker of this round succeeded and goes with the range": "2 2 ok1",
	} {
		t.Run(name+": all Jobs are recreated in the new size", func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, resized(1, 1, picture, 2))
			got := [3]int32{plan.Status.Restarts, plan.Status.RestartsCountTowardsMax, int32(len(plan.Of(ScaleJob)))}
			if want := [3]int32{1, 0, 0}; got != want {
				t.Errorf("restarts, charged, scaled: got %v, want %v", got, want)
			}
		})
	}
	for name, tc := range map[string]struct {
		picture string
		want    func(*summary)
	}{
		"P47: Pods beyond the new size are no members, and are waited for until they stop": {"2 2 1", assembling},
		"P47: so are those that stop already":                                              {"2 2 t1", assembling},
		"P17: one that succeeded was taken out of the group, which lacks nobody":           {"2 2 ok1", lifted(2)},
		"P47: one that has ended holds nobody back":                                        {"2 2 F1", lifted(2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := resized(1, 1, tc.picture, 2)
			in.Jobs[0].Spec.Parallelism, in.Jobs[0].Spec.Completions = ptr.To[int32](2), ptr.To[int32](2)
			check(t, in, tc.want)
		})
	}
}

// TestWorldSizes: the sizes of an epoch are written with it, and stay (P102).
func TestWorldSizes(t *testing.T) {
	t.Parallel()
	sizesOf := func(in Input) map[string]int32 {
		got := map[string]int32{}
		for _, status := range decideOnce(t, in).Status.ReplicatedJobsStatus {
			got[status.Name] = status.SyncedWorkers
		}
		return got
	}
	stored := func(in *Input) {
		in.JobSet.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "w", SyncedWorkers: 7}}
	}
	for name, tc := range map[string]struct {
		in   Input
		want int32
	}{
		"P102: a lift writes the number of workers":              {inPlace(1, 1, "2 2 2"), 3},
		"P102: and replaces that of the epoch before":            {inPlace(1, 1, "2 2 2", stored), 3},
		"P102: a group that assembles keeps that of its epoch":   {inPlace(1, 1, "2 2 1", stored), 7},
		"P102: a group that runs keeps it":                       {inPlace(0, 1, "1 1 1", stored), 7},
		"P102: so does the break":                                {inPlace(0, 1, "1 2 1", stored), 7},
		"P102: nothing is written before the first epoch stands": {inPlace(0, 0, "1 1 -"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(map[string]int32{"w": tc.want}, sizesOf(tc.in)); diff != "" {
				t.Errorf("sizes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAddresses: where rank 0 is in an epoch is written with it, and stays (P122).
func TestAddresses(t *testing.T) {
	t.Parallel()
	tells := func(pod int, address string) func(in *Input) {
		return func(in *Input) {
			edit(in.Pods[in.Jobs[0].UID][pod], func(pod *corev1.Pod) { pod.Annotations[jobset.AddressKey] = address })
		}
	}
	stored := func(in *Input) {
		in.JobSet.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "w", SyncedWorkers: 2, Address: "10.0.0.7"}}
	}
	jobIndex := func(index string) func(in *Input) {
		return func(in *Input) { in.Jobs[0].Labels[jobset.JobIndexKey] = index }
	}
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"P122: a lift writes what rank 0 tells":                  {inPlace(1, 1, "2 2", tells(0, "10.0.0.1")), "10.0.0.1"},
		"P122: and replaces that of the epoch before":            {inPlace(1, 1, "2 2", stored, tells(0, "10.0.0.1")), "10.0.0.1"},
		"P122: which is gone if rank 0 tells none":               {inPlace(1, 1, "2 2", stored), ""},
		"P122: what is no address is ignored":                    {inPlace(1, 1, "2 2", stored, tells(0, "evil.example.com")), ""},
		"P122: an address of IPv6 is ignored":                    {inPlace(1, 1, "2 2", tells(0, "fd00::1")), ""},
		"P122: what other ranks tell is ignored":                 {inPlace(1, 1, "2 2", tells(1, "10.0.0.2")), ""},
		"P122: also of the first Pod of another Job":             {inPlace(1, 1, "2 2", tells(0, "10.0.0.1"), jobIndex("1")), ""},
		"P122: a group that assembles keeps that of its epoch":   {inPlace(1, 1, "2 1", stored, tells(0, "10.0.0.1")), "10.0.0.7"},
		"P122: a group that runs keeps it":                       {inPlace(0, 1, "1 1", stored, tells(0, "10.0.0.1")), "10.0.0.7"},
		"P122: so does the break":                                {inPlace(0, 1, "2 1", stored, tells(0, "10.0.0.1")), "10.0.0.7"},
		"P122: nothing is written before the first epoch stands": {inPlace(0, 0, "1 -", tells(0, "10.0.0.1")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			statuses := decideOnce(t, tc.in).Status.ReplicatedJobsStatus
			if len(statuses) != 1 || statuses[0].Address != tc.want {
				t.Errorf("statuses %+v, want address %q", statuses, tc.want)
			}
		})
	}
}

// TestGroupsThatJoin: a ReplicatedJob that waited for another to complete joins the group (P19).
func TestGroupsThatJoin(t *testing.T) {
	t.Parallel()
	// js-a-0 completed at epoch 1; w ran with it; b waited for a.
	joined := func(deprecated, synced int32, picture string, withB bool) Input {
		return inPlace(deprecated, synced, picture, func(in *Input) {
			in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs, builders.MakeReplicatedJob("a").Workers(1).Obj(),
				builders.MakeReplicatedJob("b").Workers(1).DependsOn("a", jobset.DependencyComplete).Obj())
			a := builders.MakeJob(in.JobSet, "a", 0).Complete().Obj()
			in.Jobs = append(in.Jobs, a)
			in.Pods[a.UID] = append(in.Pods[a.UID], worker(a, 0, "ok1"))
			if withB {
				b := builders.MakeJob(in.JobSet, "b", 0).Obj()
				in.Jobs = append(in.Jobs, b)
				in.Pods[b.UID] = append(in.Pods[b.UID], worker(b, 0, "2"))
			}
		})
	}
	assembling := func(w *summary) { w.CountsInterval = time.Second }
	t.Run("P16, P19: first the group that runs is told to restart", func(t *testing.T) {
		t.Parallel()
		check(t, joined(0, 1, "1 1", false), func(w *summary) { w.Status.DeprecatedEpoch = ptr.To[int32](1) })
	})
	t.Run("P17, P19: what others waited for to complete does not make the group incomplete", func(t *testing.T) {
		t.Parallel()
		check(t, joined(1, 1, "2 1", false), func(w *summary) { assembling(w); w.Creates = [][]string{{"js-b-0"}} })
	})
	t.Run("P13, P19: all that remain are lifted together", func(t *testing.T) {
		t.Parallel()
		check(t, joined(1, 1, "2 2", true), lifted(2))
	})
	t.Run("P17, P19: a failure right after the completion breaks the group in place", func(t *testing.T) {
		t.Parallel()
		in := joined(0, 1, "2 1", false)
		in.JobSet.Spec.ReplicatedJobs[1].Replicas = 1
		plan := decideOnce(t, in)
		if plan.Status.Restarts != 0 || ptr.Deref(plan.Status.DeprecatedEpoch, 0) != 1 {
			t.Errorf("status %+v, want D 1 and no restart of the whole JobSet", plan.Status)
		}
	})
}
