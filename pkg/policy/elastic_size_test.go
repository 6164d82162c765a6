/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// sized is a group with bounds 1 and 9 and a size, of which so many workers had reached its last epoch.
func sized(deprecated, synced int32, picture string, size, stood int32, changes ...func(*Input)) Input {
	return inPlace(deprecated, synced, picture, append([]func(*Input){func(in *Input) {
		in.Gates.ElasticJobSet = true
		rjob := &in.JobSet.Spec.ReplicatedJobs[0]
		rjob.Elastic = &jobset.ElasticBounds{MinInstances: 1, MaxInstances: 9}
		rjob.Template.Spec.Parallelism, rjob.Template.Spec.Completions = ptr.To(size), ptr.To(size)
		in.JobSet.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "w", SyncedWorkers: stood}}
	}}, changes...)...)
}

// TestElasticSizes: users read how large a group is and is to be (P109).
func TestElasticSizes(t *testing.T) {
	t.Parallel()
	byRecreating := func(in *Input) {
		in.JobSet.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
		in.JobSet.Status.ReplicatedJobsStatus, in.Pods = nil, nil
	}
	jobOf := func(size int32) func(*Input) {
		return func(in *Input) { in.Jobs[0].Spec.Parallelism, in.Jobs[0].Spec.Completions = &size, &size }
	}
	for name, tc := range map[string]struct {
		in   Input
		want *jobset.ElasticSize
	}{
		"P109: a group that runs has the size of its epoch":               {sized(0, 1, "1 1", 2, 2), &jobset.ElasticSize{Current: 2, Desired: 2}},
		"P109: one that is resized keeps it until its next epoch":         {sized(1, 1, "2 2 1", 3, 2), &jobset.ElasticSize{Current: 2, Desired: 3}},
		"P109: and has the new one with that epoch":                       {sized(1, 1, "2 2 2", 3, 2), &jobset.ElasticSize{Current: 3, Desired: 3}},
		"P109: one that never ran has none":                               {sized(0, 0, "1 -", 2, 0), &jobset.ElasticSize{Desired: 2}},
		"P109: the epoch of an older manager has that of its Job":         {sized(0, 1, "1 1", 3, 0), &jobset.ElasticSize{Current: 2, Desired: 3}},
		"P109: a group that is bypassed has that of its Job":              {sized(0, 1, "1 1 1", 3, 2, disabled), &jobset.ElasticSize{Current: 3, Desired: 3}},
		"P109: so has a JobSet that restarts otherwise":                   {sized(0, 0, "- -", 4, 0, byRecreating, jobOf(3)), &jobset.ElasticSize{Current: 3, Desired: 4}},
		"P109: nothing is written with the gate off":                      {sized(0, 1, "1 1", 2, 2, func(in *Input) { in.Gates.ElasticJobSet = false }), nil},
		"P109: nor of a ReplicatedJob without bounds":                     {sized(0, 1, "1 1", 2, 2, func(in *Input) { in.JobSet.Spec.ReplicatedJobs[0].Elastic = nil }), nil},
		"P109: one that has ended keeps what it had, whatever is deleted": {sized(0, 1, "1 1", 2, 2, hasEnded), &jobset.ElasticSize{Current: 7, Desired: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decideOnce(t, tc.in).Status.ReplicatedJobsStatus[0].Elastic
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("size (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCeilings: what the planner learned about a size is kept by whoever writes the status next (P108a).
func TestCeilings(t *testing.T) {
	t.Parallel()
	ceiling, limit := &jobset.ElasticCeiling{Size: 2, Refusals: 1}, &jobset.ElasticLimit{Reason: "Ceiling"}
	in := sized(1, 1, "2 2", 2, 3)
	in.JobSet.Status.ReplicatedJobsStatus[0].Elastic = &jobset.ElasticSize{Current: 3, Desired: 2, Ceiling: ceiling, Limit: limit}
	want := &jobset.ElasticSize{Current: 2, Desired: 2, Ceiling: ceiling, Limit: limit}
	if diff := cmp.Diff(want, decideOnce(t, in).Status.ReplicatedJobsStatus[0].Elastic); diff != "" {
		t.Errorf("P108a P113: size (-want +got):\n%s", diff)
	}
}

func hasEnded(in *Input) {
	in.JobSet.Status.TerminalState = string(jobset.JobSetCompleted)
	in.JobSet.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetCompleted, true, "Done", "", past)}
	in.JobSet.Status.ReplicatedJobsStatus[0].Elastic = &jobset.ElasticSize{Current: 7, Desired: 8}
}

// TestElasticResizing: the condition begins with the new size and ends with the epoch that has it (P109).
func TestElasticResizing(t *testing.T) {
	t.Parallel()
	const told = "ReplicatedJob w from 2 to 3 Pods"
	since := now.Add(-2 * time.Second)
	resizes := func(in *Input) {
		in.JobSet.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetElasticResizing, true, "ElasticResized", told, since)}
	}
	begins := builders.Condition(jobset.JobSetElasticResizing, true, "ElasticResized", told, now)
	ends := func(message string) metav1.Condition {
		return builders.Condition(jobset.JobSetElasticResizing, false, "ElasticResizeCompleted", message, now)
	}
	const done = told + ", at epoch 2, after 2s"
	for name, tc := range map[string]struct {
		in     Input
		want   []metav1.Condition
		events []Event
	}{
		"P109: it begins with the write that stops the group":   {sized(0, 1, "1 1", 3, 2), []metav1.Condition{begins}, nil},
		"P109: it stays while the group assembles":              {sized(1, 1, "2 2 1", 3, 2, resizes), []metav1.Condition{builders.Condition(jobset.JobSetElasticResizing, true, "ElasticResized", told, since)}, nil},
		"P109: it ends with the lift, which is told":            {sized(1, 1, "2 2 2", 3, 2, resizes), []metav1.Condition{ends(done)}, []Event{{Type: corev1.EventTypeNormal, Reason: "ElasticResizeCompleted", Message: done}}},
		"P109: it ends silently if the size is again the old":   {sized(1, 1, "2 1", 2, 2, resizes), []metav1.Condition{ends("the size no longer changes")}, nil},
		"P109: a first start is none":                           {sized(0, 0, "1 -", 2, 0), nil, nil},
		"P109: nor is a failure at a size that does not change": {sized(1, 1, "2 1", 2, 2), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			if diff := cmp.Diff(tc.want, plan.Status.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.events, plan.Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
