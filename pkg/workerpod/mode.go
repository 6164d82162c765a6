/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// ModeOf returns what starts again in the Pods of a JobSet. JobSets of older
// versions name no mode, and their containers restart (P59).
func ModeOf(policy *jobset.FailurePolicy) jobset.InPlaceRestartMode {
	return cmp.Or(inPlaceOf(policy).Mode, jobset.ContainerMode)
}

// inPlaceOf returns what a failure policy says about restarts in place; the zero value if it says nothing.
func inPlaceOf(policy *jobset.FailurePolicy) jobset.InPlaceRestartPolicy {
	if policy == nil || policy.InPlaceRestart == nil {
		return jobset.InPlaceRestartPolicy{}
	}
	return *policy.InPlaceRestart
}

// ProgressOf returns the deadlines that a failure policy names, nil if it names none.
func ProgressOf(policy *jobset.FailurePolicy) *jobset.ProgressPolicy {
	if policy == nil || policy.InPlaceRestart == nil {
		return nil
	}
	return policy.InPlaceRestart.Progress
}

// DefaultMode is the mode of a new JobSet whose author names none: Process where it is possible,
// else Container, and why (P60).
func DefaultMode(js *jobset.JobSet) (jobset.InPlaceRestartMode, []Obstacle) {
	if obstacles := append(Obstacles(js), FirstProcesses(js)...); len(obstacles) > 0 {
		return jobset.ContainerMode, obstacles
	}
	return jobset.ProcessMode, nil
}
