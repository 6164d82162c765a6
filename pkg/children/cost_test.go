/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"fmt"
	"runtime"
	"testing"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// What a Job costs must not grow with what else is in the JobSet. Costs are bytes
// that are allocated, which are the same on every machine. This test is not
// parallel: Go counts the bytes of the whole process.
func TestCostOfAJob(t *testing.T) {
	plain := cost(builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w")).Obj())
	counters := make([]int32, 1000)
	for i := range counters {
		counters[i] = 1
	}
	many := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(1000))
	for i := range 1000 {
		many.ReplicatedJob(builders.MakeReplicatedJob(fmt.Sprintf("other%d", i)))
	}
	for name, js := range map[string]*jobset.JobSet{
		"C347: a thousand counters of restarts are read where they stand":   builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(1000)).JobRestarts("w", counters, counters).Obj(),
		"C348: sums over a thousand ReplicatedJobs are not taken for a Job": many.Obj(),
	} {
		t.Run(name, func(t *testing.T) {
			if got := cost(js); got > plain*5/4 {
				t.Errorf("a Job costs %d bytes, want about as many as in a JobSet of one Job: %d", got, plain)
			}
		})
	}
	t.Run("C348: sums are taken when the Builder is made", func(t *testing.T) {
		js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(2), builders.MakeReplicatedJob("b")).Obj()
		builder := NewBuilder(js)
		js.Spec.ReplicatedJobs[0].Replicas = 100
		labels := builder.Job(&js.Spec.ReplicatedJobs[1], 0).Labels
		if all, index := labels[jobset.GlobalReplicasKey], labels[jobset.JobGlobalIndexKey]; all != "3" || index != "2" {
			t.Errorf("the Job is number %s of %s, want 2 of 3, as it was then", index, all)
		}
	})
}

// cost is how many bytes it takes to build a Job of the first ReplicatedJob.
func cost(js *jobset.JobSet) uint64 {
	const jobs = 200
	builder := NewBuilder(js)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range jobs {
		builder.Job(&js.Spec.ReplicatedJobs[0], 0)
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / jobs
}
