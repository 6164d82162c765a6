/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"time"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// What the time of a group went to, as status.time has it. The first, second and fourth add up to all of it.
const (
	runningPhase    = "running"
	assemblingPhase = "assembling"
	startingPhase   = "starting"
	pausedPhase     = "paused"
)

// TimeSpent counts what a write of the status added to its ledger. Users may edit a status, and a ledger that is lost starts
// again from 0: what became less counts for nothing, since a counter does not fall.
func TimeSpent(before, after *jobset.TimeStatus) {
	was, is := ptr.Deref(before, jobset.TimeStatus{}), ptr.Deref(after, jobset.TimeStatus{})
	for phase, spent := range map[string]time.Duration{
		runningPhase:    is.Running.Duration - was.Running.Duration,
		assemblingPhase: is.Assembling.Duration - was.Assembling.Duration,
		startingPhase:   is.Starting.Duration - was.Starting.Duration,
		pausedPhase:     is.Paused.Duration - was.Paused.Duration,
	} {
		if spent > 0 {
			timeTotal.WithLabelValues(phase).Add(spent.Seconds())
		}
	}
}
