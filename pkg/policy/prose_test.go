/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// A decision reads no sentence of ours: whoever polishes one would change what is decided, on upgrade and in the middle of
// a restart. So each table decides once more on the same input with other sentences in its status.

// readsProse are the tests in which another sentence changes a decision. No test may join them.
var readsProse = []string{
	"TestAJobDeletedWhileSuspended", "TestAgentAccess", "TestBreak", "TestFailurePolicy", "TestIntentBeforeEffect", "TestLift", "TestOneBudget",
	"TestOthersJoinAGroupThatLostOne", "TestPlannedLimits", "TestPodsMoveOffSickNodes", "TestResourcesDeployed", "TestStartupPolicy",
	"TestSuspendAndResume", "TestUsersWhoIntervene", "TestWorkersThatAreDone",
}

// checkProse fails the test if the plan is another one, but for its messages, once the sentences of the status are others.
func checkProse(t *testing.T, in Input, plan Plan) {
	t.Helper()
	other := clone(in)
	rewrite(&other.JobSet.Status, func(string) string { return "what an older version wrote" })
	again, err := Decide(other)
	if err != nil {
		t.Fatalf("Decide on other sentences: %v", err)
	}
	story, _, _ := strings.Cut(t.Name(), "/")
	if diff := cmp.Diff(withoutProse(plan), withoutProse(again)); diff != "" && !slices.Contains(readsProse, story) {
		t.Errorf("other sentences in the status gave another plan (-as they were +others):\n%s", diff)
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
	plan.Events, plan.Once = silent(plan.Events), silent(plan.Once)
	plan.DeletePods = slices.Clone(plan.DeletePods)
	for i := range plan.DeletePods {
		plan.DeletePods[i].Event.Message = ""
	}
	if plan.TellDeleted != nil {
		plan.TellDeleted = &silent([]Event{*plan.TellDeleted})[0]
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
