/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// finishedJobSet deletes the Jobs that still run, and the JobSet itself when its TTL is over. A
// JobSet that does not say when it finished is not deleted.
func finishedJobSet(v *view, _ result) result {
	if !v.finished {
		return result{}
	}
	r := v.finishedJobs()
	r.ends = true
	seconds := v.JobSet.Spec.TTLSecondsAfterFinished
	switch {
	case seconds == nil:
		return r
	case v.end.LastTransitionTime.IsZero():
		r.err = fmt.Errorf("error checking if ttl expired: unable to find the time when the JobSet %s/%s finished", v.JobSet.Namespace, v.JobSet.Name)
		return r
	}
	left := v.left(time.Duration(*seconds)*time.Second, v.end.LastTransitionTime.Time)
	if left <= 0 {
		r.writes.do(Op{Kind: DeleteJobSet})
	}
	return r.and(requeueAfter(left))
}

// finishedJobs deletes the Jobs that still run: at once, or when the Pods of a failed JobSet were kept
// long enough (P87). Some time after completion it deletes all (P88).
func (v *view) finishedJobs() result {
	failed := v.end.Type == string(jobset.JobSetFailed)
	end := v.end.LastTransitionTime.Time
	all := append(v.observed.Previous, v.observed.Active...)
	r := deleteJobs(all...)
	switch {
	case !v.tolerant:
	case failed && len(v.observed.Active) > 0 && v.left(v.tolerance.DeletionOnFailure, end) > 0:
		return v.keepJobs(v.counted(end).Truncate(time.Second).Add(v.tolerance.DeletionOnFailure))
	case failed:
		r.kept = &keptUntil{}
	case v.left(v.tolerance.SuccessTTL, end) <= 0:
		return v.expire(append(append(all, v.observed.Successful...), v.observed.Failed...))
	default:
		return r.and(requeueAfter(v.left(v.tolerance.SuccessTTL, end)))
	}
	return r
}

// keepJobs keeps the Jobs of a failed JobSet until then.
func (v *view) keepJobs(until time.Time) result {
	r := requeueAfter(v.until(until)).and(deleteJobs(v.observed.Previous...))
	r.kept = &keptUntil{ptr.To(metav1.NewTime(until))}
	if known := v.JobSet.Status.FaultTolerance; known != nil && known.PodsKeptUntil != nil {
		return r
	}
	return r.and(tell(normal(constants.PodsKeptReason, fmt.Sprintf("%d Jobs that run are kept for %s, until %s, so that their Pods can be inspected",
		len(v.observed.Active), v.tolerance.DeletionOnFailure, until.UTC().Format(time.RFC3339)))))
}

// expire deletes all Jobs of a completed JobSet.
func (v *view) expire(jobs []*batchv1.Job) result {
	r := deleteJobs(jobs...)
	expired := normal(constants.SuccessTTLExpiredReason, fmt.Sprintf("the JobSet completed %s ago: its %d Jobs are deleted, and it stays", v.tolerance.SuccessTTL, len(r.writes.Ops)))
	for i := range r.writes.Ops {
		r.writes.Ops[i].Because = &expired.event
	}
	return r
}
