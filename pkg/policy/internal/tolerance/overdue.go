/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// Overdue deletes by force what should be gone for a long time and is not (P85): Pods whatever their
// node says, and Jobs that nothing but the garbage collector holds. It looks at every JobSet that
// tolerates faults, also at one that is finished or suspended.
func Overdue(v *view.View, _ pass.Result) pass.Result {
	if !v.Forces() {
		return pass.Result{}
	}
	var leaving []*facts.Member
	populated := map[*batchv1.Job]bool{}
	eachPod(v, func(pod *facts.Member, job *batchv1.Job) {
		populated[job] = true
		if pod.Terminating() && !isForced(pod) {
			leaving = append(leaving, pod)
		}
	})
	grace := v.Settings.ForcefulDeletion
	lost, r := overdueOnLostNodes(v, view.SortByName(leaving))
	if len(lost) > 0 {
		r = r.And(pass.DeleteByForce(lost, fmt.Sprintf("%d Pods should have stopped, and their nodes are silent (%s); they are deleted by force: %s", len(lost), view.FirstOf(group.NodesOf(lost)), view.PodNames(lost))))
	}
	pods, more := v.Past(slices.DeleteFunc(leaving, func(pod *facts.Member) bool { return slices.Contains(lost, pod) }), grace)
	if r = r.And(more); len(pods) > 0 {
		r = r.And(pass.DeleteByForce(pods, fmt.Sprintf("%d Pods should have stopped more than %s ago; they are deleted by force: %s", len(pods), grace, view.PodNames(pods))))
	}
	var held []*batchv1.Job
	for _, job := range v.Jobs {
		// A Job that is deleted in the foreground is held until its Pods are gone.
		if job.DeletionTimestamp == nil || populated[job] || !slices.Contains(job.Finalizers, metav1.FinalizerDeleteDependents) {
			continue
		}
		if left := v.Left(grace, job.DeletionTimestamp.Time); left > 0 {
			r = r.And(pass.RequeueAfter(left))
			continue
		}
		held = append(held, job)
	}
	slices.SortFunc(held, view.CompareJobs)
	for _, job := range held {
		r.Writes.Do(pass.Op{Kind: pass.ForceJob, Job: job})
	}
	if len(r.Writes.Ops) > 0 {
		r.Writes.Do(pass.Op{Kind: pass.CountForced})
	}
	return r
}

// overdueOnLostNodes returns the Pods whose grace is over for as long as the JobSet waits for Pods on silent nodes (P177).
func overdueOnLostNodes(v *view.View, leaving []*facts.Member) (over []*facts.Member, r pass.Result) {
	asked := v.JobSet.Spec.FaultTolerance.LostNode
	if asked == nil || ptr.Deref(asked.ReplaceAfterSeconds, 0) == 0 {
		return nil, pass.Result{}
	}
	stopped, next := view.Due(leaving, func(pod *facts.Member) time.Duration { return v.Left(0, pod.Deadline) })
	stopped = slices.DeleteFunc(stopped, func(pod *facts.Member) bool { return pod.Node == "" })
	if r = pass.RequeueAfter(next); len(stopped) == 0 {
		return nil, r
	}
	r = r.And(group.AskNodes(v, group.NodesOf(stopped)))
	silent := slices.DeleteFunc(stopped, func(pod *facts.Member) bool { return !v.Heard[pod.Node].Silent(v.Now) })
	over, more := v.Past(silent, time.Duration(*asked.ReplaceAfterSeconds)*time.Second)
	return over, r.And(more)
}

// isForced reports whether all that is done here was done to a Pod, so that somebody else holds it. Grace period 0 alone
// does not show that: a user may have set it, or the template. A Job with podReplacementPolicy Failed leaves its
// finalizer on such a Pod for as long as it counts as running.
func isForced(m *facts.Member) bool { return m.ByForce && (m.Ended() || !m.Tracked) }
