/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

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
			in := running(tc.js.Obj(), tc.epoch)
			if tc.change != nil {
				tc.change(t, &in)
			}
			if tc.most == 0 {
				tc.most = 100
			}
			workers, total, err := Everyone(in, tc.most)
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
