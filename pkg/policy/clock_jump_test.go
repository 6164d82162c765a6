/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// TestDeadlinesAfterAClockJumped: what is long over by the clock is not, as long as the clock jumped a second ago (P21a).
func TestDeadlinesAfterAClockJumped(t *testing.T) {
	t.Parallel()
	longAgo := metav1.NewTime(now.Add(-time.Hour))
	acts := func(plan *Plan) bool {
		return plan.Does(DeleteJobSet|DeletePod|DeleteJob|ForceJob) || plan.Status.Restarts > 0 || plan.ReadChildren
	}
	overdue := onPod(0, 1, func(pod *corev1.Pod) { pod.DeletionTimestamp, pod.Spec.NodeName = &longAgo, "lost" })
	ends := func(kind jobset.JobSetConditionType) func(*Input) {
		return onJobSet(func(js *jobset.JobSet) {
			js.Status.TerminalState, js.Status.Conditions = string(kind), append(js.Status.Conditions, builders.Condition(kind, true, "r", "m", longAgo.Time))
		})
	}
	for name, in := range map[string]Input{
		"P24: a Pod that is late": inPlace(1, 1, "2 _", sinceAgo(time.Hour)),
		"P24: all Jobs":           inPlace(0, 0, "1 .", sinceAgo(time.Hour)),
		"P25: a Pod that a lost node does not let go": inPlace(1, 1, "2 T1", overdue, func(in *Input) {
			in.Deadlines.ForcefulDeletion, in.NotReady = time.Minute, map[string]bool{"lost": true}
		}),
		"P80: Pods that do not run":        pods(time.Hour, "R P", unhealthySince(time.Hour)),
		"P80a: Pods that find no node":     withoutNodeFor(10*time.Hour, unhealthySince(time.Hour)),
		"P85: Pods that should be gone":    inPlace(1, 1, "2 T1", overdue, inPlaceTolerant(300)),
		"P87: the Jobs of a failed JobSet": pods(time.Hour, "R", ends(jobset.JobSetFailed), func(in *Input) { in.JobSet.Spec.FaultTolerance.DeletionOnFailureGracePeriodSeconds = ptr.To[int32](60) }),
		"C173: the TTL of a JobSet":        inPlace(1, 1, "2 2", ends(jobset.JobSetCompleted), onJobSet(func(js *jobset.JobSet) { js.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) }), func(in *Input) { in.Jobs, in.Pods = nil, nil }),
	} {
		t.Run("P21a, "+name, func(t *testing.T) {
			t.Parallel()
			if plan := decideOnce(t, in); !acts(&plan) {
				t.Fatal("nothing is done without a jump")
			}
			in.Clock.SteadySince = now.Add(-time.Second)
			in.Clock.LedSince = in.Clock.SteadySince
			plan := decideOnce(t, in)
			if acts(&plan) {
				t.Errorf("makes %v; %d restarts", plan.Ops, plan.Status.Restarts)
			}
			if plan.RequeueAfter <= 0 {
				t.Error("nobody looks again")
			}
		})
	}
}
