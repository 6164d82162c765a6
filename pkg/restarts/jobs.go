/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Jobs counts Jobs, those of the current attempt where nothing else is said.
type Jobs struct {
	Wanted    int64 `json:"wanted"`
	Created   int64 `json:"created"`
	Ready     int64 `json:"ready"`
	Succeeded int64 `json:"succeeded"`
	// Failing Jobs fail once their Pods have ended.
	Failing   int64 `json:"failing,omitempty"`
	Failed    int64 `json:"failed"`
	Suspended int64 `json:"suspended"`
	// Previous are of an earlier attempt, and not gone yet.
	Previous int64 `json:"previous"`
}

// addJobs adds the counts of Jobs, and of workers if any are waited for.
func (r *Report) addJobs(in Input) {
	if in.JobsUnread != nil {
		r.Notes.Add("Jobs could not be read, so they and their workers are missing here: %v", in.JobsUnread)
		return
	}
	input := inputOf(in)
	observed, err := policy.Observe(in.JobSet, input.Jobs, input.Gates)
	if err != nil {
		r.Notes.Add("Jobs cannot be distinguished: %v", err)
		return
	}
	r.Jobs = countJobs(in.JobSet, observed)
	if !NeedsPods(in.JobSet) {
		return
	}
	if in.PodsUnread != nil {
		r.Notes.Add("Pods could not be read, so the workers are missing here: %v", in.PodsUnread)
		return
	}
	if in.LeasesUnread != nil {
		r.Notes.Add("Leases could not be read, so workers whose agents report in them may look as if they were not back: %v", in.LeasesUnread)
	}
	slots, more, err := firstSlots(input.Input, observed)
	switch {
	case err != nil:
		r.Notes.Add("workers cannot be distinguished: %v", err)
		return
	case more > 0:
		r.Notes.Add("of the workers only the first %d are looked at, and %d are not", mostWorkers, more)
	}
	r.Workers = input.workersOf(slots)
	if r.State.Name == Assembling {
		r.explainBarrier(observed)
		r.explainPause(in.JobSet, in.Now)
	}
}

// explainBarrier says what keeps the barrier besides workers that are not back.
func (r *Report) explainBarrier(observed policy.Observed) {
	if n := len(observed.Previous); n > 0 {
		r.Notes.Add("Jobs of an earlier attempt that are not gone yet: %d; the barrier stays until they are gone", n)
	}
	for _, job := range observed.Active {
		switch {
		case job.DeletionTimestamp != nil:
			r.Notes.Add("Job %s is being deleted: the barrier stays until it is gone", job.Name)
		case hasCondition(job, batchv1.JobFailureTarget):
			r.Notes.Add("Job %s is about to fail: the barrier stays until the failure policy has acted", job.Name)
		}
	}
}

func hasCondition(job *batchv1.Job, conditionType batchv1.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == conditionType && c.Status == corev1.ConditionTrue
	})
}

func countJobs(js *jobset.JobSet, observed policy.Observed) *Jobs {
	counts := &Jobs{Previous: int64(len(observed.Previous))}
	counts.Created = int64(len(observed.Active) + len(observed.Successful) + len(observed.Failed))
	for i := range js.Spec.ReplicatedJobs {
		counts.Wanted += int64(js.Spec.ReplicatedJobs[i].Replicas)
	}
	for _, job := range observed.Active {
		if hasCondition(job, batchv1.JobFailureTarget) {
			counts.Failing++
		}
	}
	for _, status := range observed.Statuses {
		counts.Ready += int64(status.Ready)
		counts.Succeeded += int64(status.Succeeded)
		counts.Failed += int64(status.Failed)
		counts.Suspended += int64(status.Suspended)
	}
	return counts
}
