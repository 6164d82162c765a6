/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

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
)

// setElastic writes how large each elastic ReplicatedJob is and is to be (P109). It changes together with
// what it speaks of, the counts or the epoch, so it costs no write of its own.
func (v *view) setElastic(statuses []jobset.ReplicatedJobStatus) {
	var built map[string]int64 // whoever asks reads every Job
	for i := range statuses {
		status := &statuses[i]
		was := status.Elastic
		status.Elastic = nil
		desired, ok := v.elasticSize(status.Name)
		if !ok {
			continue
		}
		current := status.SyncedWorkers
		if !v.runsByEpochs() || current == 0 && v.synced > 0 { // an older manager wrote no sizes
			if built == nil {
				built = v.builtSizes()
			}
			current = int32(min(built[status.Name], math.MaxInt32))
		}
		status.Elastic = &jobset.ElasticSize{Current: current, Desired: desired, LastResizeTime: v.lastResize(was, desired)}
		if was != nil {
			status.Elastic.Ceiling, status.Elastic.Limit = was.Ceiling, was.Limit // see plannedSizes
		}
	}
}

// lastResize returns when the size that the spec asks for last changed, nil if it never has. It is in the status, which
// users do not write: who could write this time could keep a size from being planned, for as long as they want (P107).
func (v *view) lastResize(was *jobset.ElasticSize, desired int32) *metav1.Time {
	switch {
	case was == nil:
		return nil
	case was.Desired != desired:
		return ptr.To(metav1.NewTime(v.Now))
	}
	return was.LastResizeTime
}

// elasticSize returns the size that the spec gives an elastic ReplicatedJob.
func (v *view) elasticSize(name string) (workers int32, ok bool) {
	rjob := v.observed.byName[name]
	if !v.Gates.ElasticJobSet || rjob == nil || rjob.spec.Elastic == nil {
		return 0, false
	}
	return elasticWorkers(rjob.spec)
}

// runsByEpochs reports whether a new size takes effect with the next epoch. Otherwise it does with the change of the Job.
func (v *view) runsByEpochs() bool { return v.inPlace && !Bypassed(v.JobSet) }

// resizing keeps the condition that says that a group does not run with the size that it is to have.
// One that has never run is not resized, but waits for its first epoch.
func resizing(v *view, before result) result {
	change := v.resize(&before)
	if lifts := before.changes.any(liftBarrier); change != "" && !lifts {
		return tell(silently(jobset.JobSetElasticResizing, metav1.ConditionTrue, constants.ElasticResizedReason, change))
	}
	since := v.trueCondition(jobset.JobSetElasticResizing)
	if since == nil {
		return result{}
	}
	if change == "" { // it ended, or the size is again what it was
		n := becomesFalse(jobset.JobSetElasticResizing, constants.ElasticResizeCompletedReason, "the size no longer changes")
		n.event = Event{}
		return tell(n)
	}
	took := max(0, v.Now.Sub(since.LastTransitionTime.Time)).Round(time.Second)
	n := becomesFalse(jobset.JobSetElasticResizing, constants.ElasticResizeCompletedReason,
		fmt.Sprintf("%s, at epoch %d, after %s", change, v.synced+1, took))
	n.event.Type = corev1.EventTypeNormal
	return tell(n)
}

// resize says which ReplicatedJobs have not the size that they are to have, "" if none.
func (v *view) resize(before *result) string {
	if !v.runsByEpochs() || v.synced == 0 || before.terminal(v) {
		return ""
	}
	return strings.Join(v.sizeChanges(), ", ")
}

// sizeChanges says which ReplicatedJobs are to have another size than in the epoch that was lifted last.
func (v *view) sizeChanges() []string {
	var changes []string
	synced := v.syncedWorkers()
	for i := range v.JobSet.Spec.ReplicatedJobs {
		name := v.JobSet.Spec.ReplicatedJobs[i].Name
		desired, ok := v.elasticSize(name)
		current := synced[name]
		if ok && current > 0 && current != desired {
			changes = append(changes, fmt.Sprintf("ReplicatedJob %s from %d to %d Pods", name, current, desired))
		}
	}
	return changes
}

// plannedSizes brings what the planner says into the status. Without a verdict, as after a start of the manager, it stays as
// it is.
func plannedSizes(v *view, _ result) result {
	if v.Verdict == nil || v.Verdict.About != subjectOf(v.JobSet) {
		return result{}
	}
	return result{verdict: v.Verdict}
}
