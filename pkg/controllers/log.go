/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Levels of the log. Objects have the same keys everywhere, in the webhooks and the agent as well: jobSet, job, pod,
// node, epoch; why something was done is the key "reason".
const (
	// logWrites: each write to the API server.
	logWrites = 2
	// logSteps: each step of a decision that added something or ended the pass.
	logSteps = 4
	// logSkipped: passes that were not made, and steps that added nothing.
	logSkipped = 5
)

// passLogger returns the logger of the passes of a controller. Without it controller-runtime uses the kind as the key.
func passLogger[R any](log logr.Logger, controller, key string, name func(*R) types.NamespacedName) func(*R) logr.Logger {
	log = log.WithValues("controller", controller)
	return func(request *R) logr.Logger {
		if request == nil {
			return log
		}
		object := name(request)
		return log.WithValues(key, klog.KRef(object.Namespace, object.Name))
	}
}

// wrote logs a write that succeeded, and why it was made.
func wrote(ctx context.Context, what, reason string, keysAndValues ...any) {
	ctrl.LoggerFrom(ctx).V(logWrites).Info(what, append(keysAndValues, "reason", reason)...)
}

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

// whyDeleted says why a plan deletes Jobs.
func whyDeleted(plan *policy.Plan) string {
	switch {
	case plan.TellDeleted != nil:
		return plan.TellDeleted.Reason
	case plan.Status.TerminalState != "":
		return "the JobSet is " + plan.Status.TerminalState
	default:
		return "belongs to an earlier attempt"
	}
}

// whyCreated says of which attempt a Job is.
func whyCreated(job *batchv1.Job) string {
	return "missing in attempt " + job.Labels[constants.RestartsKey]
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
	switch {
	case len(why) > 0:
		return strings.Join(why, ", ")
	case onlyCounts(was, plan):
		return "counts"
	default:
		return "conditions"
	}
}
