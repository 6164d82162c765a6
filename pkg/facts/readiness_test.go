/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestAPodThatPulls(t *testing.T) {
	t.Parallel()
	waits := func(reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
	runs := func(started bool) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "agent", Started: ptr.To(started), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	}
	done := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	prepares := runs(true)
	prepares.Name = "prepare"
	type statuses = []corev1.ContainerStatus
	for name, tc := range map[string]struct {
		sandbox      corev1.ConditionStatus
		init, worker statuses
		want         bool
	}{
		"the image of the worker, behind an agent that runs":                  {"True", statuses{done, runs(true)}, statuses{waits("PodInitializing")}, true},
		"the image of the agent":                                              {"True", statuses{done, waits("PodInitializing")}, statuses{waits("PodInitializing")}, true},
		"the image of one worker of two":                                      {"True", statuses{runs(true)}, statuses{runs(true), waits("PodInitializing")}, true},
		"an init container that runs is no pull, though it counts as started": {"True", statuses{prepares, waits("PodInitializing")}, statuses{waits("PodInitializing")}, false},
		"nor is one that has not":                                             {"True", statuses{runs(false), waits("PodInitializing")}, statuses{waits("PodInitializing")}, false},
		"nor is an agent that holds the workers back":                         {"True", statuses{runs(false)}, statuses{waits("PodInitializing")}, false},
		"a kubelet that cannot pull says so":                                  {"True", statuses{runs(true)}, statuses{waits("ErrImagePull")}, false},
		"without a sandbox it is a volume or the network":                     {"False", statuses{waits("PodInitializing")}, statuses{waits("PodInitializing")}, false},
		"where kubelets do not report sandboxes, nothing is known":            {"", statuses{waits("PodInitializing")}, statuses{waits("PodInitializing")}, false},
		"all run": {"True", statuses{runs(true)}, statuses{runs(true)}, false},
	} {
		t.Run("P48: "+name, func(t *testing.T) {
			t.Parallel()
			always := corev1.ContainerRestartPolicyAlways
			spec := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "prepare"}, {Name: "agent", RestartPolicy: &always}}}
			pod := &corev1.Pod{Spec: spec, Status: corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: tc.init, ContainerStatuses: tc.worker}}
			if tc.sandbox != "" {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: tc.sandbox}}
			}
			if got := Of(pod).Pulling; got != tc.want {
				t.Errorf("pulling is %t, want %t", got, tc.want)
			}
			pod.Status.Phase = corev1.PodRunning
			if Of(pod).Pulling {
				t.Error("a Pod that runs pulls nothing")
			}
		})
	}
}
