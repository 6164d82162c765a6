/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/metrics"
	"sigs.k8s.io/jobset/pkg/policy"
)

// maxNote is the longest note that the events API takes.
const maxNote = 1024

// report writes the status, if it changed, and then tells users and operators.
// The write fails if the status is not the one that was decided on: then
// nothing is told, and the next pass decides anew. So a restart counts once.
func (r *JobSetReconciler) report(ctx context.Context, js *jobset.JobSet, plan *policy.Plan) (ctrl.Result, error) {
	r.tellInvalidEpochs(js, plan.InvalidEpochs)
	result := ctrl.Result{RequeueAfter: plan.RequeueAfter}
	if apiequality.Semantic.DeepEqual(js.Status, plan.Status) {
		return result, nil
	}
	// A write wakes this JobSet: without an interval, each would lead to the next for as long as Jobs come up.
	if interval := max(plan.CountsInterval, r.memory.countsDelay(client.ObjectKeyFromObject(js))); onlyCounts(&js.Status, &plan.Status) {
		if wait := r.memory.waitForCounts(js, r.clock.Now(), interval); wait > 0 {
			return ctrl.Result{RequeueAfter: earlier(wait, plan.RequeueAfter)}, nil
		}
	}
	update := js.DeepCopy()
	update.Status = plan.Status
	if err := r.client.Status().Update(ctx, update); err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: passInterval}, nil // the cache lags behind our own last write, mostly
		}
		return ctrl.Result{}, fmt.Errorf("writing the status of JobSet %s: %w", klog.KObj(js), err)
	}
	r.memory.wrote(js, r.clock.Now())
	for _, event := range plan.Events {
		r.tell(js, event)
	}
	r.measure(js, plan)
	if !apiequality.Semantic.DeepEqual(js.Status.SyncedEpoch, plan.Status.SyncedEpoch) {
		return result, r.tellOldNodes(ctx, js)
	}
	return result, nil
}

// reportCounts writes what was counted though an action failed: while one Job
// cannot be created, users still see how the others fare. What was decided is
// not written; the next pass decides it anew.
func (r *JobSetReconciler) reportCounts(ctx context.Context, js *jobset.JobSet, plan *policy.Plan) error {
	update := js.DeepCopy()
	update.Status.ReplicatedJobsStatus = policy.OnlyCounts(plan.Status.ReplicatedJobsStatus, js.Status.ReplicatedJobsStatus)
	if apiequality.Semantic.DeepEqual(js.Status, update.Status) {
		return nil
	}
	if err := r.client.Status().Update(ctx, update); err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("writing the counts of JobSet %s: %w", klog.KObj(js), err)
	}
	return nil
}

// onlyCounts tells whether two statuses differ in nothing but the counts of Jobs.
func onlyCounts(a, b *jobset.JobSetStatus) bool {
	without := *b
	without.ReplicatedJobsStatus = a.ReplicatedJobsStatus
	return apiequality.Semantic.DeepEqual(*a, without)
}

func earlier(a, b time.Duration) time.Duration {
	if b > 0 && b < a {
		return b
	}
	return a
}

// measure tells the metrics what was persisted.
func (r *JobSetReconciler) measure(js *jobset.JobSet, plan *policy.Plan) {
	key := client.ObjectKeyFromObject(js)
	metrics.Restarted(plan.Restart)
	for _, outcome := range plan.Outcomes {
		switch outcome {
		case policy.Completed:
			metrics.JobSetCompleted(key)
		case policy.Failed:
			metrics.JobSetFailed(key)
		case policy.GroupBroken:
			metrics.InPlaceRestartStarted()
			r.memory.broke(js, r.clock.Now())
		case policy.GroupLifted:
			metrics.InPlaceRestartCompleted(plan.GroupRestart)
		}
	}
}

func (r *JobSetReconciler) tellInvalidEpochs(js *jobset.JobSet, pods []*corev1.Pod) {
	for _, pod := range pods {
		value := pod.Annotations[jobset.EpochKey]
		if r.memory.complained(js, pod.UID, value) {
			continue
		}
		r.tell(js, policy.Event{
			Type:   corev1.EventTypeWarning,
			Reason: constants.InvalidEpochReason,
			Message: fmt.Sprintf("annotation %s of Pod %s is %q, not a decimal number from 1 to 2147483647: it counts as not reported",
				jobset.EpochKey, pod.Name, value),
		})
	}
}

// tellTrouble records an event about something that failed and is tried again.
// Events about different versions of an object are different events. Counts are
// written while a Job cannot be created, so the version goes on; the same trouble
// stays one event all the same, whose series grows.
func (r *JobSetReconciler) tellTrouble(js *jobset.JobSet, reason string, trouble error) {
	about := js.DeepCopy()
	about.ResourceVersion = r.memory.toldFirst(js, reason, trouble.Error())
	r.tell(about, policy.Event{Type: corev1.EventTypeWarning, Reason: reason, Message: trouble.Error()})
}

// tell records an event about the JobSet.
func (r *JobSetReconciler) tell(js *jobset.JobSet, event policy.Event) {
	note := event.Message
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote-3], "") + "..." // a rune may be cut
	}
	r.events.Eventf(js, nil, event.Type, event.Reason, constants.EventAction, "%s", note)
}
