/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// statesOf writes workers as "0-0 Running 2".
func statesOf(workers []Worker) []string {
	var states []string
	for _, w := range workers {
		states = append(states, strings.TrimSpace(fmt.Sprintf("%d-%d %s %d", w.JobIndex, w.Index, w.State, w.Epoch)))
	}
	return states
}

// soon returns what a function returns, and fails if that takes much longer than it should.
func soon(t *testing.T, list func() ([]Worker, int, error)) (workers []Worker, total int, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		workers, total, err = list()
	}()
	select {
	case <-done:
		return workers, total, err
	case <-time.After(20 * time.Second):
		t.Fatal("it takes more than 20 seconds")
	}
	panic("unreachable")
}

func TestEveryone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		js     *builders.JobSetWrapper
		epoch  int
		change func(t *testing.T, in *Input)
		most   int
		want   []string
		total  int
	}{
		"workers of a group that runs are listed too, by Job and index": {
			js: training(2, 2, 1, 2), epoch: 2, total: 4,
			want: []string{"0-0 Running 2", "0-1 Running 2", "1-0 Running 2", "1-1 Running 2"},
		},
		"P13: while the group assembles, those that are back wait at the barrier": {
			js: training(1, 2, 2, 2), epoch: 2, total: 2,
			change: func(t *testing.T, in *Input) { podOf(t, in, 0, 1).Annotations[jobset.EpochKey] = "3" },
			want:   []string{"0-0 NotReported 2", "0-1 HeldAtBarrier 3"},
		},
		"P10: an index that is done has no slot, and has succeeded": {
			js: training(1, 2, 1, 2), epoch: 2, total: 2,
			change: func(_ *testing.T, in *Input) { jobOf(in, 0).Status.CompletedIndexes = "1" },
			want:   []string{"0-0 Running 2", "0-1 Succeeded 0"},
		},
		"a Job that does not exist has workers without Pods": {
			js: training(2, 1, 1, 2), epoch: 2, total: 2,
			change: func(_ *testing.T, in *Input) { in.Jobs = in.Jobs[:1] },
			want:   []string{"0-0 Running 2", "1-0 NoPod 0"},
		},
		"the list ends where it is told to, the count does not": {
			js: training(2, 2, 1, 2), epoch: 2, most: 1, total: 4,
			want: []string{"0-0 Running 2"},
		},
		"C380: Jobs that do not exist are counted, however many a suspended JobSet asks for": {
			js: training(math.MaxInt32, 2, 0, 0).Suspend(true), most: 3, total: 2 * math.MaxInt32,
			want: []string{"0-0 NoPod 0", "0-1 NoPod 0", "1-0 NoPod 0"},
		},
		"C380: more workers than a number holds are as many as it holds": {
			js: training(math.MaxInt32, math.MaxInt32, 0, 0).Suspend(true).
				ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(math.MaxInt32).Workers(math.MaxInt32)).
				ReplicatedJob(builders.MakeReplicatedJob("b").Replicas(math.MaxInt32).Workers(math.MaxInt32)),
			most: 1, total: math.MaxInt64,
			want: []string{"0-0 NoPod 0"},
		},
		"C380: Jobs without workers take no time either": {
			js: training(math.MaxInt32, 0, 0, 0).Suspend(true),
		},
		"with another strategy the states follow from Pods": {
			js: builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(jobset.Recreate, 1).
				ReplicatedJob(builders.MakeReplicatedJob("workers").Workers(6)),
			epoch: 1, total: 6,
			change: func(t *testing.T, in *Input) {
				podOf(t, in, 0, 1).Status.Phase = corev1.PodSucceeded
				podOf(t, in, 0, 2).Status.Phase = corev1.PodFailed
				terminating := builders.MakePod(jobOf(in, 0), 3).Terminating(now.Add(time.Minute)).Obj()
				*podOf(t, in, 0, 3) = *terminating
				podOf(t, in, 0, 4).Spec.NodeName = ""
				in.Pods = in.Pods[:5]
			},
			want: []string{"0-0 Running 1", "0-1 Succeeded 1", "0-2 Failed 1", "0-3 Terminating 0", "0-4 Unscheduled 1", "0-5 NoPod 0"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := Input{JobSet: tc.js.Obj(), Now: now}
			if tc.epoch > 0 {
				in = running(tc.js.Obj(), tc.epoch)
			}
			if tc.change != nil {
				tc.change(t, &in)
			}
			if tc.most == 0 {
				tc.most = 100
			}
			workers, total, err := soon(t, func() ([]Worker, int, error) { return Everyone(in, tc.most) })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, statesOf(workers)); diff != "" {
				t.Errorf("workers (-want +got):\n%s", diff)
			}
			if total != tc.total {
				t.Errorf("%d workers, want %d", total, tc.total)
			}
		})
	}
}

func TestEveryoneAgreesWithTheReport(t *testing.T) {
	t.Parallel()
	in := running(training(2, 3, 2, 2).Obj(), 2)
	podOf(t, &in, 0, 1).Annotations[jobset.EpochKey] = "3"
	podOf(t, &in, 1, 2).Spec.NodeName = ""
	report := Of(in)
	told := map[string]WorkerState{}
	for _, w := range report.Workers.Missing {
		told[w.Pod] = w.State
	}
	workers, _, err := Everyone(in, 100)
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]WorkerState{}
	for _, w := range workers {
		if w.State != HeldAtBarrier {
			missing[w.Pod] = w.State
		}
	}
	if diff := cmp.Diff(told, missing); diff != "" {
		t.Errorf("workers that are not back (-report +everyone):\n%s", diff)
	}
}

func TestAJobOfMoreWorkersThanFitIntoMemoryIsLookedAtInPart(t *testing.T) {
	t.Parallel()
	in := running(training(2, 2, 2, 2).Obj(), 2)
	jobOf(&in, 0).Spec.Completions = ptr.To[int32](math.MaxInt32)
	podOf(t, &in, 0, 1).Annotations[jobset.EpochKey] = "3"
	report := Of(in)
	if got := *report.Workers; got.Total != mostWorkers || got.Back != 1 || got.NotBack != mostWorkers-1 {
		t.Errorf("C375: %d workers, %d back, %d not, want %d, 1, %d", got.Total, got.Back, got.NotBack, mostWorkers, mostWorkers-1)
	}
	if want := "of the workers only the first 100000 are looked at, and 2147383649 are not"; !slices.Contains(report.Notes, want) {
		t.Errorf("C375: notes are %q, want %q", report.Notes, want)
	}
	workers, total, err := Everyone(in, mostWorkers+1)
	if err != nil {
		t.Fatal(err)
	}
	if want := math.MaxInt32 + 2; total != want {
		t.Errorf("C380: %d workers, want %d", total, want)
	}
	for index, want := range map[int]WorkerState{0: NotReported, 1: HeldAtBarrier, 2: NoPod, mostWorkers - 1: NoPod, mostWorkers: NoPod} {
		if got := workers[index].State; got != want {
			t.Errorf("C380: worker %d is %s, want %s", index, got, want)
		}
	}
}
