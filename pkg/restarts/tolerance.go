/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// explainTolerance says what a JobSet with faultTolerance waits for, and until when (P89).
func (r *Report) explainTolerance(js *jobset.JobSet) {
	known := js.Status.FaultTolerance
	switch {
	case js.Spec.FaultTolerance == nil:
		return
	case known == nil:
		r.Notes.Add("spec.faultTolerance is set and the controller has not acted on it: feature gate FaultTolerance is off, or it has not reconciled the JobSet yet")
		return
	}
	builtin := tolerance.Builtin().Defaults
	asked := js.Spec.FaultTolerance
	if c := policy.IfTrue(js, jobset.JobSetUnhealthy); c != nil {
		r.Notes.Add("unhealthy since %s: %s; if they are not back it is reset %s", stamp(c.LastTransitionTime.Time), c.Message,
			endsAt(c.LastTransitionTime.Time, asked.FailureGracePeriodSeconds, builtin.Failure))
	}
	if reset := known.Reset; reset != nil && r.State.Name != Suspended {
		r.explainReset(reset, asked, builtin)
	}
	if c := policy.IfTrue(js, jobset.JobSetOnSickNodes); c != nil {
		r.Notes.Add("on sick nodes since %s, and not moved: %s", stamp(c.LastTransitionTime.Time), c.Message)
	}
	if known.PodsKeptUntil != nil {
		r.Notes.Add("the Jobs that still run are kept until %s, so that their Pods can be inspected", stamp(known.PodsKeptUntil.Time))
	}
	if c := policy.IfTrue(js, jobset.JobSetResourcesDeployed); c != nil && (r.State.Name == Suspended || r.State.Name == Completed || r.State.Name == Failed) {
		r.Notes.Add("Jobs or Pods still use resources: condition ResourcesDeployed is True")
	}
	if c := policy.IfTrue(js, jobset.JobSetCompleted); c != nil {
		r.Notes.Add("its Jobs are deleted %s, and it stays", endsAt(c.LastTransitionTime.Time, asked.SuccessTTLSeconds, builtin.SuccessTTL))
	}
}

// explainReset says what a reset waits for: that all Jobs go, or that the pause is over.
func (r *Report) explainReset(reset *jobset.ResetStatus, asked *jobset.FaultTolerance, builtin tolerance.Settings) {
	if gone := reset.JobsGoneTime; gone != nil {
		r.Notes.Add("reset since %s: all Jobs are gone since %s, and are created again %s", stamp(reset.StartTime.Time), stamp(gone.Time),
			endsAt(gone.Time, asked.RetryPauseSeconds, builtin.RetryPause))
		return
	}
	r.Notes.Add("reset since %s: no Job is created before all of the last attempt are gone; a Pod that should have stopped %s ago is deleted by force, if the manager's configuration lets it",
		stamp(reset.StartTime.Time), period(asked.ForcefulDeletionGracePeriodSeconds, builtin.ForcefulDeletion))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// endsAt is when a time is over. The configuration of the manager, which is not read here, may set another default.
func endsAt(from time.Time, asked *int32, builtin time.Duration) string {
	if asked == nil {
		return "at " + stamp(from.Add(builtin)) + ", unless the manager's configuration has another default than " + builtin.String()
	}
	return "at " + stamp(from.Add(time.Duration(*asked)*time.Second))
}

// period is a time that the JobSet asks for, or its default.
func period(asked *int32, builtin time.Duration) time.Duration {
	if asked == nil {
		return builtin
	}
	return time.Duration(*asked) * time.Second
}
