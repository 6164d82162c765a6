/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package metrics holds the metrics that JobSet adds to those of controller-runtime.
// Callers tell it outcomes once they are persisted, so a retried pass counts once.
package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

var (
	failedTotal    = newPerJobSet("jobset_failed_total", "The total number of failed JobSets")
	completedTotal = newPerJobSet("jobset_completed_total", "The total number of completed JobSets")

	// The metrics below have no label for the JobSet: a label with unbounded values makes a
	// series for every JobSet that ever existed.

	restartsTotal = newCounters("jobset_restarts_total", "The total number of restarts that recreate Jobs, by the action of the failure policy that asked for them",
		"action", policy.RestartActions...)

	inPlaceRestartsTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "jobset_in_place_restarts_total",
		Help: "The total number of group restarts in place, counted when they start",
	})

	inPlaceRestartDuration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "jobset_in_place_restart_duration_seconds",
		Help:    "The time from the start of an in-place restart until the workers may start again",
		Buckets: []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600},
	})

	startedWorkersTotal = newCounters("jobset_in_place_worker_starts_total",
		"The total number of starts of workers with warm start, by whether a standby was let through (warm) or a new process started (cold), counted when the group restarts next",
		"start", warmStart, coldStart)

	replacedWorkersTotal = newCounters("jobset_replaced_workers_total",
		"The total number of worker Pods that could not restart in place and asked to be replaced, by reason", "reason", replacedReasons...)

	faultToleranceTotal = newCounters("jobset_fault_tolerance_steps_total",
		"The total number of steps taken because of spec.faultTolerance: JobSets that became unhealthy, resets, passes that deleted something by force, "+
			"and nodes that a JobSet avoids from then on, or uses again because its Pods find no other", "step", toleranceSteps...)

	lostNodesTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "jobset_lost_nodes_total",
		Help: "The total number of nodes, counted for each JobSet, whose workers were replaced by force because the node was silent (lostNode)",
	})

	movesTotal = newCounters("jobset_moves_total",
		"The total number of times Pods had to be moved off nodes with a label of effect NoExecute, by result: in place, by a reset of all Jobs, "+
			"or refused because maxRestarts is used up", "result", InPlace, ByReset, Refused)

	timeTotal = newCounters("jobset_time_seconds_total",
		"The seconds of groups that restart in place, by what they were spent on, added up when a phase of a group ends: running, assembling and paused; starting is a part of running",
		"phase", runningPhase, assemblingPhase, startingPhase, pausedPhase)
)

// newCounters returns a counter for each value of a label. All exist from the start, so that the first count is an increase.
func newCounters[T ~string](name, help, label string, values ...T) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	for _, value := range values {
		vec.WithLabelValues(string(value))
	}
	return vec
}

// MoveResult is what came of a move.
type MoveResult string

// Results of moves.
const (
	InPlace MoveResult = "InPlace"
	ByReset MoveResult = "Reset"
	Refused MoveResult = "Refused"
)

func init() {
	metrics.Registry.MustRegister(timeTotal, startedWorkersTotal, failedTotal, completedTotal, restartsTotal, inPlaceRestartsTotal, inPlaceRestartDuration,
		replacedWorkersTotal, faultToleranceTotal, lostNodesTotal, movesTotal, jobSetCollector)
}

// JobSetFailed counts a JobSet that has failed.
func JobSetFailed(jobSet types.NamespacedName) {
	failedTotal.count(jobSet)
}

// JobSetCompleted counts a JobSet that has completed.
func JobSetCompleted(jobSet types.NamespacedName) {
	completedTotal.count(jobSet)
}

// replacedReasons are why a worker Pod may have to be replaced.
var replacedReasons = []string{
	string(protocol.ProcessStuck), string(protocol.ContainerDone), string(protocol.ContainerLost), unknownReason,
}

// unknownReason is that of a Pod whose agent did not say it.
const unknownReason = "Unknown"

// Restarted counts a restart that an action asked for: one of all Jobs for the
// actions that restart the JobSet, one of a single Job for the others. No policy means
// RestartJobSet. Other actions are not counted, so the label has at most four values.
func Restarted(action jobset.FailurePolicyAction) {
	if slices.Contains(policy.RestartActions, action) {
		restartsTotal.WithLabelValues(string(action)).Inc()
	}
}

// InPlaceRestartStarted counts a group restart in place, when it starts.
func InPlaceRestartStarted() {
	inPlaceRestartsTotal.Inc()
}

// WorkerReplaced counts a worker Pod that could not restart in place. The reason comes from an annotation, which
// anybody who may patch Pods can write.
func WorkerReplaced(reason string) {
	if !slices.Contains(replacedReasons, reason) {
		reason = unknownReason
	}
	replacedWorkersTotal.WithLabelValues(reason).Inc()
}

// NodeLost counts a node from which the workers of a JobSet are replaced by force.
func NodeLost() { lostNodesTotal.Inc() }

// Moved counts that Pods had to be moved off their nodes.
func Moved(result MoveResult) {
	movesTotal.WithLabelValues(string(result)).Inc()
}

// InPlaceRestartCompleted records how long a group restart in place took.
func InPlaceRestartCompleted(took time.Duration) {
	inPlaceRestartDuration.Observe(took.Seconds())
}

// How a worker started.
const (
	warmStart = "warm"
	coldStart = "cold"
)

// WorkersStarted counts how the workers of an epoch had been started, where warm start is on (P165).
func WorkersStarted(starts policy.WarmStarts) {
	startedWorkersTotal.WithLabelValues(warmStart).Add(float64(starts.Warm))
	startedWorkersTotal.WithLabelValues(coldStart).Add(float64(starts.Cold))
}

// toleranceSteps are the outcomes that FaultTolerated counts.
var toleranceSteps = []policy.Outcome{policy.BecameUnhealthy, policy.WasReset, policy.DeletedByForce, policy.AvoidsNode, policy.GaveUpNode}

// FaultTolerated counts a step that was taken because of spec.faultTolerance.
func FaultTolerated(step policy.Outcome) {
	if slices.Contains(toleranceSteps, step) {
		faultToleranceTotal.WithLabelValues(string(step)).Inc()
	}
}
