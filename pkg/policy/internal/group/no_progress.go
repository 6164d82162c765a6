/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"math"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Restarts that lead nowhere (P136). A group that fails at the same step again and again uses up maxRestarts, hours
// after it could have been known. At each lift all workers have told how far the epoch before came:
//
//	a higher step than ever        highestStep, and the count is 0
//	no higher one, and a failure   the count is one more; at maxRestartsWithoutProgress the JobSet fails
//	no step, or no failure         nothing: a crash before the first step, a move, a resize, a Pod that was taken away (P71b)
//
// A charged break raised status.inPlaceRestarts since the lift before, and status.progress.inPlaceRestarts with it if nothing
// failed, so a new leader knows it too.

// judgeProgress returns what status.progress becomes with the next lift, and the message of the failure that takes its
// place, "" if there is none.
func judgeProgress(v *view.View) (kept *pass.KeptProgress, failure string) {
	limit := maxWithoutProgress(v.JobSet)
	switch {
	case limit <= 0 && v.JobSet.Status.Progress == nil:
		return nil, ""
	case limit <= 0:
		return &pass.KeptProgress{}, ""
	}
	epoch := endedReports(v)
	next := progressAfter(v.JobSet.Status.Progress, epoch, v.JobSet.Status.InPlaceRestarts)
	if next != nil && next.RestartsWithoutProgress >= limit {
		failure = fmt.Sprintf("%s: %d group restarts in a row did not lead past step %d, which is what maxRestartsWithoutProgress allows; the last epoch had steps %d to %d",
			constants.NoProgressMessage, next.RestartsWithoutProgress, next.HighestStep, epoch.first, epoch.highest)
	}
	return &pass.KeptProgress{ProgressStatus: next}, failure
}

func maxWithoutProgress(js *jobset.JobSet) int32 {
	if progress := workerpod.ProgressOf(js.Spec.FailurePolicy); progress != nil {
		return ptr.Deref(progress.MaxRestartsWithoutProgress, 0)
	}
	return 0
}

// progressAfter returns how far the workers have come with an epoch that ended, by a failure if the count of restarts
// has grown. It stays nil until one tells a step.
func progressAfter(was *jobset.ProgressStatus, epoch epochReport, inPlaceRestarts int32) *jobset.ProgressStatus {
	if was == nil {
		if !epoch.steps {
			return nil
		}
		return &jobset.ProgressStatus{HighestStep: epoch.highest, InPlaceRestarts: inPlaceRestarts}
	}
	next := *was
	next.InPlaceRestarts = inPlaceRestarts
	switch {
	case !epoch.steps:
	case epoch.highest > was.HighestStep:
		next.HighestStep, next.RestartsWithoutProgress = epoch.highest, 0
	case inPlaceRestarts > was.InPlaceRestarts && was.RestartsWithoutProgress < math.MaxInt32:
		next.RestartsWithoutProgress++
	}
	return &next
}
