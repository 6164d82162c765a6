/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// byIntent reports whether the group assembles because somebody wants it to be another one, and not because something
// failed (P101a). A first start is not one: nothing ran before that it could keep.
func byIntent(v *view.View) bool {
	c := v.TrueCondition(jobset.JobSetRestarting)
	failed := c != nil && c.Reason != constants.MovedOffNodesReason
	return v.Synced > 0 && !failed
}

// SavesFirst says how long the workers of a planned break have, "" if they have no time of their own.
func SavesFirst(v *view.View) string {
	if seconds := workerpod.PlannedStopSeconds(v.JobSet.Spec.FailurePolicy); seconds > 0 {
		return fmt.Sprintf("; planned: workers have %d s to save their state", seconds)
	}
	return ""
}

// plannedLift announces the end of a planned restart, which no condition tells of. The ledger was written with its break.
func plannedLift(v *view.View) pass.Result {
	if !v.JobSet.Status.PlannedBreak || v.JobSet.Status.Time == nil || v.IsTrue(jobset.JobSetRestarting) {
		return pass.Result{}
	}
	return pass.Tell(pass.Normal(constants.InPlaceRestartCompletedReason, completed(v, max(0, v.Now.Sub(v.JobSet.Status.Time.At.Time)))))
}

// completed says how a group came back.
func completed(v *view.View, took time.Duration) string {
	return fmt.Sprintf("%d workers restarted in place: epoch %d, %.1f seconds", v.Group.Size, v.Synced+1, took.Seconds())
}
