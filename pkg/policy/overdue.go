/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
)

// overdue deletes by force what should be gone for a long time and is not (P85): Pods whatever their
// node says, and Jobs that nothing but the garbage collector holds. It looks at every JobSet that
// tolerates faults, also at one that is finished or suspended.
func overdue(v *view, _ result) result {
	if !v.forces() {
		return result{}
	}
	var leaving []*facts.Member
	populated := map[*batchv1.Job]bool{}
	v.eachPod(func(pod *facts.Member, job *batchv1.Job) {
		populated[job] = true
		if pod.Terminating() && !isForced(pod) {
			leaving = append(leaving, pod)
		}
	})
	grace := v.tolerance.ForcefulDeletion
	lost, r := v.overdueOnLostNodes(sortByName(leaving))
	if len(lost) > 0 {
		r = r.and(forced(lost, fmt.Sprintf("%d Pods should have stopped, and their nodes are silent (%s); they are deleted by force: %s", len(lost), firstOf(nodesOf(lost)), podNames(lost))))
	}
	pods, more := v.past(slices.DeleteFunc(leaving, func(pod *facts.Member) bool { return slices.Contains(lost, pod) }), grace)
	if r = r.and(more); len(pods) > 0 {
		r = r.and(forced(pods, fmt.Sprintf("%d Pods should have stopped more than %s ago; they are deleted by force: %s", len(pods), grace, podNames(pods))))
	}
	var held []*batchv1.Job
	for _, job := range v.Jobs {
		// A Job that is deleted in the foreground is held until its Pods are gone.
		if job.DeletionTimestamp == nil || populated[job] || !slices.Contains(job.Finalizers, metav1.FinalizerDeleteDependents) {
			continue
		}
		if left := v.left(grace, job.DeletionTimestamp.Time); left > 0 {
			r = r.and(requeueAfter(left))
			continue
		}
		held = append(held, job)
	}
	slices.SortFunc(held, compareJobs)
	for _, job := range held {
		r.writes.do(Op{Kind: ForceJob, Job: job})
	}
	if len(r.writes.Ops) > 0 {
		r.writes.do(Op{Kind: CountForced})
	}
	return r
}

// overdueOnLostNodes returns the Pods whose grace is over for as long as the JobSet waits for Pods on silent nodes (P177).
func (v *view) overdueOnLostNodes(leaving []*facts.Member) (over []*facts.Member, r result) {
	asked := v.JobSet.Spec.FaultTolerance.LostNode
	if asked == nil || ptr.Deref(asked.ReplaceAfterSeconds, 0) == 0 {
		return nil, result{}
	}
	stopped, next := due(leaving, func(pod *facts.Member) time.Duration { return v.left(0, pod.Deadline) })
	stopped = slices.DeleteFunc(stopped, func(pod *facts.Member) bool { return pod.Node == "" })
	if r = requeueAfter(next); len(stopped) == 0 {
		return nil, r
	}
	r = r.and(v.ask(nodesOf(stopped)))
	silent := slices.DeleteFunc(stopped, func(pod *facts.Member) bool { return !v.Heard[pod.Node].Silent(v.Now) })
	over, more := v.past(silent, time.Duration(*asked.ReplaceAfterSeconds)*time.Second)
	return over, r.and(more)
}

// isForced reports whether all that is done here was done to a Pod, so that somebody else holds it. Grace period 0 alone
// does not show that: a user may have set it, or the template. A Job with podReplacementPolicy Failed leaves its
// finalizer on such a Pod for as long as it counts as running.
func isForced(m *facts.Member) bool { return m.ByForce && (m.Ended() || !m.Tracked) }
