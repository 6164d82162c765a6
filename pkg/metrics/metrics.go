/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package metrics holds the metrics that JobSet adds to those of controller-runtime.
// Callers tell it outcomes once they are persisted, so a retried pass counts once.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	failedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jobset_failed_total",
		Help: "The total number of failed JobSets",
	}, []string{"jobset_name", "namespace"})

	completedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jobset_completed_total",
		Help: "The total number of completed JobSets",
	}, []string{"jobset_name", "namespace"})

	// The metrics of in-place restart carry no name of a JobSet: a label with unbounded
	// values makes a series per JobSet that ever lived.

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
	metrics.Registry.MustRegister(failedTotal, completedTotal, inPlaceRestartsTotal, inPlaceRestartDuration)
}

// JobSetFailed counts a JobSet that has failed.
func JobSetFailed(jobSet types.NamespacedName) {
	failedTotal.WithLabelValues(jobSet.Name, jobSet.Namespace).Inc()
}

// JobSetCompleted counts a JobSet that has completed.
func JobSetCompleted(jobSet types.NamespacedName) {
	completedTotal.WithLabelValues(jobSet.Name, jobSet.Namespace).Inc()
}

// InPlaceRestartStarted counts a group restart in place, when it starts.
func InPlaceRestartStarted() {
	inPlaceRestartsTotal.Inc()
}

// InPlaceRestartCompleted records how long a group restart in place took.
func InPlaceRestartCompleted(took time.Duration) {
	inPlaceRestartDuration.Observe(took.Seconds())
}
