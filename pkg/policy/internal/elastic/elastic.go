/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// ScaleJobs gives the unfinished Jobs as many Pods as their template asks for
// now (gate ElasticJobSet). Only Indexed Jobs whose Pods all run at once can be
// scaled; in all others the numbers cannot change.
func ScaleJobs(v *view.View, _ pass.Result) pass.Result {
	var r pass.Result
	if !v.Gates.ElasticJobSet {
		return r
	}
	workers := map[string]int32{}
	for i := range v.JobSet.Spec.ReplicatedJobs {
		if n, ok := elasticWorkers(&v.JobSet.Spec.ReplicatedJobs[i]); ok {
			workers[v.JobSet.Spec.ReplicatedJobs[i].Name] = n
		}
	}
	for _, job := range v.Observed.Active {
		n, ok := workers[view.ReplicatedJobOf(job)]
		if !ok || job.DeletionTimestamp != nil {
			continue
		}
		if ptr.Deref(job.Spec.Parallelism, 1) != n || ptr.Deref(job.Spec.Completions, 1) != n {
			r.Writes.Do(pass.Op{Kind: pass.ScaleJob, Job: job, Workers: n})
		}
	}
	return r
}

// SetSyncedWorkers writes how many workers each ReplicatedJob has in the epoch that starts, and where rank 0 is, so that
// all agents of an epoch tell their workers the same (P102, P122). All Jobs of a ReplicatedJob have the same size.
func SetSyncedWorkers(v *view.View, statuses []jobset.ReplicatedJobStatus) {
	each, addresses := builtSizes(v), addresses(&v.Group)
	for i := range statuses {
		if rjob := v.Observed.ByName[statuses[i].Name]; rjob != nil {
			statuses[i].SyncedWorkers = int32(min(each[statuses[i].Name]*int64(rjob.Replicas), math.MaxInt32))
			statuses[i].Address = addresses[statuses[i].Name]
		}
	}
}

// addresses returns where rank 0 of each ReplicatedJob is, as far as its agent told an address. A worker may have written it:
// what is no address is ignored, so that its peers find nothing else in their environment (P122).
func addresses(g *view.GroupState) map[string]string {
	found := map[string]string{}
	for i := range g.Jobs {
		job := &g.Jobs[i]
		if len(job.Slots) == 0 || job.Slots[0].Index != 0 || job.Slots[0].State != view.SlotMember || children.OwnValue(job.Job, jobset.JobIndexKey) != "0" {
			continue
		}
		if address := job.Slots[0].Pod.Address; protocol.IsAddress(address) {
			found[view.ReplicatedJobOf(job.Job)] = address
		}
	}
	return found
}

// builtSizes returns how many workers the Jobs of each ReplicatedJob have.
func builtSizes(v *view.View) map[string]int64 {
	each := map[string]int64{}
	for _, jobs := range [][]*batchv1.Job{v.Observed.Active, v.Observed.Successful} {
		for _, job := range jobs {
			name := view.ReplicatedJobOf(job)
			each[name] = max(each[name], view.SizeOf(job))
		}
	}
	return each
}

func elasticWorkers(rjob *jobset.ReplicatedJob) (workers int32, ok bool) {
	job := &rjob.Template.Spec
	if ptr.Deref(job.CompletionMode, batchv1.NonIndexedCompletion) != batchv1.IndexedCompletion ||
		job.Parallelism == nil || job.Completions == nil || *job.Parallelism != *job.Completions {
		return 0, false
	}
	return *job.Completions, true
}
