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

// Readiness is the state of a worker that may run.
type Readiness string

const (
	// Ready: it runs, or has succeeded.
	Ready Readiness = ""
	// Starting: its containers are being created, or one of them is not ready, which may be as it should.
	Starting Readiness = "Starting"
	// Blocked: a container waits, and the kubelet says what keeps it from starting.
	Blocked Readiness = "Blocked"
	// NodeSilent: the kubelet last reported its containers as ready, and the Pod is not:
	// its node has stopped reporting.
	NodeSilent Readiness = "NodeSilent"
)

// Blocker is the first container of a Pod that waits for something other than its turn, and the reason; empty if none does.
type Blocker struct{ Container, Reason string }

// readinessOf returns the readiness of the worker of a live Pod alone, and since when it is not Ready.
func readinessOf(pod *corev1.Pod) (Readiness, time.Time) {
	ready := ConditionOf(pod, corev1.PodReady)
	if ready == nil || ready.Status == corev1.ConditionTrue {
		return Ready, time.Time{}
	}
	since := moment(&ready.LastTransitionTime)
	if blockerOf(pod).Reason != "" {
		return Blocked, since
	}
	for i := range pod.Status.ContainerStatuses {
		// One that has succeeded is not ready any more, and the others may run for a long time.
		if end := pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.ExitCode == 0 {
			return Ready, time.Time{}
		}
	}
	if isTrue(pod, corev1.ContainersReady) && ready.Reason == "" {
		return NodeSilent, since
	}
	return Starting, since
}

func blockerOf(pod *corev1.Pod) Blocker {
	for _, statuses := range [...][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			waiting := statuses[i].State.Waiting
			if waiting == nil {
				continue
			}
			switch waiting.Reason {
			case "", "PodInitializing", "ContainerCreating", constants.RestartingAllContainers:
			case "ErrImagePull":
				return Blocker{statuses[i].Name, "ImagePullBackOff"} // the kubelet alternates between the two
			default:
				return Blocker{statuses[i].Name, waiting.Reason}
			}
		}
	}
	return Blocker{}
}
