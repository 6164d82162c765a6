/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

type containerKind int

const (
	kindInit containerKind = iota
	kindSidecar
	kindRegular
)

// runState is what the runtime knows about a container. A container that RestartAllContainers removed is absent again.
type runState int

const (
	absent runState = iota
	running
	exited
)

// probeResult is the verdict of a probe on one run of a container. Containers without the probe never have one.
type probeResult int32

const (
	probePending probeResult = iota
	probeOK
	probeFailed
)

// containerView is one container as a sync sees it. Plain data: the decisions in this package read nothing else.
type containerView struct {
	Spec       *corev1.Container
	Kind       containerKind
	State      runState
	ID         string
	StartedAt  time.Time
	FinishedAt time.Time
	ExitCode   int32
	Restarts   int32
	// Last is how the run before this one ended.
	Last *corev1.ContainerStateTerminated
	// Waiting is why the last attempt to start the container came to nothing.
	Waiting *corev1.ContainerStateWaiting
	// Reset: RestartAllContainers removed a run of this container and no status has said so yet.
	Reset   bool
	Backoff backoffEntry
	// RetryAt is when to try again after the last attempt to start it failed.
	RetryAt time.Time

	Startup probeResult
}

// podView is one Pod as a sync sees it.
type podView struct {
	Pod *corev1.Pod
	// Old is the status reported last.
	Old corev1.PodStatus
	// Containers holds init containers first, then regular ones, both in the order of the spec.
	Containers []containerView
	// PodIP is empty until the sandbox exists.
	PodIP string
	// Ended: every container has stopped and none will start again.
	Ended   bool
	Now     time.Time
	HostIP  string
	Timings Timings
}

func (c *containerView) started() bool {
	return c.State == running && (c.Spec.StartupProbe == nil || c.Startup == probeOK)
}

func (c *containerView) ready() bool {
	if c.Kind == kindInit {
		return c.State == exited && c.ExitCode == 0
	}
	return c.started()
}

// asksForRestartAll reports whether this container ended in a way that restarts all containers.
func (c *containerView) asksForRestartAll() bool {
	return c.State == exited && matchRule(c.Spec.RestartPolicyRules, c.ExitCode) == restartPod
}

func (c *containerView) restartable(v *podView) bool {
	return onExit(c.Spec, v.Pod.Spec.RestartPolicy, c.ExitCode) != stayDown
}

// anyPresent reports whether the runtime still holds a container of the Pod.
func (v *podView) anyPresent() bool {
	return slices.ContainsFunc(v.Containers, func(c containerView) bool { return c.State != absent })
}

// regularPresent reports whether a regular container runs or has run since the containers were last removed.
func (v *podView) regularPresent() bool {
	return slices.ContainsFunc(v.regularContainers(), func(c containerView) bool { return c.State != absent })
}

// restartAllWanted: some exit asks for it, or it was announced and is not done.
func (v *podView) restartAllWanted() bool {
	if c := findCondition(v.Old.Conditions, corev1.AllContainersRestarting); c != nil && c.Status == corev1.ConditionTrue {
		return true
	}
	return slices.ContainsFunc(v.Containers, func(c containerView) bool { return c.asksForRestartAll() })
}

func (v *podView) initContainers() []containerView {
	return v.Containers[:len(v.Pod.Spec.InitContainers)]
}

func (v *podView) regularContainers() []containerView {
	return v.Containers[len(v.Pod.Spec.InitContainers):]
}

func findCondition(list []corev1.PodCondition, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range list {
		if list[i].Type == t {
			return &list[i]
		}
	}
	return nil
}

func terminal(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}
