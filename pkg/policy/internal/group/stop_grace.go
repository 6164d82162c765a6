/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// stopGrace returns how long workers of epoch S may take to stop before they can report, 0 if there are none (P24a).
func stopGrace(v *view.View) time.Duration {
	policy := v.JobSet.Spec.FailurePolicy
	if v.Synced == 0 || workerpod.ModeOf(policy) != jobset.ProcessMode {
		return 0
	}
	if v.JobSet.Status.PlannedBreak { // P142
		return time.Duration(workerpod.PlannedStopSeconds(policy)) * time.Second
	}
	return time.Duration(workerpod.StopGraceSeconds(policy)) * time.Second
}

// plannedGrace is the part of stopGrace that passes before the clock of the assembly starts, and unplannedGrace is the
// other part, which whoever has to stop first has on top of a period.
func plannedGrace(v *view.View) time.Duration { return stopGrace(v) - unplannedGrace(v) }

func unplannedGrace(v *view.View) time.Duration {
	if v.JobSet.Status.PlannedBreak {
		return 0
	}
	return stopGrace(v)
}

// stopTakes is how much later than another a worker may end for no reason of its own.
func stopTakes(v *view.View) time.Duration {
	takes := stopGrace(v) + time.Second
	if p := v.JobSet.Spec.FailurePolicy; workerpod.ModeOf(p) == jobset.ProcessMode {
		takes += time.Duration(workerpod.DumpSeconds(p)) * time.Second
	}
	return takes
}
