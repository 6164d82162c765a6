/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
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

// patience is how much longer than the grace period of its Pod such a success may take to come (P45d). One that does not come,
// since a container that is no worker runs on, or the node is silent, must not hold a break back without limit.
const patience = time.Minute

// WaitForSuccess reports whether to leave the group alone although it wants a break: a success that
// is seen and not counted would complete the JobSet, or, if the break is drastic and not merely
// one in place, such a success may still come to be seen.
func WaitForSuccess(v *view.View, drastic bool) (r pass.Result, waits bool) {
	pending, overdue, next := successPending(v)
	r = pass.RequeueAfter(next)
	r.Remember.Held, r.Remember.Pending = drastic, pending
	switch {
	case overdue != "":
		r = r.And(pass.Tell(pass.Warning(constants.SuccessOverdueReason, overdue)))
	case pending:
		return r, true
	}
	if !drastic {
		return r, false
	}
	left := successGrace
	if !v.HeldSince.IsZero() {
		left -= v.Now.Sub(v.HeldSince)
	}
	return r.And(pass.RequeueAfter(left)), left > 0
}

// successPending reports whether the success policy will be met once the Job controller has counted what succeeded, since when
// that is no reason to wait any longer, "" if it is, and when to look again, 0 if nothing limits the wait.
func successPending(v *view.View) (pending bool, overdue string, next time.Duration) {
	successful, ended := slices.Clone(v.Observed.Successful), slices.Clone(v.Observed.Successful)
	var late lateSuccess
	for _, job := range v.Observed.Active {
		about, left, of := aboutToComplete(v, job)
		if !about {
			continue
		}
		if successful = append(successful, job); of.pod == nil {
			ended = append(ended, job)
		}
		late.add(of.pod, of.within)
		next = pass.Sooner(next, left)
	}
	switch {
	case len(successful) == len(v.Observed.Successful) || !jobs.SuccessMet(v, successful):
		return false, "", 0
	case len(ended) > len(v.Observed.Successful) && jobs.SuccessMet(v, ended): // all that is left to do is to count
		return true, "", next
	}
	left := late.within + patience
	if !v.PendingSince.IsZero() {
		left -= v.Now.Sub(v.PendingSince)
	}
	if left > 0 {
		return true, "", pass.Sooner(next, left)
	}
	return true, late.String(), 0
}

// lateSuccess are Pods whose workers are done, and that have not ended.
type lateSuccess struct {
	// pod is one of them, nil if there is none, and within the longest grace period.
	pod    *facts.Member
	within time.Duration
}

func (l *lateSuccess) add(pod *facts.Member, within time.Duration) {
	l.within = max(l.within, within)
	if l.pod == nil || pod != nil && pod.Name < l.pod.Name {
		l.pod = pod
	}
}

// graceOf returns the grace period of the Pods of a Job.
func graceOf(job *batchv1.Job) time.Duration {
	return time.Duration(ptr.Deref(job.Spec.Template.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)) * time.Second
}

// String says which container keeps the Pod from ending, and how to let it go.
func (l *lateSuccess) String() string {
	m := l.pod
	why := fmt.Sprintf("node %s does not report that the Pod has ended", m.Node)
	if m.Keeper != "" {
		why = fmt.Sprintf("container %s keeps running: let it end with the worker, or make it an init container with restartPolicy Always", m.Keeper)
	}
	return fmt.Sprintf("the workers of Pod %s are done, but a failure was held back for %s to let the Pod succeed, and is now handled; %s", m.Name, l.within+patience, why)
}

// aboutToComplete reports whether a Job will be Complete once its Pods that succeeded are counted, and
// how long until the first of them that is being deleted is not waited for any longer, 0 if all are. Others that have not ended
// may be late.
func aboutToComplete(v *view.View, job *batchv1.Job) (about bool, graceEnds time.Duration, late lateSuccess) {
	if job.DeletionTimestamp != nil || view.HasCondition(job, batchv1.JobFailureTarget) {
		return false, 0, late
	}
	if view.HasCondition(job, batchv1.JobSuccessCriteriaMet) {
		return true, 0, late
	}
	size := view.SizeOf(job)
	done := view.ParseIndexes(job.Status.CompletedIndexes, size)
	succeeded := map[int64]bool{}
	for _, m := range v.Pods[job.UID] {
		index := int64(m.Index)
		if index < 0 || index >= size || done.Has(index) || !mayHaveRun(v, m.Reported.Epoch) || !m.EndedWell && !reportsDone(m, v.Synced) {
			continue
		}
		if m.Terminating() {
			left := v.Until(m.Deadline)
			if left <= 0 {
				continue
			}
			graceEnds = pass.Sooner(graceEnds, left)
		} else if !m.Ended() {
			late.add(m, graceOf(job))
		}
		succeeded[index] = true
	}
	met := done.Size()+int64(len(succeeded)) >= size || jobSuccessMet(job.Spec.SuccessPolicy, done, succeeded, size)
	return met, graceEnds, late
}

// mayHaveRun reports whether a Pod that ended with 0 did so in an epoch, and not at the barrier. Which
// epoch it reported does not matter else: a late patch of a dead agent may have set it back (P45b).
func mayHaveRun(v *view.View, epoch int32) bool {
	return v.Synced >= 1 && int64(epoch) != int64(v.Synced)+1
}

// jobSuccessMet reports whether a Job's own success policy is met by the indexes that are done and those that succeeded.
func jobSuccessMet(policy *batchv1.SuccessPolicy, done view.IndexSet, succeeded map[int64]bool, size int64) bool {
	if policy == nil {
		return false
	}
	for _, rule := range policy.Rules {
		wanted := view.IndexSet{{First: 0, Last: size - 1}}
		if rule.SucceededIndexes != nil {
			wanted = view.ParseIndexes(*rule.SucceededIndexes, size)
		}
		have := done.SizeWithin(wanted)
		for index := range succeeded {
			if wanted.Has(index) {
				have++
			}
		}
		if need := int64(ptr.Deref(rule.SucceededCount, 0)); have > 0 && have >= need && (need > 0 || have >= wanted.Size()) {
			return true
		}
	}
	return false
}
