/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// SetSizes writes how large each elastic ReplicatedJob is and is to be (P109). It changes together with
// what it speaks of, the counts or the epoch, so it costs no write of its own.
func SetSizes(v *view.View, statuses []jobset.ReplicatedJobStatus) {
	var built map[string]int64 // whoever asks reads every Job
	for i := range statuses {
		status := &statuses[i]
		was := status.Elastic
		status.Elastic = nil
		desired, ok := elasticSize(v, status.Name)
		if !ok {
			continue
		}
		current := status.SyncedWorkers
		if !runsByEpochs(v) || current == 0 && v.Synced > 0 { // an older manager wrote no sizes
			if built == nil {
				built = builtSizes(v)
			}
			current = int32(min(built[status.Name], math.MaxInt32))
		}
		status.Elastic = &jobset.ElasticSize{Current: current, Desired: desired, LastResizeTime: lastResize(v, was, desired)}
		if was != nil {
			status.Elastic.Ceiling, status.Elastic.Limit = was.Ceiling, was.Limit // see PlannedSizes
		}
	}
}

// lastResize returns when the size that the spec asks for last changed, nil if it never has. It is in the status, which
// users do not write: who could write this time could keep a size from being planned, for as long as they want (P107).
func lastResize(v *view.View, was *jobset.ElasticSize, desired int32) *metav1.Time {
	switch {
	case was == nil:
		return nil
	case was.Desired != desired:
		return ptr.To(metav1.NewTime(v.Now))
	}
	return was.LastResizeTime
}

// elasticSize returns the size that the spec gives an elastic ReplicatedJob.
func elasticSize(v *view.View, name string) (workers int32, ok bool) {
	rjob := v.Observed.ByName[name]
	if !v.Gates.ElasticJobSet || rjob == nil || rjob.Spec.Elastic == nil {
		return 0, false
	}
	return elasticWorkers(rjob.Spec)
}

// runsByEpochs reports whether a new size takes effect with the next epoch. Otherwise it does with the change of the Job.
func runsByEpochs(v *view.View) bool { return v.InPlace && !pass.Bypassed(v.JobSet) }

// Resizing keeps the condition that says that a group does not run with the size that it is to have.
// One that has never run is not resized, but waits for its first epoch.
func Resizing(v *view.View, before pass.Result) pass.Result {
	change := resize(v, &before)
	if lifts := before.Changes.Any(pass.LiftBarrier); change != "" && !lifts {
		return pass.Tell(pass.Silently(jobset.JobSetElasticResizing, metav1.ConditionTrue, constants.ElasticResizedReason, change))
	}
	since := v.TrueCondition(jobset.JobSetElasticResizing)
	if since == nil {
		return pass.Result{}
	}
	if change == "" { // it ended, or the size is again what it was
		n := pass.BecomesFalse(jobset.JobSetElasticResizing, constants.ElasticResizeCompletedReason, "the size no longer changes")
		n.Event = pass.Event{}
		return pass.Tell(n)
	}
	took := max(0, v.Now.Sub(since.LastTransitionTime.Time)).Round(time.Second)
	n := pass.BecomesFalse(jobset.JobSetElasticResizing, constants.ElasticResizeCompletedReason,
		fmt.Sprintf("%s, at epoch %d, after %s", change, v.Synced+1, took))
	n.Event.Type = corev1.EventTypeNormal
	return pass.Tell(n)
}

// resize says which ReplicatedJobs have not the size that they are to have, "" if none.
func resize(v *view.View, before *pass.Result) string {
	if !runsByEpochs(v) || v.Synced == 0 || v.Terminal(before) {
		return ""
	}
	return strings.Join(SizeChanges(v), ", ")
}

// SizeChanges says which ReplicatedJobs are to have another size than in the epoch that was lifted last.
func SizeChanges(v *view.View) []string {
	var changes []string
	synced := v.SyncedWorkers()
	for i := range v.JobSet.Spec.ReplicatedJobs {
		name := v.JobSet.Spec.ReplicatedJobs[i].Name
		desired, ok := elasticSize(v, name)
		current := synced[name]
		if ok && current > 0 && current != desired {
			changes = append(changes, fmt.Sprintf("ReplicatedJob %s from %d to %d Pods", name, current, desired))
		}
	}
	return changes
}

// PlannedSizes brings what the planner says into the status. Without a verdict, as after a start of the manager, it stays as
// it is.
func PlannedSizes(v *view.View, _ pass.Result) pass.Result {
	if v.Verdict == nil || v.Verdict.About != pass.SubjectOf(v.JobSet) {
		return pass.Result{}
	}
	return pass.Result{Verdict: v.Verdict}
}
