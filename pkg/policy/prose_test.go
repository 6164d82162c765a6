/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// A decision reads no sentence of ours: whoever polishes one would change what is decided, on upgrade and in the middle of
// a restart. So each table decides once more on the same input with other sentences in its status.

// checkProse fails the test if the plan is another one, but for its messages, once the sentences of the status are others.
func checkProse(t *testing.T, in Input, plan Plan) {
	t.Helper()
	other := clone(in)
	rewrite(&other.JobSet.Status, func(string) string { return "what an older version wrote" })
	other.JobSet.Status.RestartHistory = []jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1, Cause: pass.OtherCause("what never was")}}
	again, err := Decide(other)
	if err != nil {
		t.Fatalf("Decide on other sentences: %v", err)
	}
	if diff := cmp.Diff(withoutProse(plan), withoutProse(again)); diff != "" {
		t.Errorf("other sentences and restarts in the status gave another plan (-as they were +others):\n%s", diff)
	}
	wasNot := in.JobSet.Status
	wasNot.RestartHistory = plan.Status.RestartHistory
	if cmp.Equal(wasNot, plan.Status) && !cmp.Equal(in.JobSet.Status, plan.Status) {
		t.Errorf("the status is written for its history alone: %+v", plan.Status.RestartHistory)
	}
}

// rewrite changes every sentence of a status that the controller wrote, and nothing that is a value.
func rewrite(status *jobset.JobSetStatus, to func(string) string) {
	for i := range status.Conditions {
		status.Conditions[i].Message = to(status.Conditions[i].Message)
	}
	for i := range status.ReplicatedJobsStatus {
		size := status.ReplicatedJobsStatus[i].Elastic
		if size == nil {
			continue
		}
		if size.Ceiling != nil {
			size.Ceiling.Message = to(size.Ceiling.Message)
		}
		if size.Limit != nil {
			size.Limit.Message = to(size.Limit.Message)
		}
	}
}

// withoutProse returns a plan without its messages.
func withoutProse(plan Plan) Plan {
	plan.Status = *plan.Status.DeepCopy()
	rewrite(&plan.Status, func(string) string { return "" })
	plan.Status.RestartHistory = nil // it tells, and nothing follows from it
	plan.Events, plan.Once = silent(plan.Events), silent(plan.Once)
	plan.Ops = slices.Clone(plan.Ops)
	for i := range plan.Ops {
		if because := plan.Ops[i].Because; because != nil {
			plan.Ops[i].Because = &silent([]Event{*because})[0]
		}
	}
	return plan
}

func silent(events []Event) []Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].Message = ""
	}
	return events
}

// A release that words its messages differently writes them, and tells nobody.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]Input{
		"C53: suspended": inPlace(1, 1, "1 1", suspend),
		"C53: Pods that are not as they should be":   pods(10*time.Minute, "R P", toldOf("PodsNotRunning", "older")),
		"C53: Pods that stay on sick nodes":          inPlace(0, 1, "1 1", marked("n1"), budget(3, 0, 3), reportedOnNodes("older")),
		"C53: a planner that finds no room":          said(1, 1, nil, elastic.Decision{State: elastic.Waits, Because: "it does not fit"}),
		"C53: restarted in place again, uncharged":   inPlace(1, 1, "2 _", restartingBecause("InPlaceRestart")),
		"C53: in-place restart that is switched off": inPlace(0, 1, "1 1", gateOff),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 3 { // until nothing is left to tell
				in.JobSet.Status = decideOnce(t, in).Status
			}
			said := in.JobSet.Status.DeepCopy()
			rewrite(&in.JobSet.Status, func(string) string { return "what an older version wrote" })
			plan := decideOnce(t, in)
			if len(plan.Events) > 0 || len(plan.Outcomes) > 0 {
				t.Errorf("events %v and outcomes %v, want none", plan.Events, plan.Outcomes)
			}
			if len(said.Conditions) == 0 {
				t.Error("there is no condition")
			}
		})
	}
}
