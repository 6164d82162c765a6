/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// FinishedJobSet deletes the Jobs that still run, and the JobSet itself when its TTL is over. A
// JobSet that does not say when it finished is not deleted.
func FinishedJobSet(v *view.View, _ pass.Result) pass.Result {
	if !v.Finished {
		return pass.Result{}
	}
	r := finishedJobs(v)
	r.Ends = true
	seconds := v.JobSet.Spec.TTLSecondsAfterFinished
	switch {
	case seconds == nil:
		return r
	case v.End.LastTransitionTime.IsZero():
		r.Err = fmt.Errorf("error checking if ttl expired: unable to find the time when the JobSet %s/%s finished", v.JobSet.Namespace, v.JobSet.Name)
		return r
	}
	left := v.Left(time.Duration(*seconds)*time.Second, v.End.LastTransitionTime.Time)
	if left <= 0 {
		r.Writes.Do(pass.Op{Kind: pass.DeleteJobSet})
	}
	return r.And(pass.RequeueAfter(left))
}

// finishedJobs deletes the Jobs that still run: at once, or when the Pods of a failed JobSet were kept
// long enough (P87). Some time after completion it deletes all (P88).
func finishedJobs(v *view.View) pass.Result {
	failed := v.End.Type == string(jobset.JobSetFailed)
	end := v.End.LastTransitionTime.Time
	all := append(v.Observed.Previous, v.Observed.Active...)
	r := pass.DeleteJobs(all...)
	switch {
	case !v.Tolerant:
	case failed && len(v.Observed.Active) > 0 && v.Left(v.Settings.DeletionOnFailure, end) > 0:
		return keepJobs(v, v.Counted(end).Truncate(time.Second).Add(v.Settings.DeletionOnFailure))
	case failed:
		r.Kept = &pass.KeptUntil{}
	case v.Left(v.Settings.SuccessTTL, end) <= 0:
		return expire(v, append(append(all, v.Observed.Successful...), v.Observed.Failed...))
	default:
		return r.And(pass.RequeueAfter(v.Left(v.Settings.SuccessTTL, end)))
	}
	return r
}

// keepJobs keeps the Jobs of a failed JobSet until then.
func keepJobs(v *view.View, until time.Time) pass.Result {
	r := pass.RequeueAfter(v.Until(until)).And(pass.DeleteJobs(v.Observed.Previous...))
	r.Kept = &pass.KeptUntil{Time: ptr.To(metav1.NewTime(until))}
	if known := v.JobSet.Status.FaultTolerance; known != nil && known.PodsKeptUntil != nil {
		return r
	}
	return r.And(pass.Tell(pass.Normal(constants.PodsKeptReason, fmt.Sprintf("%d Jobs that run are kept for %s, until %s, so that their Pods can be inspected",
		len(v.Observed.Active), v.Settings.DeletionOnFailure, until.UTC().Format(time.RFC3339)))))
}

// expire deletes all Jobs of a completed JobSet.
func expire(v *view.View, jobs []*batchv1.Job) pass.Result {
	r := pass.DeleteJobs(jobs...)
	expired := pass.Normal(constants.SuccessTTLExpiredReason, fmt.Sprintf("the JobSet completed %s ago: its %d Jobs are deleted, and it stays", v.Settings.SuccessTTL, len(r.Writes.Ops)))
	for i := range r.Writes.Ops {
		r.Writes.Ops[i].Because = &expired.Event
	}
	return r
}
