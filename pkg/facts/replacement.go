/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"math"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// The Job controller counts a Pod that is deleted as failed. From when it ended, it waits 10 s before it replaces the first one, twice
// as long for each further one, and at most 10 minutes. It counts those of an index in annotations of the next Pod if the Job has
// backoffLimitPerIndex, which groups that restart in place have (P170), and those of the whole Job if it has not.
const (
	FirstReplacement = 10 * time.Second
	LastReplacement  = 10 * time.Minute
)

// ReplacementWait returns how long the Job controller waits before it replaces a Pod, if so many have failed with it.
func ReplacementWait(failed int64) time.Duration {
	if failed < 1 {
		return 0
	}
	wait := FirstReplacement
	for n := int64(1); n < failed && wait < LastReplacement; n++ {
		wait *= 2
	}
	return min(wait, LastReplacement)
}

// CountsEachIndex reports whether the Job controller counts the failures of each index of a Job by itself.
func CountsEachIndex(job *batchv1.Job) bool { return job.Spec.BackoffLimitPerIndex != nil }

// ReplacedIn returns how long the Job controller still waits before it replaces a Failed Pod of a Job that counts each index, 0 if it
// does not.
func (m *Member) ReplacedIn(now time.Time) time.Duration {
	if m.Phase != corev1.PodFailed || !m.Tracked {
		return 0
	}
	wait := ReplacementWait(m.Failures + 1)
	return max(0, min(wait, m.Finished.Add(wait).Sub(now)))
}

// failuresBefore adds up those that a podFailurePolicy counts and those that it ignores: both make the Job controller wait.
func failuresBefore(pod *corev1.Pod) int64 {
	var sum int64
	for _, key := range []string{batchv1.JobIndexFailureCountAnnotation, batchv1.JobIndexIgnoredFailureCountAnnotation} {
		if count, err := strconv.ParseInt(pod.Annotations[key], 10, 64); err == nil && count >= 0 && count <= math.MaxInt32 {
			sum += count
		}
	}
	return sum
}

// finished returns when the last container of a Failed Pod ended; if that is not known, since when it is not ready, or when it was told
// to end.
func finished(pod *corev1.Pod) time.Time {
	last := latestEnd(time.Time{}, pod.Status.ContainerStatuses, func(string) bool { return true })
	last = latestEnd(last, pod.Status.InitContainerStatuses, func(name string) bool { return IsSidecar(pod, name) })
	ready := ConditionOf(pod, corev1.PodReady)
	switch {
	case !last.IsZero():
		return last
	case ready != nil && ready.Status == corev1.ConditionFalse && !ready.LastTransitionTime.IsZero():
		return moment(&ready.LastTransitionTime)
	case pod.DeletionTimestamp != nil:
		return moment(pod.DeletionTimestamp).Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	}
	return moment(&pod.CreationTimestamp)
}

// latestEnd returns the latest end from a moment on, zero if one of the containers has none.
func latestEnd(from time.Time, statuses []corev1.ContainerStatus, counts func(name string) bool) time.Time {
	for i := range statuses {
		if !counts(statuses[i].Name) {
			continue
		}
		end := statuses[i].State.Terminated
		if end == nil || end.FinishedAt.IsZero() {
			return time.Time{}
		}
		if at := moment(&end.FinishedAt); at.After(from) {
			from = at
		}
	}
	return from
}
