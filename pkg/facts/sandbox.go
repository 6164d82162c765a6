/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/constants"
)

// noSandboxSince returns since when a Pod that had started, and has not ended, has no sandbox and gets none, zero if that is not so.
// One that is about to succeed needs none.
func noSandboxSince(pod *corev1.Pod) time.Time {
	c := ConditionOf(pod, corev1.PodReadyToStartContainers)
	if c == nil || c.Status != corev1.ConditionFalse {
		return time.Time{}
	}
	// A Pod that has not started has none yet.
	if !hadStarted(pod) || restartsAllContainers(pod) {
		return time.Time{}
	}
	return moment(&c.LastTransitionTime)
}

// hadStarted reports whether the status that shows no sandbox shows a container that has run. That the agent has reported is
// no sign: a kubelet with much to do writes tens of seconds later that it made the sandbox in which the agent runs.
func hadStarted(pod *corev1.Pod) bool {
	for _, statuses := range [...][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if s := &statuses[i]; s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil {
				return true
			}
		}
	}
	return false
}

// restartsAllContainers reports whether the kubelet is about to start all containers of a Pod again.
func restartsAllContainers(pod *corev1.Pod) bool {
	if isTrue(pod, corev1.AllContainersRestarting) {
		return true
	}
	for _, statuses := range [...][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if waiting := statuses[i].State.Waiting; waiting != nil && waiting.Reason == constants.RestartingAllContainers {
				return true
			}
		}
	}
	return false
}
