/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"

// indexes places the Jobs of each ReplicatedJob in the JobSet and in its group.
//
//	replicatedJobs          a(2)   b(3)   c(1)      groups: a, c in "x"; b in "y"
//	job-index               0 1    0 1 2  0
//	job-global-index        0 1    2 3 4  5         global-replicas 6
//	job-group-index         0 1    0 1 2  2         group-replicas  x 3, y 3
//
// Sums are int64: replicas are checked one by one, not their sum.
type indexes struct {
	globalReplicas int64
	// workers are the Pods of all Jobs.
	workers       int64
	groupReplicas map[string]int64
	globalOffset  map[string]int64
	groupOffset   map[string]int64
}

func newIndexes(js *jobset.JobSet) indexes {
	count := len(js.Spec.ReplicatedJobs)
	ix := indexes{
		groupReplicas: make(map[string]int64, count),
		globalOffset:  make(map[string]int64, count),
		groupOffset:   make(map[string]int64, count),
	}
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		ix.globalOffset[rjob.Name] = ix.globalReplicas
		ix.groupOffset[rjob.Name] = ix.groupReplicas[rjob.GroupName]
		ix.globalReplicas += int64(rjob.Replicas)
		ix.workers += int64(rjob.Replicas) * int64(workersOf(rjob))
		ix.groupReplicas[rjob.GroupName] += int64(rjob.Replicas)
	}
	return ix
}
