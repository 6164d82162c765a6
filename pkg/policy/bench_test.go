/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// BenchmarkDecide measures one pass over a group that runs, over one that
// assembles with all but one worker back, and over the pass that lifts it (P22).
func BenchmarkDecide(b *testing.B) {
	states := map[string]struct {
		deprecated, synced int32
		epoch, last        string
	}{
		"running":    {0, 1, "1", "1"},
		"assembling": {1, 1, "2", "1"},
		"lift":       {1, 1, "2", "2"},
	}
	for _, state := range []string{"running", "assembling", "lift"} {
		for _, pods := range []int{100, 1000, 10000} {
			for _, jobs := range []int{1, pods / 8} {
				s := states[state]
				in := largeGroup(jobs, pods/jobs, s.deprecated, s.synced, s.epoch, s.last)
				b.Run(fmt.Sprintf("%s/pods=%d/jobs=%d", state, pods, jobs), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := Decide(in); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pods), "ns/pod")
				})
			}
		}
	}
}

// largeGroup is a group whose Pods are all of one epoch but the last.
func largeGroup(jobs, workers int, deprecated, synced int32, epoch, last string) Input {
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(deprecated, synced).
		ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(int32(jobs)).Workers(int32(workers))).Obj()
	in := Input{JobSet: js, Pods: map[types.UID][]*facts.Member{}, Gates: gates.Set{InPlaceRestart: true}, Now: now}
	for j := range jobs {
		job := builders.MakeJob(js, "w", j).Workers(int32(workers)).Change(func(job *batchv1.Job) {
			job.Status.Active = int32(workers)
		}).Obj()
		in.Jobs = append(in.Jobs, job)
		for i := range workers {
			pod := builders.MakePod(job, i).Epoch(epoch)
			if j == jobs-1 && i == workers-1 {
				pod.Epoch(last)
			}
			in.Pods[job.UID] = append(in.Pods[job.UID], facts.Of(pod.Obj()))
		}
	}
	return in
}
