/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/workerpod"
)

// IsPulling reports whether a Pod has a sandbox, and what keeps it from running is the creation of a container, which takes
// as long as the pull of an image does. A kubelet that cannot pull says so after a minute without progress, and the Pod is
// blocked then; an init container that runs, and an agent that holds the workers back, are work and not a pull.
func IsPulling(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodPending || !hasSandbox(pod) {
		return false
	}
	if _, reason := BlockedBy(pod); reason != "" {
		return false
	}
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		switch {
		case status.State.Waiting != nil:
			return true
		case status.State.Running != nil && (!isSidecar(pod, status.Name) || !ptr.Deref(status.Started, false)):
			return false
		}
	}
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].State.Waiting != nil {
			return true
		}
	}
	return false
}

func isSidecar(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.Name == name {
			return workerpod.IsSidecar(c)
		}
	}
	return false
}

func hasSandbox(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReadyToStartContainers {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
