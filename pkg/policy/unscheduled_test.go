/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// withoutNodeFor: the second Pod of a group that tolerates faults has had no node for so long, with a warm-up of 5 minutes.
func withoutNodeFor(ago time.Duration, changes ...func(*Input)) Input {
	in := inPlace(1, 1, "2 _", sinceAgo(10*time.Hour), onPod(0, 1, func(pod *corev1.Pod) {
		pod.Spec.NodeName, pod.CreationTimestamp = "", metav1Time(now.Add(-ago))
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/4 nodes are available"}}
	}))
	inPlaceTolerant(300)(&in)
	for _, change := range changes {
		change(&in)
	}
	return in
}

// TestAPodWithoutANode: the clock of P24 stands still for it (P48), and the group does not wait without end.
func TestAPodWithoutANode(t *testing.T) {
	t.Parallel()
	const noNode = "1 of 2 Pods have no node 5m0s after their creation: js-w-0-1 (0/4 nodes are available)"
	waiting := func(ago time.Duration) func(*Input) {
		return func(in *Input) {
			in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions,
				builders.Condition(jobset.JobSetUnhealthy, true, "PodsUnscheduled", noNode+"; waiting 1m0s for them", now.Add(-ago)))
		}
	}
	type outcome struct {
		reads, isReset bool
		charged        int32
		failed         bool
		unhealthy      string
	}
	for name, tc := range map[string]struct {
		in   Input
		want outcome
	}{
		"P80a: it has its time":                       {withoutNodeFor(299 * time.Second), outcome{}},
		"P80a: then it is told, with the reason":      {withoutNodeFor(5 * time.Minute), outcome{unhealthy: noNode + "; waiting 1m0s for them"}},
		"P80a: a grace begins":                        {withoutNodeFor(10*time.Hour, waiting(59*time.Second)), outcome{unhealthy: noNode + "; waiting 1m0s for them"}},
		"P80a: when it is over, the Pods are read":    {withoutNodeFor(10*time.Hour, waiting(time.Minute)), outcome{reads: true, unhealthy: noNode + "; waiting 1m0s for them"}},
		"P80a: and the JobSet is reset, charged":      {withoutNodeFor(10*time.Hour, waiting(time.Minute), read), outcome{isReset: true, charged: 1}},
		"P80a: not charged again if the break was":    {withoutNodeFor(10*time.Hour, waiting(time.Minute), read, restartingAlready), outcome{isReset: true}},
		"P80a, P84: the budget is spent":              {withoutNodeFor(10*time.Hour, waiting(time.Minute), read, budget(3, 0, 3)), outcome{failed: true}},
		"P80a: it found its node":                     {withoutNodeFor(10*time.Hour, waiting(time.Minute), hasNode), outcome{}},
		"P80a: without faultTolerance nothing is new": {withoutNodeFor(10*time.Hour, withoutTolerance), outcome{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			got := outcome{reads: plan.ReadChildren, isReset: plan.Status.Restarts > tc.in.JobSet.Status.Restarts,
				charged: plan.Status.RestartsCountTowardsMax - tc.in.JobSet.Status.RestartsCountTowardsMax}
			got.failed = apimeta.IsStatusConditionTrue(plan.Status.Conditions, string(jobset.JobSetFailed))
			if c := apimeta.FindStatusCondition(plan.Status.Conditions, string(jobset.JobSetUnhealthy)); c != nil && c.Status == metav1.ConditionTrue {
				got.unhealthy = c.Message
			}
			if got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

// restartingAlready: the group broke, which was charged.
func restartingAlready(in *Input) {
	in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, builders.Condition(jobset.JobSetRestarting, true, "InPlaceRestart", "first cause", past))
}

// hasNode: the Pod has found one, and until now the clock of the assembly stood still (P48).
func hasNode(in *Input) {
	onPod(0, 1, func(pod *corev1.Pod) { pod.Spec.NodeName = "node" })(in)
	in.Clock.Stood = 10 * time.Hour
}
