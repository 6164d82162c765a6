/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// place returns what the workers of a Job are told about where they stand.
func (b *Builder) place(rjob *jobset.ReplicatedJob, jobIndex int) workerpod.Place {
	at := PlaceOf(b.jobSet, rjob, b.elastic)
	at.Job, at.All = int32(jobIndex), b.indexes.workers
	if b.jobSet.Spec.Coordinator != nil {
		at.Coordinator = CoordinatorEndpoint(b.jobSet)
	}
	return at
}

// PlaceOf returns what is the same in all Jobs of a ReplicatedJob, as far as its workers depend on each other. Elastic
// says whether sizes may change.
func PlaceOf(js *jobset.JobSet, rjob *jobset.ReplicatedJob, elastic bool) workerpod.Place {
	if bounds := rjob.Elastic; bounds != nil {
		elastic = bounds.MinInstances != bounds.MaxInstances // it stays within its bounds, whoever resizes it
	}
	at := workerpod.Place{JobSetUID: string(js.UID), Jobs: rjob.Replicas, Each: workersOf(rjob), Resizable: elastic}
	if NeedsService(js) {
		at.Master = placement.PodHostname(js.Name, rjob.Name, 0, 0) + "." + Subdomain(js)
	}
	return at
}

// workersOf returns how many workers each Job of a ReplicatedJob has.
func workersOf(rjob *jobset.ReplicatedJob) int32 {
	job := &rjob.Template.Spec
	return ptr.Deref(job.Completions, ptr.Deref(job.Parallelism, 1))
}
