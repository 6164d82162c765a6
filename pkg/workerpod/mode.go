/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"cmp"
	"math"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
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

// lostNodeMargin is how long a worker may take from its stall to its end, without the time for a dump: its kill, and the notice of it.
const lostNodeMargin = 15

// NamesLostNode reports whether a failure policy says when lost workers are replaced.
func NamesLostNode(policy *jobset.FailurePolicy) bool { return inPlaceOf(policy).LostNode != nil }

// LostNodeSeconds returns how long after a break a worker on a silent node is replaced by force (P171), 0 if it is not.
func LostNodeSeconds(policy *jobset.FailurePolicy) int32 {
	lost := inPlaceOf(policy).LostNode
	if lost == nil {
		return 0
	}
	return ptr.Deref(lost.ReplaceAfterSeconds, StoppedAfterSeconds(policy))
}

// StoppedAfterSeconds returns after how long a worker that is cut off from its peers has stopped, 0 if nothing stops it.
func StoppedAfterSeconds(policy *jobset.FailurePolicy) int32 {
	limits := ProgressOf(policy)
	if limits == nil || ptr.Deref(limits.StallSeconds, 0) == 0 {
		return 0
	}
	stopped := int64(*limits.StallSeconds) + int64(DumpSeconds(policy)) + lostNodeMargin
	return int32(min(stopped, math.MaxInt32)) // else a very long time would be none
}

// DumpSeconds returns how long a worker that hangs has to write its stacks, 0 if it is not told to (P134).
func DumpSeconds(policy *jobset.FailurePolicy) int32 {
	limits := ProgressOf(policy)
	if limits == nil || limits.DumpSignal == "" {
		return 0
	}
	return ptr.Deref(limits.DumpSeconds, protocol.DefaultDumpSeconds)
}

// DefaultMode is the mode of a new JobSet whose author names none: Process where it is possible,
// else Container, and why (P60).
func DefaultMode(js *jobset.JobSet) (jobset.InPlaceRestartMode, []Obstacle) {
	if obstacles := append(Obstacles(js), FirstProcesses(js)...); len(obstacles) > 0 {
		return jobset.ContainerMode, obstacles
	}
	return jobset.ProcessMode, nil
}
