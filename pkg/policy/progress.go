/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// maxNamed is how many Pods an event names at the most.
const maxNamed = 5

// A group that does not come together must not wait for ever (P24):
//
//	assemblingSince
//	  + one period    Pods on a node that have not reported are deleted, and so recreated
//	  + two periods   all Jobs are recreated, charged once
//
// A Pod that waits for a node is waited for: another would not find one either.
// The times are in the API, so a new leader keeps the deadlines.

// clockAssembly keeps the time since when the group comes together (P24). It is
// cleared while nobody is waited for, so that the deadline of a group that was
// suspended, or bypassed, counts from when it is waited for again.
func (d *decision) clockAssembly() {
	if !d.inPlace() || d.plan.Confirm != nil {
		return
	}
	status := &d.plan.Status
	_, ended := finished(d.in.JobSet)
	restarted := status.Restarts != d.in.JobSet.Status.Restarts
	cameBack := apimeta.IsStatusConditionTrue(d.in.JobSet.Status.Conditions, string(jobset.JobSetInPlaceRestartDisabled))
	switch {
	case d.in.Progress.Assembly <= 0 || ended || status.TerminalState != "" || !d.watching() ||
		ptr.Deref(status.DeprecatedEpoch, 0) < ptr.Deref(status.SyncedEpoch, 0):
		status.AssemblingSince = nil
	case status.AssemblingSince == nil || restarted || cameBack:
		status.AssemblingSince = ptr.To(metav1.NewTime(d.in.Now))
	}
}

// waited is how long the group has been coming together, 0 if it is not or if that is not known.
func (d *decision) waited() time.Duration {
	since := d.in.JobSet.Status.AssemblingSince
	if since == nil || d.in.Progress.Assembly <= 0 {
		return 0
	}
	return d.in.Now.Sub(since.Time)
}

// overdue tells whether the group may take too long, so that who is missing matters.
func (d *decision) overdue() bool {
	return d.in.Progress.ForcefulDeletion > 0 || d.in.Progress.Assembly > 0 && d.waited() >= d.in.Progress.Assembly
}

// progress steps in if a group that assembles does not come together (P24, P25).
func (d *decision) progress(g group, synced int32) {
	period := d.in.Progress.Assembly
	if !ptr.Equal(d.plan.Status.SyncedEpoch, d.in.JobSet.Status.SyncedEpoch) || d.plan.touchesJobs() {
		return // it just came together, or its Jobs are still to be made what they should be
	}
	d.deleteStuck(g)
	if period <= 0 || d.in.JobSet.Status.AssemblingSince == nil || g.slots == 0 {
		return
	}
	waited := d.waited()
	switch {
	case waited < period:
		d.plan.requeueAfter(period - waited)
	case len(g.stuck) > 0 || len(d.observed.Previous) > 0 || d.anyTerminating():
		// New Jobs would not help: they would wait for the same Pods to go. So the
		// clock starts over, and what comes in their place has all of its time.
		d.deleteLate(g, synced)
		d.plan.Status.AssemblingSince = ptr.To(metav1.NewTime(d.in.Now))
		d.plan.requeueAfter(period)
	case waited < 2*period:
		d.deleteLate(g, synced)
		d.plan.requeueAfter(2*period - waited)
	case g.waiting == 0 && d.hadTheirTime(g.late):
		d.recreateOverdue(g, synced)
	}
}

// hadTheirTime tells whether Pods that have not reported had a period of their own to do so.
func (d *decision) hadTheirTime(late []*corev1.Pod) bool {
	for _, pod := range late {
		if left := pod.CreationTimestamp.Add(d.in.Progress.Assembly).Sub(d.in.Now); left > 0 {
			d.plan.requeueAfter(left)
			return false
		}
	}
	return true
}

// deleteLate deletes the Pods that have not reported in one period. Those that
// came in their place have the second period to report.
func (d *decision) deleteLate(g group, synced int32) {
	deadline := d.in.JobSet.Status.AssemblingSince.Add(d.in.Progress.Assembly)
	var late []*corev1.Pod
	for _, pod := range g.late {
		if pod.CreationTimestamp.Time.Before(deadline) {
			late = append(late, pod)
		}
	}
	if len(late) == 0 {
		return
	}
	d.plan.DeletePods = append(d.plan.DeletePods, PodDeletion{Pods: late, Event: Event{
		Type:   corev1.EventTypeWarning,
		Reason: constants.WorkersMissingReason,
		Message: fmt.Sprintf("%d of %d workers have not reported epoch %d within %s; their Pods are deleted to be recreated: %s",
			g.slots-g.reported, g.slots, int64(synced)+1, d.in.Progress.Assembly, named(late)),
	}})
}

// recreateOverdue recreates all Jobs of a group that did not come together in two periods.
func (d *decision) recreateOverdue(g group, synced int32) {
	if d.budgetSpent() {
		d.fail(constants.ReachedMaxRestartsReason, constants.ReachedMaxRestartsMessage)
		return
	}
	d.plan.Status.RestartsCountTowardsMax++
	d.restartAll(constants.DefaultFailurePolicyReason, constants.RestartJobSetActionReason,
		fmt.Sprintf("applying %s failure policy action (%d of %d workers have not reported epoch %d within %s: %s)",
			jobset.RestartJobSet, g.slots-g.reported, g.slots, int64(synced)+1, 2*d.in.Progress.Assembly, named(g.late)))
}

// deleteStuck deletes by force the Pods that a lost node does not let go (P25).
func (d *decision) deleteStuck(g group) {
	grace := d.in.Progress.ForcefulDeletion
	if grace <= 0 {
		return
	}
	var stuck []*corev1.Pod
	for _, pod := range g.stuck {
		if !d.in.NotReady[pod.Spec.NodeName] {
			continue
		}
		if left := pod.DeletionTimestamp.Add(grace).Sub(d.in.Now); left > 0 {
			d.plan.requeueAfter(left)
			continue
		}
		stuck = append(stuck, pod)
	}
	if len(stuck) == 0 {
		return
	}
	d.plan.DeletePods = append(d.plan.DeletePods, PodDeletion{Pods: stuck, Force: true, Event: Event{
		Type:   corev1.EventTypeWarning,
		Reason: constants.ForcefulDeletionReason,
		Message: fmt.Sprintf("%d worker Pods on nodes that are not ready should have stopped more than %s ago; they are deleted by force: %s",
			len(stuck), grace, named(stuck)),
	}})
}

// named names up to five Pods.
func named(pods []*corev1.Pod) string {
	if len(pods) == 0 {
		return "no Pod is there"
	}
	var names []string
	for _, pod := range pods[:min(len(pods), maxNamed)] {
		names = append(names, pod.Name)
	}
	text := strings.Join(names, ", ")
	if more := len(pods) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
