/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/facts"
)

// mostConfirmed is how many workers that seem to be lost are read at a time. One that is lost breaks the group.
const mostConfirmed = 50

// Loss is a Job that seems to have lost the workers of these completion indexes, and maybe more.
type Loss struct {
	Job     *batchv1.Job
	Indexes []int64
}

// Refresh returns the Pods of the Job: those of the lost indexes as just read, the others as cached.
func (l *Loss) Refresh(cached, read []*corev1.Pod) []*corev1.Pod {
	asked := func(pod *corev1.Pod) bool {
		return slices.Contains(l.Indexes, int64(facts.IndexOf(pod)))
	}
	var pods []*corev1.Pod
	for _, pod := range cached {
		if !asked(pod) {
			pods = append(pods, pod)
		}
	}
	for _, pod := range read {
		if asked(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// loss names the first indexes that the Job lacks.
func (j *jobSlots) loss() *Loss {
	loss := &Loss{Job: j.Job}
	for slot := range j.all {
		if slot.State == SlotLost {
			loss.Indexes = append(loss.Indexes, int64(slot.Index))
		}
		if len(loss.Indexes) == mostConfirmed {
			break
		}
	}
	return loss
}

// unconfirmedLoss returns what to read past the cache before anybody acts on a loss, nil if no worker
// seems to be lost, or if this decision is on that read and one of the workers is still lost. A worker
// that seems to be lost may have succeeded: its Pod is gone from one cache before the Job in another
// says so (P45).
func (v *view) unconfirmedLoss() *Loss {
	lacking, read := v.group.lacking, v.Confirmed
	switch {
	case lacking == nil:
		return nil
	case read != nil && read.Job.UID == lacking.UID && slices.ContainsFunc(read.Indexes, lacking.lacks):
		return nil
	}
	return lacking.loss()
}
