/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// isPinned reports whether no size of a JobSet may change, because its group restarts in place and a worker of it has run
// to its end: any change would recreate all Jobs (P17, P101b). What others waited for to complete is out of the group. The
// Jobs are those that were built for each ReplicatedJob.
func isPinned(js *jobset.JobSet, built func(replicatedJob string) []*batchv1.Job) bool {
	return workerpod.WantsInPlace(js) && slices.ContainsFunc(js.Spec.ReplicatedJobs, func(rjob jobset.ReplicatedJob) bool {
		jobs := built(rjob.Name)
		if isAwaited(js, rjob.Name) && count(jobs, isComplete) >= rjob.Replicas {
			return false
		}
		return slices.ContainsFunc(jobs, func(job *batchv1.Job) bool {
			return job.DeletionTimestamp == nil && (isComplete(job) || job.Status.CompletedIndexes != "")
		})
	})
}

// isAwaited reports whether a ReplicatedJob starts only after another has completed.
func isAwaited(js *jobset.JobSet, name string) bool {
	return slices.ContainsFunc(js.Spec.ReplicatedJobs, func(rjob jobset.ReplicatedJob) bool {
		return slices.Contains(rjob.DependsOn, jobset.DependsOn{Name: name, Status: jobset.DependencyComplete})
	})
}

func isComplete(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
	})
}

func count[T any](of []T, matches func(T) bool) (n int32) {
	for _, one := range of {
		if matches(one) {
			n++
		}
	}
	return n
}
