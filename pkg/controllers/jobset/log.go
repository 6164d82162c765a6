/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Levels of the log beside that of writes, see shared.Wrote.
const (
	// logSteps: each step of a decision that added something or ended the pass.
	logSteps = 4
	// logSkipped: passes that were not made, and steps that added nothing.
	logSkipped = 5
)

// skipped logs a pass that is not made.
func skipped(ctx context.Context, reason string, keysAndValues ...any) {
	ctrl.LoggerFrom(ctx).V(logSkipped).Info("Skipped the pass", append(keysAndValues, "reason", reason)...)
}

// logDecision logs what the steps of a decision added.
func logDecision(ctx context.Context, js *jobset.JobSet, plan *policy.Plan) {
	log := ctrl.LoggerFrom(ctx).WithValues("resourceVersion", js.ResourceVersion)
	for _, step := range plan.Steps {
		level := logSteps
		if len(step.Added) == 0 && !step.Ended {
			level = logSkipped
		}
		log.V(level).Info("Step", "step", step.Name, "added", step.Added, "ended", step.Ended)
	}
}

// whyDeleted says why a plan deletes a Job.
func whyDeleted(plan *policy.Plan, op *policy.Op) string {
	switch {
	case op.Because != nil:
		return op.Because.Reason
	case plan.Status.TerminalState != "":
		return "the JobSet is " + plan.Status.TerminalState
	default:
		return "belongs to an earlier attempt"
	}
}

// whyWritten says what a plan changes in the status: the events that announce it, epochs and counters, or only counts.
func whyWritten(was *jobset.JobSetStatus, plan *policy.Plan) string {
	var why []string
	for _, event := range plan.Events {
		why = append(why, event.Reason)
	}
	for _, counter := range []struct {
		name    string
		old, is int32
	}{
		{"deprecatedEpoch", ptr.Deref(was.DeprecatedEpoch, 0), ptr.Deref(plan.Status.DeprecatedEpoch, 0)},
		{"syncedEpoch", ptr.Deref(was.SyncedEpoch, 0), ptr.Deref(plan.Status.SyncedEpoch, 0)},
		{"restarts", was.Restarts, plan.Status.Restarts},
		{"restartsCountTowardsMax", was.RestartsCountTowardsMax, plan.Status.RestartsCountTowardsMax},
		{"inPlaceRestarts", was.InPlaceRestarts, plan.Status.InPlaceRestarts},
	} {
		if counter.old != counter.is {
			why = append(why, fmt.Sprintf("%s from %d to %d", counter.name, counter.old, counter.is))
		}
	}
	if plan.Verdict != nil {
		why = append(why, "sizes")
	}
	switch {
	case len(why) > 0:
		return strings.Join(why, ", ")
	case onlyCounts(was, plan):
		return "counts"
	default:
		return "conditions"
	}
}
