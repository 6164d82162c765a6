/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// What the Job controller does about a Failed Pod (P170):
//
//	Jobs that count each index    the finalizer stays until another Pod has the index, which takes as long as this index has failed
//	                              often; so the Pod is lost before, unless the whole Job may fail because of it
//	Jobs of older versions        the finalizer goes within a second, and then the Pod is lost; the wait is that of the whole Job

// LongestReplacement: a reset is faster than what takes longer.
const LongestReplacement = 2 * time.Minute

// verdictInterval is how often a group that runs looks whether the Job controller has seen a Failed Pod: no event says so.
const verdictInterval = time.Second

// ReplacedAfter returns how long the Job controller waits, once these Pods of a Job have ended, before it has replaced all of them.
func ReplacedAfter(job *batchv1.Job, pods []*facts.Member) time.Duration {
	if !facts.CountsEachIndex(job) {
		return facts.ReplacementWait(int64(job.Status.Failed) + int64(len(pods)))
	}
	var longest time.Duration
	for _, pod := range pods {
		longest = max(longest, facts.ReplacementWait(pod.Failures+1))
	}
	return longest
}

// losesFailed reports whether Failed Pods of a Job are lost while they have the finalizer. Where a Failed Pod, or the time, may fail the
// whole Job, that comes first (P10): then its counts show whether the Job controller has seen all of them. It fails the Job in the write
// in which it stops counting such a Pod.
func losesFailed(job *batchv1.Job, pods []*facts.Member) bool {
	if !facts.CountsEachIndex(job) {
		return false
	}
	if !mayFail(job) {
		return true
	}
	var unended int64
	for _, pod := range pods {
		if !pod.Ended() {
			unended++
		}
	}
	return int64(job.Status.Active)+int64(ptr.Deref(job.Status.Terminating, 0)) <= unended
}

// mayFail reports whether anything but the failures of its indexes can fail a Job.
func mayFail(job *batchv1.Job) bool {
	policy := job.Spec.PodFailurePolicy
	return job.Spec.ActiveDeadlineSeconds != nil || policy != nil && slices.ContainsFunc(policy.Rules, func(rule batchv1.PodFailurePolicyRule) bool {
		return rule.Action == batchv1.PodFailurePolicyActionFailJob
	})
}

// BackoffLeft returns how long the Job controller still waits before it replaces the first of the lost Pods, 0 if it waits for none. In
// one assembly it counts for as long as the longest wait: Pods that fail again and again before they report must reach the deadline.
func (v *View) BackoffLeft() time.Duration {
	var first time.Duration
	for i := range v.Group.Jobs {
		j := &v.Group.Jobs[i]
		if j.lost == 0 || !facts.CountsEachIndex(j.Job) {
			continue
		}
		until := v.assembledFrom(j.Job).Add(facts.LastReplacement)
		for k := range j.Slots {
			if slot := &j.Slots[k]; slot.State == SlotLost {
				m := slot.Pod
				first = pass.Sooner(first, min(v.Until(until), m.ReplacedIn(v.Now)))
			}
		}
	}
	return first
}

// assembledFrom returns when the group began to assemble, as far as that is known: it broke, a bypass ended, or its Jobs started.
func (v *View) assembledFrom(job *batchv1.Job) time.Time {
	from := v.StoppedAt()
	if start := job.Status.StartTime; start != nil && start.After(from) {
		from = start.Time
	}
	return from
}
