/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
)

// A success takes seconds to be counted (P45). A driver exits 0, and a worker crashes because its
// peer is gone:
//
//	0.0 s  the driver's container has ended with 0
//	1.2 s  the worker reports S+1
//	2.5 s  the driver's Pod is Succeeded
//	2.7 s  its Job is Complete: if the success policy asks for no more, the JobSet is
//
// A break in between would restart, or fail, a JobSet that succeeded.

// successGrace is how long a break that fails the JobSet, or recreates all its Jobs, is held back
// for a success that is not seen yet.
const successGrace = 3 * time.Second

// waitForSuccess reports whether to leave the group alone although it wants a break: a success that
// is seen and not counted would complete the JobSet, or, if the break is drastic and not merely
// one in place, such a success may still come to be seen.
func (v *view) waitForSuccess(drastic bool) (r result, waits bool) {
	pending, graceEnds := v.successPending()
	r = requeueAfter(graceEnds)
	r.remember.Held = drastic
	if pending || !drastic {
		return r, pending
	}
	left := successGrace
	if !v.HeldSince.IsZero() {
		left -= v.Now.Sub(v.HeldSince)
	}
	return r.and(requeueAfter(left)), left > 0
}

// successPending reports whether the success policy will be met once the Job controller has counted
// what succeeded, and for how long to wait for that at most, 0 if nothing limits it.
func (v *view) successPending() (pending bool, graceEnds time.Duration) {
	successful := slices.Clone(v.observed.Successful)
	for _, job := range v.observed.Active {
		if about, left := v.aboutToComplete(job); about {
			successful = append(successful, job)
			graceEnds = Sooner(graceEnds, left)
		}
	}
	return len(successful) > len(v.observed.Successful) && v.successMet(successful), graceEnds
}

// aboutToComplete reports whether a Job will be Complete once its Pods that succeeded are counted, and
// how long until the first of them is not waited for any longer, 0 if all are.
func (v *view) aboutToComplete(job *batchv1.Job) (about bool, graceEnds time.Duration) {
	if job.DeletionTimestamp != nil || hasCondition(job, batchv1.JobFailureTarget) {
		return false, 0
	}
	if hasCondition(job, batchv1.JobSuccessCriteriaMet) {
		return true, 0
	}
	size := sizeOf(job)
	done := parseIndexes(job.Status.CompletedIndexes, size)
	succeeded := map[int64]bool{}
	for _, pod := range v.Pods[job.UID] {
		m := facts.Of(pod)
		index := int64(m.Index)
		if index < 0 || index >= size || done.has(index) || !v.mayHaveRun(m.Reported.Epoch) || !m.EndedWell && !reportsDone(&m, v.synced) {
			continue
		}
		if m.Terminating() {
			left := v.until(m.Deadline)
			if left <= 0 {
				continue
			}
			graceEnds = Sooner(graceEnds, left)
		}
		succeeded[index] = true
	}
	met := done.size()+int64(len(succeeded)) >= size || jobSuccessMet(job.Spec.SuccessPolicy, done, succeeded, size)
	return met, graceEnds
}

// mayHaveRun reports whether a Pod that ended with 0 did so in an epoch, and not at the barrier. Which
// epoch it reported does not matter else: a late patch of a dead agent may have set it back (P45b).
func (v *view) mayHaveRun(epoch int32) bool {
	return v.synced >= 1 && int64(epoch) != int64(v.synced)+1
}

// jobSuccessMet reports whether a Job's own success policy is met by the indexes that are done and those that succeeded.
func jobSuccessMet(policy *batchv1.SuccessPolicy, done indexSet, succeeded map[int64]bool, size int64) bool {
	if policy == nil {
		return false
	}
	for _, rule := range policy.Rules {
		wanted := indexSet{{0, size - 1}}
		if rule.SucceededIndexes != nil {
			wanted = parseIndexes(*rule.SucceededIndexes, size)
		}
		have := done.sizeWithin(wanted)
		for index := range succeeded {
			if wanted.has(index) {
				have++
			}
		}
		if need := int64(ptr.Deref(rule.SucceededCount, 0)); have > 0 && have >= need && (need > 0 || have >= wanted.size()) {
			return true
		}
	}
	return false
}
