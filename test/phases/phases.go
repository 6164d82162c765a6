/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package phases says how long the parts of a restart took, from what the API showed of a JobSet and its Pods and from when
// its workers started. The end-to-end tests measure by it. It is pure.
package phases

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Restart is one restart of a group, from the moment a worker failed. The ends of Break, Back and Lift are when they were seen in
// the API.
type Restart struct {
	// Break: from the failure until the group is told to restart.
	Break time.Duration
	// Back: until the last agent has reported. Without agents: until the last new Pod has its node.
	Back time.Duration
	// Lift: until the workers may start. Without agents there is no such moment.
	Lift time.Duration
	// Run: until the last worker has started.
	Run time.Duration
}

// Total is from the failure to the last worker's start.
func (r Restart) Total() time.Duration { return r.Break + r.Back + r.Lift + r.Run }

// View is one change as it was seen: of the JobSet, or of a Pod.
type View struct {
	At time.Time
	// Written is when the API server stored the status of a JobSet, cut to the second; zero if nothing tells.
	Written time.Time
	JobSet  *jobset.JobSet
	Pod     *corev1.Pod
	Gone    bool
}

// Views are all that was seen, in order.
type Views []View

// First returns the first view that is like this; the zero View if none is.
func (vs Views) First(like func(View) bool) View {
	for _, v := range vs {
		if like(v) {
			return v
		}
	}
	return View{}
}

// Breaks reports whether a view shows that the group of an epoch is told to restart.
func Breaks(epoch int32) func(View) bool {
	return func(v View) bool { return v.JobSet != nil && ptr.Deref(v.JobSet.Status.DeprecatedEpoch, 0) >= epoch }
}

// Lifts reports whether a view shows that the workers of an epoch may start.
func Lifts(epoch int32) func(View) bool {
	return func(v View) bool { return v.JobSet != nil && ptr.Deref(v.JobSet.Status.SyncedEpoch, 0) >= epoch }
}

// StartsOver reports whether a view shows that all Jobs are recreated for the nth time.
func StartsOver(n int32) func(View) bool {
	return func(v View) bool { return v.JobSet != nil && v.JobSet.Status.Restarts >= n }
}

// Reported reports whether the last of this many workers has reported an epoch. It counts over the views that it is shown.
func Reported(workers int, epoch int32) func(View) bool {
	reported := map[types.UID]bool{}
	return func(v View) bool {
		if v.Pod != nil && v.Pod.Annotations[jobset.EpochKey] == strconv.Itoa(int(epoch)) {
			reported[v.Pod.UID] = true
		}
		return len(reported) >= workers
	}
}

// Placed reports whether the last of these Pods has a node. It counts over the views that it is shown.
func Placed(pods []*corev1.Pod) func(View) bool {
	wanted := map[types.UID]bool{}
	for _, pod := range pods {
		wanted[pod.UID] = true
	}
	return func(v View) bool {
		if v.Pod != nil && v.Pod.Spec.NodeName != "" {
			delete(wanted, v.Pod.UID)
		}
		return len(wanted) == 0
	}
}

// InPlace measures the restart by which this many workers came to an epoch.
func (vs Views) InPlace(failed time.Time, workers int, epoch int32, started time.Time) Restart {
	broke := vs.First(Breaks(epoch - 1)).At
	lifted := vs.First(Lifts(epoch)).At
	back := vs.First(Reported(workers, epoch)).At
	if back.IsZero() || back.After(lifted) {
		back = lifted // Pods and JobSets come by two watches
	}
	return Restart{Break: broke.Sub(failed), Back: back.Sub(broke), Lift: lifted.Sub(back), Run: started.Sub(lifted)}
}

// Recreate measures the nth restart of all Jobs, which led to these Pods.
func (vs Views) Recreate(failed time.Time, pods []*corev1.Pod, n int32, started time.Time) Restart {
	broke := vs.First(StartsOver(n)).At
	back := vs.First(Placed(pods)).At
	return Restart{Break: broke.Sub(failed), Back: back.Sub(broke), Run: started.Sub(back)}
}

// Spread returns the least, the median and the highest of some values, of which there is at least one.
func Spread(values []time.Duration) (least, median, most time.Duration) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return sorted[0], (sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[n-1]
}
