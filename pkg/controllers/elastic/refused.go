/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"cmp"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/placement"
)

// findRefused finds the instances that groups wait for and that nobody starts: their Pods are unschedulable, or cannot be
// created (P108a). Pods without a node that appear in these groups start the next round.
func (a *autoscaler) findRefused(in *elastic.Input, owners []*jobset.JobSet, built [][]*batchv1.Job, awaited map[string]bool) error {
	for i := range in.Jobs {
		job, js := &in.Jobs[i], owners[i]
		known := a.known[job.Key]
		current := currentJob(built[i], placement.JobName(js.Name, job.ReplicatedJob, 0))
		if job.Running || !job.Shrinks || current == nil || !expectsAll(current) {
			known.missing = time.Time{}
			continue
		}
		awaited[shared.InNamespace(js.Namespace, js.UID)] = true
		pods, err := a.pods.ControlledBy(current.Namespace, current.UID)
		if err != nil {
			return err
		}
		refused, exist := refusedOf(pods, job.Size, job.Resized)
		if known.missing = cmp.Or(known.missing, in.Now); exist >= job.Size {
			known.missing = time.Time{}
		} else {
			lacks := job.Size - exist
			refused = append(refused, elastic.Refusal{Count: lacks, Since: later(known.missing, job.Resized).Add(replacedAfter(current, pods)),
				Message: fmt.Sprintf("%d do not exist, and the events of Job %s show why", lacks, current.Name)})
		}
		job.Refused = refused
	}
	return nil
}

// replacedAfter returns for how long Pods of a Job may be missing although nothing refuses them: the Job controller waits before it
// replaces those that failed (P170).
func replacedAfter(job *batchv1.Job, pods []*facts.Member) time.Duration {
	if !facts.CountsEachIndex(job) {
		return facts.ReplacementWait(int64(job.Status.Failed))
	}
	var longest time.Duration
	for _, pod := range pods {
		if pod.Phase == corev1.PodFailed && pod.Tracked { // else another Pod has its index
			longest = max(longest, facts.ReplacementWait(pod.Failures+1))
		}
	}
	return longest
}

// expectsAll reports whether a Job is to have a Pod for each index.
func expectsAll(job *batchv1.Job) bool {
	return !ptr.Deref(job.Spec.Suspend, false) && job.Status.CompletedIndexes == "" && ptr.Deref(job.Status.FailedIndexes, "") == ""
}

// refusedOf returns which Pods of a Job are unschedulable, and of how many indexes below its size Pods exist. Those that
// terminate count as there: nobody takes their index.
func refusedOf(pods []*facts.Member, size int32, resized time.Time) (refused []elastic.Refusal, exist int32) {
	seen := make(map[int32]bool, len(pods))
	for _, pod := range pods {
		if pod.Index < 0 || pod.Index >= size || seen[pod.Index] || pod.Ended() {
			continue
		}
		seen[pod.Index] = true
		if !pod.Terminating() && pod.Unscheduled != "" {
			refused = append(refused, elastic.Refusal{Count: 1, Since: later(pod.Created(), resized), Message: pod.Unscheduled})
		}
	}
	return refused, int32(len(seen))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// elasticStatus returns what the status says about the size of a ReplicatedJob, nil if nothing.
func elasticStatus(js *jobset.JobSet, name string) *jobset.ElasticSize {
	for i := range js.Status.ReplicatedJobsStatus {
		if js.Status.ReplicatedJobsStatus[i].Name == name {
			return js.Status.ReplicatedJobsStatus[i].Elastic
		}
	}
	return nil
}

// learned returns the size with which a ReplicatedJob last ran, and the ceiling of its growth.
func learned(js *jobset.JobSet, name string) (ran int32, ceiling *elastic.Ceiling) {
	status := elasticStatus(js, name)
	if status == nil {
		return 0, nil
	}
	if c := status.Ceiling; c != nil {
		ceiling = &elastic.Ceiling{Size: c.Size, Refusals: c.Refusals, Since: c.RefusedTime.Time, Until: c.RetryTime.Time, Nodes: c.Nodes, Message: c.Message}
	}
	return status.Current, ceiling
}
