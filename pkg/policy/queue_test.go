/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// queued: the topology of a queue has placed the Pods.
func queued(in *Input) {
	gate := []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/topology"}}
	for i := range in.JobSet.Spec.ReplicatedJobs {
		in.JobSet.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec.SchedulingGates = gate
	}
	for _, job := range in.Jobs {
		job.Spec.Template.Spec.SchedulingGates = gate
	}
}

func TestPodsThatAQueuePlacedStay(t *testing.T) {
	t.Parallel()
	spent, both := budget(3, 0, 3), createdAgo(time.Hour, time.Hour)
	counted := []jobset.NodeFailures{failedAt(badNode, 10*time.Minute, 5*time.Minute)}
	otherGate := onJob(0, func(job *batchv1.Job) {
		job.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
	})
	const moved = "Pods run on node-of-js-w-0-1 (autopilot.ibm.com/gpuhealth=EVICT) with a label of effect NoExecute and are not moved: a queue chose the nodes"
	tests := map[string]struct {
		in Input
		// moves: something is done about the Pods; told is part of the event.
		moves bool
		told  string
	}{
		"P90a: they are not moved off a sick node, and that is told": {in: inPlace(0, 1, "1 1", marked(second), queued), told: moved},
		"P90a: nor while the group assembles":                        {in: inPlace(1, 1, "1 1", marked(second), queued), told: moved},
		"P90a: nor by a reset":                                       {in: inPlace(0, 0, "_ _", marked(second), strategy(jobset.Recreate), queued), told: moved},
		"P90a: nor is a budget that is spent a reason to say so":     {in: inPlace(0, 1, "1 1", marked(second), spent, queued), told: moved},
		"P90a: nothing is told of healthy nodes":                     {in: inPlace(0, 1, "1 1", marked("another"), queued)},
		"P90a: a queue without a topology places nothing":            {in: inPlace(0, 1, "1 1", marked(second), otherGate), moves: true},
		"P90a: a node that would be avoided is told": {
			in: inPlace(0, 1, "1 1", avoids(counted...), queued), told: "restarts keep beginning on " + badNode + ", which new Pods do not avoid: a queue chose the nodes"},
		"P90a: one on which nothing failed for long is not": {in: inPlace(0, 1, "1 1", avoids(failedAt(badNode, 70*time.Minute, time.Minute)), queued)},
		"P90a: a Pod that its node does not take is told": {
			in: inPlace(1, 1, "_ 2", gpus, createdAgo(time.Minute, time.Hour), homeless(0), queued), told: "1 Pods cannot run where they are to: js-w-0-0: a queue chose the nodes"},
		"P90a: not before a minute": {in: inPlace(1, 1, "_ 2", gpus, createdAgo(59*time.Second, time.Hour), homeless(0), queued)},
		"P90a: nor without a queue": {in: inPlace(1, 1, "_ 2", gpus, createdAgo(time.Minute, time.Hour), homeless(0))},
		"P90a: Pods on a node that was avoided before are not replaced": {
			in: inPlace(1, 1, "1 1", avoids(avoidedFor(failedAt(badNode, 0), time.Minute)), both, queued)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			sum := summarize(plan)
			restarts := ptr.Deref(plan.Status.DeprecatedEpoch, 0) > ptr.Deref(tc.in.JobSet.Status.DeprecatedEpoch, 0) || sum.Restart != ""
			if moves := restarts || len(sum.Pods) > 0; moves != tc.moves || plan.Moving != tc.moves {
				t.Errorf("moves: %t, want %t: %+v", moves, tc.moves, sum)
			}
			told := slices.IndexFunc(plan.Once, func(e Event) bool { return e.Reason == "PlacedByQueue" })
			if (tc.told != "") != (told >= 0) || told >= 0 && !strings.Contains(plan.Once[told].Message, tc.told) {
				t.Errorf("told %v, want %q", plan.Once, tc.told)
			}
			if slices.ContainsFunc(plan.Status.Conditions, func(c metav1.Condition) bool { return c.Type == string(jobset.JobSetOnSickNodes) }) {
				t.Errorf("conditions %v", plan.Status.Conditions)
			}
		})
	}
}

// TestAQueueAvoidsNodesItself: failures are counted by node, but no node is avoided.
func TestAQueueAvoidsNodesItself(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 1, "2 1", avoids(failedAt(badNode, 10*time.Minute)), fails(func(*Failure) {}), queued)
	plan := decideOnce(t, in)
	known := plan.Status.FaultTolerance.NodeFailures
	if len(known) != 1 || len(known[0].Times) != 2 || known[0].AvoidedSince != nil || slices.Contains(plan.Outcomes, AvoidsNode) {
		t.Errorf("P90a: %+v", known)
	}
	in.JobSet.Status.FaultTolerance.NodeFailures = []jobset.NodeFailures{avoidedFor(failedAt(badNode, 0), time.Minute)}
	if nodes := AvoidedNodes(in.JobSet, gates.Set{FaultTolerance: true}, now); len(nodes) > 0 {
		t.Errorf("P90a: new Pods avoid %v", nodes)
	}
}
