/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// withContainers gives a Pod an agent, a worker whose failures restart all containers, and two containers whose failures do not.
func withContainers(pod *corev1.Pod) *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers = []corev1.Container{
		{Name: "agent", RestartPolicy: &always, RestartPolicyRules: workerpod.RestartAllUnless(64)}, {Name: "setup"},
	}
	pod.Spec.Containers = []corev1.Container{{Name: "worker", RestartPolicyRules: workerpod.RestartAllUnless(0)}, {Name: "side"}}
	return pod
}

func TestFailureOf(t *testing.T) {
	t.Parallel()
	_, job := workers()
	pod := func() *builders.PodWrapper { return builders.MakePod(job, 0) }
	failure := func(container string, code int32) policy.Failure {
		return policy.Failure{Pod: "js-w-0-0", Container: container, ExitCode: code, Node: "n1"}
	}
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: kind, Status: status, Reason: reason}}
		}
	}
	because := func(c corev1.ContainerStatus, reason string) corev1.ContainerStatus {
		c.State.Terminated.Reason = reason
		return c
	}
	outOfMemory := failure("worker", 137)
	outOfMemory.Reason = "OOMKilled"
	tests := map[string]struct {
		pod  *builders.PodWrapper
		want policy.Failure
	}{
		"P21: all containers restart because of the worker":                {pod().Change(shows(true, exit("worker", 1, 0))), failure("worker", 1)},
		"P21: all containers restart because the agent was killed":         {pod().Change(shows(true, exit("agent", 137, 0))), failure("agent", 137)},
		"P21: an agent that asked for the restart is no cause":             {pod().Change(shows(true, exit("agent", 88, 0))), policy.Failure{}},
		"P21: the worker, though the agent asked first":                    {pod().Change(shows(true, exit("worker", 7, 2), exit("agent", 88, 1))), failure("worker", 7)},
		"P21: in one second the worker is named":                           {pod().Change(shows(true, exit("agent", 143, 1), exit("worker", 7, 1))), failure("worker", 7)},
		"P21, C296: a worker that a signal killed is told by its own code": {pod().Change(shows(true, exit("worker", 139, 1), exit("agent", 143, 2))), failure("worker", 139)},
		"P21, C296: killed with the others by the kubelet is no cause":     {pod().Change(shows(true, because(exit("worker", 137, 0), "RestartingAllContainers"), exit("agent", 9, 2))), failure("agent", 9)},
		"P21: out of memory":                                          {pod().Change(shows(true, because(exit("worker", 137, 0), "OOMKilled"))), outOfMemory},
		"P21: a container that ended well is no cause":                {pod().Change(shows(true, exit("setup", 0, 0), exit("worker", 7, 1))), failure("worker", 7)},
		"P21: all ended well":                                         {pod().Change(shows(true, exit("worker", 0, 0))), policy.Failure{}},
		"P21: an unrelated container that ended before is no cause":   {pod().Change(shows(true, exit("side", 3, 0), exit("worker", 7, 1))), failure("worker", 7)},
		"P21: an unrelated container alone is no cause":               {pod().Change(shows(true, exit("side", 3, 0))), policy.Failure{}},
		"P21: a Failed Pod":                                           {pod().Phase(corev1.PodFailed).Change(shows(false, exit("worker", 3, 0))), failure("worker", 3)},
		"P21: a Failed Pod of which a container without rules failed": {pod().Phase(corev1.PodFailed).Change(shows(false, exit("side", 3, 0))), failure("side", 3)},
		"P21: a Pod that the kubelet evicted, whatever its containers show": {
			pod().Phase(corev1.PodFailed).Change(shows(false, exit("worker", 137, 0))).Change(func(pod *corev1.Pod) { pod.Status.Reason = "Evicted" }),
			policy.Failure{Pod: "js-w-0-0", Node: "n1", Reason: "Evicted"}},
		"P21: a Failed Pod without containers, evicted": {pod().Phase(corev1.PodFailed).Change(func(pod *corev1.Pod) { pod.Status.Reason = "Evicted" }),
			policy.Failure{Pod: "js-w-0-0", Reason: "Evicted"}},
		"P21: a Pod that is deleted, whatever its containers show": {pod().Change(shows(false, exit("worker", 143, 0))).Terminating(now),
			policy.Failure{Pod: "js-w-0-0", Node: "n1", Deleted: true}},
		"P21: a Pod that is preempted": {pod().Terminating(now).Change(condition(corev1.DisruptionTarget, corev1.ConditionTrue, "PreemptionByScheduler")),
			policy.Failure{Pod: "js-w-0-0", Deleted: true, Reason: "PreemptionByScheduler"}},
		"P21: a Pod that succeeded and is cleaned up":                  {pod().Phase(corev1.PodSucceeded).Terminating(now), policy.Failure{}},
		"P21, C286: a container that is restarted alone is no failure": {pod().Change(shows(false, exit("worker", 1, 0))), policy.Failure{}},
		"P21: the condition is False": {pod().Change(shows(false, exit("worker", 1, 0))).
			Change(condition(corev1.AllContainersRestarting, corev1.ConditionFalse, "")), policy.Failure{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := policy.FailureOf(facts.Of(withContainers(tc.pod.Obj())))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
		})
	}
}
