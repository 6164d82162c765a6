/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sizes

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// State is what becomes of the size of a job.
type State string

// States, in the order in which they are looked for.
const (
	// Suspended: its size does not matter until it is resumed.
	Suspended State = "Suspended"
	// Queued: a queue of Kueue manages it, so the manager leaves its size alone.
	Queued State = "Queued"
	// Waits: the manager finds no size with which its JobSet could run, or run on.
	Waits State = "Waits"
	// Resizing: it does not run with the size that it is to have yet.
	Resizing State = "Resizing"
	// CoolsDown: its size is to change, and was changed a short time ago.
	CoolsDown State = "CoolsDown"
	// Keeps: its size is as it should be.
	Keeps State = "Keeps"
)

// sizeOf returns the size that a ReplicatedJob runs with and the one that it is to have, as the manager wrote
// them. One without the gate ElasticJobSet writes none. Then the size that is wanted is that of the spec; a group
// that restarts in place gets it with its next epoch, others as soon as their Job has it.
func sizeOf(js *jobset.JobSet, rjob *jobset.ReplicatedJob) (current, desired int32) {
	desired = ptr.Deref(rjob.Template.Spec.Completions, rjob.Elastic.MinInstances)
	for i := range js.Status.ReplicatedJobsStatus {
		switch status := &js.Status.ReplicatedJobsStatus[i]; {
		case status.Name != rjob.Name:
		case status.Elastic != nil:
			return status.Elastic.Current, status.Elastic.Desired
		case status.SyncedWorkers > 0:
			current = status.SyncedWorkers
		case !workerpod.WantsInPlace(js) && status.Active+status.Succeeded > 0:
			current = desired
		}
	}
	return current, desired
}

// stateOf says what becomes of a size, what the manager said about it, and when.
func stateOf(js *jobset.JobSet, limit *Limit, current, desired int32) (state State, because string, since *metav1.Time) {
	_, queued := js.Labels[constants.QueueNameKey]
	waits, resizes := policy.IfTrue(js, jobset.JobSetElasticWaiting), policy.IfTrue(js, jobset.JobSetElasticResizing)
	switch {
	case ptr.Deref(js.Spec.Suspend, false):
		return Suspended, "", nil
	case queued:
		return Queued, "", nil
	case waits != nil:
		return Waits, waits.Message, &waits.LastTransitionTime
	case current != desired && resizes != nil:
		return Resizing, resizes.Message, &resizes.LastTransitionTime
	case current != desired:
		return Resizing, "", nil
	case limit != nil && limit.Reason == elastic.LimitCooldown:
		return CoolsDown, limit.Message, nil
	}
	return Keeps, "", nil
}
