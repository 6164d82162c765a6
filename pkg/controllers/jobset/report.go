/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/metrics"
	"sigs.k8s.io/jobset/pkg/policy"
)

// report writes the status, if it changed, and then records events and metrics.
// The write fails if the plan was decided on an older status: then
// nothing is recorded, and the next pass decides again. So a restart counts once.
func (r *JobSetReconciler) report(ctx context.Context, js *jobset.JobSet, plan *policy.Plan) (ctrl.Result, error) {
	r.memory.forJobSet(js).reported.forgetMany(len(plan.InvalidEpochs) + len(plan.Replaced))
	r.tellInvalidEpochs(js, plan.InvalidEpochs)
	r.tellForeign(js, plan.Foreign)
	r.tellOnce(js, plan.Once)
	r.tellReplaced(js, plan.Replaced)
	result := ctrl.Result{RequeueAfter: plan.RequeueAfter}
	if apiequality.Semantic.DeepEqual(js.Status, plan.Status) {
		return result, nil
	}
	// A write enqueues this JobSet: without an interval, each would lead to the next for as long as Jobs start.
	remembered := r.memory.forJobSet(js)
	if interval := max(plan.CountsInterval, remembered.pace.countsDelay()); onlyCounts(&js.Status, plan) {
		if wait := remembered.pace.untilWrite(r.clock.Now(), interval); wait > 0 {
			ctrl.LoggerFrom(ctx).V(logSkipped).Info("Skipped the write of the status", "reason", "only counts changed", "wait", wait)
			return ctrl.Result{RequeueAfter: policy.Sooner(wait, plan.RequeueAfter)}, nil
		}
	}
	update := js.DeepCopy()
	update.Status = plan.Status
	if err := r.client.Status().Update(ctx, update); err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: passInterval}, nil // usually the cache lags behind our own last write
		}
		return ctrl.Result{}, fmt.Errorf("writing the status of JobSet %s: %w", klog.KObj(js), err)
	}
	shared.Wrote(ctx, "Wrote the status", whyWritten(&js.Status, plan), "epoch", ptr.Deref(plan.Status.SyncedEpoch, 0))
	remembered.pace.lastWrite = r.clock.Now()
	if plan.ClockMoved > 0 {
		remembered.assembly.moved(plan.Status.AssemblingSince, plan.ClockMoved)
	}
	for _, event := range plan.Events {
		r.tell(js, event)
	}
	r.measure(js, plan)
	if !apiequality.Semantic.DeepEqual(js.Status.SyncedEpoch, plan.Status.SyncedEpoch) {
		return result, r.tellOldNodes(ctx, js)
	}
	return result, nil
}

// refusedInterval is how far apart writes are that change only the error of JobsBlocked: each write leads to another try.
const refusedInterval = time.Minute

// reportCounts writes the counts although an action failed, so that users can follow the
// other Jobs while one cannot be created, why it cannot, and what the planner says, which may be that such a JobSet waits.
// It does not write what was decided; the next pass decides that again.
func (r *JobSetReconciler) reportCounts(ctx context.Context, js *jobset.JobSet, plan *policy.Plan, why error) error {
	update, pace := js.DeepCopy(), &r.memory.forJobSet(js).pace
	update.Status.ReplicatedJobsStatus = policy.OnlyCounts(plan.Status.ReplicatedJobsStatus, update.Status.ReplicatedJobsStatus)
	if plan.Verdict != nil {
		plan.Verdict.WriteTo(&update.Status, js, r.clock.Now())
	}
	news, interval := plan.Verdict != nil, plan.CountsInterval
	if trouble := (*refusal)(nil); errors.As(why, &trouble) {
		if apiequality.Semantic.DeepEqual(js.Status, update.Status) {
			interval = max(interval, refusedInterval)
		}
		news = policy.Refused(&update.Status, trouble.reason, trouble.Error(), r.clock.Now()) || news
	}
	if waits := !news && pace.untilWrite(r.clock.Now(), interval) > 0; waits || apiequality.Semantic.DeepEqual(js.Status, update.Status) {
		return nil // the pass is retried, and comes back here
	}
	pace.lastWrite = r.clock.Now()
	switch err := r.client.Status().Update(ctx, update); {
	case err == nil:
		shared.Wrote(ctx, "Wrote the status", "counts, although a change failed", "epoch", ptr.Deref(js.Status.SyncedEpoch, 0))
	case !apierrors.IsConflict(err):
		return fmt.Errorf("writing the counts of JobSet %s: %w", klog.KObj(js), err)
	}
	return nil
}

// onlyCounts reports whether a plan changes nothing in the status but the counts of Jobs, the
// condition WorkersNotReady, and how long the clock of the assembly stood still.
func onlyCounts(status *jobset.JobSetStatus, plan *policy.Plan) bool {
	if plan.Verdict != nil {
		return false // sizes stand among the counts, and a change of size waits for them
	}
	was, without := *status, plan.Status
	if plan.ClockMoved > 0 {
		without.AssemblingSince = was.AssemblingSince
	}
	without.ReplicatedJobsStatus = was.ReplicatedJobsStatus
	was.Conditions, without.Conditions = decided(was.Conditions), decided(without.Conditions)
	return apiequality.Semantic.DeepEqual(was, without)
}

// decided returns the conditions without WorkersNotReady, which only counts.
func decided(all []metav1.Condition) []metav1.Condition {
	return slices.DeleteFunc(slices.Clone(all), func(c metav1.Condition) bool { return c.Type == string(jobset.JobSetWorkersNotReady) })
}

// measure updates the metrics after the status was written. Deletions by force are counted when they are made.
func (r *JobSetReconciler) measure(js *jobset.JobSet, plan *policy.Plan) {
	key := client.ObjectKeyFromObject(js)
	metrics.Restarted(plan.Restart)
	metrics.TimeSpent(js.Status.Time, plan.Status.Time)
	for _, outcome := range plan.Outcomes {
		switch outcome {
		case policy.Completed:
			metrics.JobSetCompleted(key)
		case policy.Failed:
			metrics.JobSetFailed(key)
		case policy.GroupBroken:
			metrics.InPlaceRestartStarted()
		case policy.GroupLifted:
			metrics.InPlaceRestartCompleted(plan.GroupRestart)
			metrics.WorkersStarted(plan.WarmStarts)
		case policy.WasReset, policy.BecameUnhealthy, policy.AvoidsNode, policy.GaveUpNode:
			metrics.FaultTolerated(outcome)
		case policy.LostNode:
			metrics.NodeLost()
		case policy.MovedInPlace:
			metrics.Moved(metrics.InPlace)
		case policy.MovedByReset:
			metrics.Moved(metrics.ByReset)
		case policy.MoveRefused:
			metrics.Moved(metrics.Refused)
		}
	}
}

func (r *JobSetReconciler) tellInvalidEpochs(js *jobset.JobSet, pods []*facts.Member) {
	for _, pod := range pods {
		value := pod.Reported.Text
		if !r.memory.forJobSet(js).reported.changed(pod.UID, value) {
			continue
		}
		r.warn(js, constants.InvalidEpochReason, fmt.Sprintf("annotation %s of %s is %q, not a decimal number from 1 to 2147483647: it counts as not reported",
			jobset.EpochKey, pod.ReportsIn(), value))
	}
}

// tellOnce tells why something waits, and not in each pass.
func (r *JobSetReconciler) tellOnce(js *jobset.JobSet, events []policy.Event) {
	for _, event := range r.memory.forJobSet(js).reported.begins(events) {
		r.tell(js, event)
	}
}

// tellForeign tells of Jobs that are left out, by one event that names a few: whoever creates one may create thousands.
func (r *JobSetReconciler) tellForeign(js *jobset.JobSet, jobs []*batchv1.Job) {
	if len(jobs) == 0 {
		return
	}
	var names []string
	for _, job := range jobs[:min(len(jobs), maxNamed)] {
		names = append(names, job.Name)
	}
	named := strings.Join(names, ", ")
	if !r.memory.forJobSet(js).reported.changed(js.UID+"/foreign", named) {
		return
	}
	r.warn(js, constants.ForeignJobReason,
		fmt.Sprintf("Jobs that name this JobSet as their controller have neither its labels nor a name that it gives, so they are ignored and not deleted: %s (%d in all)",
			named, len(jobs)))
}

// tellReplaced tells of each Pod once, as long as this manager leads.
func (r *JobSetReconciler) tellReplaced(js *jobset.JobSet, all []policy.Replacement) {
	for _, replaced := range all {
		if !r.memory.forJobSet(js).reported.changed(replaced.Pod.UID+"/replaced", replaced.Because) {
			continue
		}
		metrics.WorkerReplaced(string(replaced.Reason))
		r.warn(js, constants.WorkerReplacedReason, fmt.Sprintf("worker pod %s on node %s cannot restart in place and is replaced: %s",
			replaced.Pod.Name, replaced.Pod.Node, replaced.Because))
	}
}

// refusal is an error of an object that could not be created or resumed.
type refusal struct {
	reason string
	error
}

func (r *refusal) Unwrap() error { return r.error }

// refused records an event about an object that cannot be created or resumed, and returns what the status says of it.
func (r *JobSetReconciler) refused(ctx context.Context, js *jobset.JobSet, reason string, trouble error) error {
	if errors.Is(trouble, shared.ErrOutOfTime) || ctx.Err() != nil {
		return trouble
	}
	r.tellTrouble(ctx, js, reason, trouble)
	return &refusal{reason, trouble}
}

// tellTrouble records an event about something that failed and is retried.
// Events about different resourceVersions of an object are different events, and the
// version changes with each write of counts. So the same trouble is always recorded about
// the version that first had it, and stays one event whose series grows. Requests that
// fail because this manager stops say nothing about the JobSet.
func (r *JobSetReconciler) tellTrouble(ctx context.Context, js *jobset.JobSet, reason string, trouble error) {
	if errors.Is(trouble, shared.ErrOutOfTime) || ctx.Err() != nil {
		return
	}
	about := *js
	about.ResourceVersion = r.memory.forJobSet(js).reported.firstVersion(reason, trouble.Error(), js.ResourceVersion)
	r.warn(&about, reason, trouble.Error())
}

func (r *JobSetReconciler) warn(js *jobset.JobSet, reason, message string) {
	r.tell(js, policy.Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message})
}

// tell records an event about the JobSet.
func (r *JobSetReconciler) tell(js *jobset.JobSet, event policy.Event) {
	r.events.Eventf(js, nil, event.Type, event.Reason, constants.EventAction, "%s", shared.Note(event.Message))
}
