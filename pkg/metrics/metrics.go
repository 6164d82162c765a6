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
)

// The labels of these two are what dashboards know. Their series stay when a JobSet is deleted:
// a counter that vanishes takes along what nobody has scraped yet, and makes sums go down. A
// series costs less than a kilobyte, and all go with the process.
var (
	failedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jobset_failed_total",
		Help: "The total number of failed JobSets",
	}, []string{"jobset_name", "namespace"})

	completedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jobset_completed_total",
		Help: "The total number of completed JobSets",
	}, []string{"jobset_name", "namespace"})

	// The metrics below carry no name of a JobSet: a label with unbounded values makes a
	// series per JobSet that ever lived.

	restartsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jobset_restarts_total",
		Help: "The total number of restarts, by the action of the failure policy that asked for them",
	}, []string{"action"})

	inPlaceRestartsTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "jobset_in_place_restarts_total",
		Help: "The total number of group restarts that were started in place",
	})

	inPlaceRestartDuration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "jobset_in_place_restart_duration_seconds",
		Help:    "The time from the start of an in-place restart until the workers may start again",
		Buckets: []float64{0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600},
	})
)

func init() {
	for _, action := range restartActions {
		restartsTotal.WithLabelValues(string(action)) // so that the first restart is an increase
	}
	metrics.Registry.MustRegister(failedTotal, completedTotal, restartsTotal, inPlaceRestartsTotal, inPlaceRestartDuration, jobSetCollector)
}

// JobSetFailed counts a JobSet that has failed.
func JobSetFailed(jobSet types.NamespacedName) {
	failedTotal.WithLabelValues(jobSet.Name, jobSet.Namespace).Inc()
}

// JobSetCompleted counts a JobSet that has completed.
func JobSetCompleted(jobSet types.NamespacedName) {
	completedTotal.WithLabelValues(jobSet.Name, jobSet.Namespace).Inc()
}

// restartActions are the actions of failure policies that restart something.
var restartActions = []jobset.FailurePolicyAction{
	jobset.RestartJobSet, jobset.RestartJobSetAndIgnoreMaxRestarts, jobset.RestartJob, jobset.RestartJobAndIgnoreMaxRestarts,
}

// Restarted counts a restart that an action asked for: one of all Jobs for the
// actions that restart the JobSet, one of a single Job for the others. No policy means
// RestartJobSet. What is no restart is not counted, so the label has four values at most.
func Restarted(action jobset.FailurePolicyAction) {
	if slices.Contains(restartActions, action) {
		restartsTotal.WithLabelValues(string(action)).Inc()
	}
}

// InPlaceRestartStarted counts a group restart in place, when it starts.
func InPlaceRestartStarted() {
	inPlaceRestartsTotal.Inc()
}

// InPlaceRestartCompleted records how long a group restart in place took.
func InPlaceRestartCompleted(took time.Duration) {
	inPlaceRestartDuration.Observe(took.Seconds())
}
