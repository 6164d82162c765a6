/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Preparation is what a Pod on a node waits for that another Pod in its place would not have sooner (P48a).
type Preparation uint8

const (
	// Prepared: nothing that is seen keeps its agent from reporting.
	Prepared Preparation = iota
	// AwaitsSandbox: its node has yet to make its sandbox, mount its volumes, or prepare its devices.
	AwaitsSandbox
	// Preparing: an init container of its author runs, or an image is pulled, or its pull is retried.
	Preparing
)

// pullRetried is what blockerOf says of an image that cannot be pulled now. Other reasons, such as InvalidImageName, stay.
const pullRetried = "ImagePullBackOff"

// preparationOf returns what a Pod waits for alone. An agent that runs and has not started holds the workers back: it is to
// report. A container that waits in a sandbox is being created, which takes as long as the pull of its image does.
func preparationOf(pod *corev1.Pod) Preparation {
	if phase := pod.Status.Phase; phase == corev1.PodFailed || phase == corev1.PodSucceeded {
		return Prepared
	}
	if reason := blockerOf(pod).Reason; reason != "" && reason != pullRetried {
		return Prepared
	}
	pending, sandbox := pod.Status.Phase == corev1.PodPending, ConditionOf(pod, corev1.PodReadyToStartContainers)
	// A kubelet writes the condition when it first sees the Pod, so one that is down never does. A sandbox may be gone, too (P74).
	if sandbox != nil && sandbox.Status == corev1.ConditionFalse {
		if pending && !hadStarted(pod) {
			return AwaitsSandbox
		}
		return Prepared
	}
	canPull := pending && sandbox != nil && sandbox.Status == corev1.ConditionTrue
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		switch {
		case status.State.Waiting != nil && canPull:
			return Preparing
		case status.State.Running == nil:
			continue
		}
		switch c := initContainer(pod, status.Name); {
		case c == nil || workerpod.IsSidecar(c) && ptr.Deref(status.Started, false):
		case workerpod.IsSidecar(c) && workerpod.LooksLikeAgent(c):
			return Prepared
		default:
			return Preparing
		}
	}
	for i := range pod.Status.ContainerStatuses {
		if canPull && pod.Status.ContainerStatuses[i].State.Waiting != nil {
			return Preparing
		}
	}
	return Prepared
}

// IsSidecar reports whether a container of a Pod runs beside its workers, started before them.
func IsSidecar(pod *corev1.Pod, name string) bool {
	c := initContainer(pod, name)
	return c != nil && workerpod.IsSidecar(c)
}

func initContainer(pod *corev1.Pod, name string) *corev1.Container {
	i := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &pod.Spec.InitContainers[i]
}
