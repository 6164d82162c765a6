/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// byIntent reports whether the group assembles because somebody wants it to be another one, and not because something
// failed (P101a). A first start is not one: nothing ran before that it could keep.
func (v *view) byIntent() bool {
	c := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(jobset.JobSetRestarting))
	failed := c != nil && c.Status == metav1.ConditionTrue && c.Reason != constants.MovedOffNodesReason
	return v.synced > 0 && !failed
}

// changesAsPlanned reports whether the group has to stop only to become another one, by another size of its Jobs or by
// Jobs that join it, so that its workers may save their state (P142). They may not if one of them has failed, which the
// others may wait for in vain, or if somebody deleted a Job of the epoch that runs.
func (v *view) changesAsPlanned(plan *Plan) bool {
	if !v.watched || v.failureComesFirst() || plan.Unresumed > 0 || len(plan.DeleteJobs)+len(plan.SuspendJobs)+len(plan.ResumeJobs) > 0 {
		return false
	}
	ran := map[string]bool{}
	for i := range v.JobSet.Status.ReplicatedJobsStatus {
		ran[v.JobSet.Status.ReplicatedJobsStatus[i].Name] = v.JobSet.Status.ReplicatedJobsStatus[i].SyncedWorkers > 0
	}
	return !slices.ContainsFunc(plan.CreateJobs, func(batch []*batchv1.Job) bool { return ran[replicatedJobOf(batch[0])] })
}

// whyItWaits says who keeps a change by intent from coming together.
func (v *view) whyItWaits() string {
	message := fmt.Sprintf("%s: %s. No worker failed before, so this is not charged and the group waits",
		v.notReportedWithin(v.lastDeadline()), v.whoIsMissing())
	if changes := v.sizeChanges(); len(changes) > 0 {
		message += fmt.Sprintf("; it was resized (%s) and runs again if it gets its earlier size back", strings.Join(changes, ", "))
	}
	return message
}
