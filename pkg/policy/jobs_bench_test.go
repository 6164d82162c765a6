/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"runtime"
	"testing"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// BenchmarkDecideJobs measures one decision by the number of Jobs: when all are
// there and ready, when all are to be created, and with every gate on; in one
// ReplicatedJob as in many. Bytes and allocations per Job stay flat (C345 to
// C352). Time nearly does: Jobs are sorted, and many do not fit into CPU caches.
func BenchmarkDecideJobs(b *testing.B) {
	all := gates.Set{InPlaceRestart: true, RestartJob: true, ElasticJobSet: true, FaultTolerance: true}
	cases := []struct {
		name    string
		gates   gates.Set
		perRJob int // Jobs of each ReplicatedJob, 0 if all are of one
		there   bool
	}{
		{"ready", gates.Set{}, 0, true},
		{"ready-all-gates", all, 0, true},
		{"ready-many-replicated-jobs", gates.Set{}, 10, true},
		{"create", gates.Set{}, 0, false},
		{"create-all-gates", all, 0, false},
	}
	for _, c := range cases {
		for _, jobs := range []int{100, 500, 1000, 2000} {
			rjobs := 1
			if c.perRJob > 0 {
				rjobs = jobs / c.perRJob
			}
			in := manyJobs(rjobs, jobs/rjobs, c.there)
			in.Gates = c.gates
			b.Run(fmt.Sprintf("%s/jobs=%d", c.name, jobs), func(b *testing.B) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for b.Loop() {
					if _, err := Decide(in); err != nil {
						b.Fatal(err)
					}
				}
				runtime.ReadMemStats(&after)
				perJob := float64(b.N) * float64(jobs)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/perJob, "ns/job")
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/perJob, "B/job")
				b.ReportMetric(float64(after.Mallocs-before.Mallocs)/perJob, "allocs/job")
			})
		}
	}
}

// manyJobs is a JobSet whose Jobs are all there and ready, or all missing.
func manyJobs(rjobs, jobs int, there bool) Input {
	set := builders.MakeJobSet("js", "ns")
	for i := range rjobs {
		set.ReplicatedJob(builders.MakeReplicatedJob(fmt.Sprintf("w%d", i)).Replicas(int32(jobs)).Workers(8))
	}
	js := set.Obj()
	js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(true)}
	in := Input{JobSet: js, ServiceExists: true, Now: now}
	if !there {
		return in
	}
	for i := range rjobs {
		for j := range jobs {
			in.Jobs = append(in.Jobs, builders.MakeJob(js, fmt.Sprintf("w%d", i), j).Workers(8).JobAttempt(0).Counts(8, 8, 0).Obj())
		}
	}
	plan, err := Decide(in) // once, so that the decision that is measured finds nothing to do
	if err != nil || plan.Does(CreateJob) {
		panic(fmt.Sprintf("the benchmark is set up wrong: %v, creates %d batches", err, len(created(plan))))
	}
	js.Status = plan.Status
	return in
}

// BenchmarkCreateInBatches measures all decisions from no Job to all of them. Each
// looks at the Jobs that exist, so the share of the looks grows; it has to stay small
// beside what it takes to build a Job, and to request it.
func BenchmarkCreateInBatches(b *testing.B) {
	for _, jobs := range []int{500, 2000, 10000, 50000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			passes := 0
			for b.Loop() {
				in := manyJobs(1, jobs, false)
				for left := true; left; passes++ {
					plan, err := Decide(in)
					if err != nil {
						b.Fatal(err)
					}
					for _, batch := range created(plan) {
						in.Jobs = append(in.Jobs, batch...)
					}
					left = plan.Uncreated > 0
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(jobs), "ns/job")
			b.ReportMetric(float64(passes)/float64(b.N), "passes")
		})
	}
}
