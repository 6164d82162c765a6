/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// scaleJobs gives the unfinished Jobs as many Pods as their template asks for
// now (gate ElasticJobSet). Only Indexed Jobs whose Pods all run at once can be
// scaled; in all others the numbers cannot change.
func (d *decision) scaleJobs() {
	if !d.in.Gates.ElasticJobSet {
		return
	}
	workers := map[string]int32{}
	for i := range d.in.JobSet.Spec.ReplicatedJobs {
		if n, ok := elasticWorkers(&d.in.JobSet.Spec.ReplicatedJobs[i]); ok {
			workers[d.in.JobSet.Spec.ReplicatedJobs[i].Name] = n
		}
	}
	for _, job := range d.observed.Active {
		n, ok := workers[replicatedJobOf(job)]
		if !ok || job.DeletionTimestamp != nil {
			continue
		}
		if ptr.Deref(job.Spec.Parallelism, 1) != n || ptr.Deref(job.Spec.Completions, 1) != n {
			d.plan.ScaleJobs = append(d.plan.ScaleJobs, Scale{Job: job, Workers: n})
		}
	}
}

func elasticWorkers(rjob *jobset.ReplicatedJob) (workers int32, ok bool) {
	job := &rjob.Template.Spec
	if ptr.Deref(job.CompletionMode, batchv1.NonIndexedCompletion) != batchv1.IndexedCompletion ||
		job.Parallelism == nil || job.Completions == nil || *job.Parallelism != *job.Completions {
		return 0, false
	}
	return *job.Completions, true
}
