/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package gates is the form in which decisions take feature gates: a value.
package gates

// Set says which optional features are on. The zero value is all off.
type Set struct {
	// InPlaceRestart allows failurePolicy.restartStrategy InPlaceRestart.
	InPlaceRestart bool
	// RestartJob allows the failure policy actions RestartJob and RestartJobAndIgnoreMaxRestarts.
	RestartJob bool
	// ElasticJobSet allows parallelism and completions of a live JobSet to change.
	ElasticJobSet bool
	// FaultTolerance allows spec.faultTolerance.
	FaultTolerance bool
	// ElasticAutoscaling lets the manager change the sizes of elastic ReplicatedJobs.
	ElasticAutoscaling bool
	// ExecutionAttemptsTracking counts executions in status.executionAttempts.
	ExecutionAttemptsTracking bool
	// MutablePodResourcesForSuspendedJobSets allows requests and limits to change while suspended.
	MutablePodResourcesForSuspendedJobSets bool
	// JobSetActiveDeadlineSeconds allows spec.activeDeadlineSeconds.
	JobSetActiveDeadlineSeconds bool
}
