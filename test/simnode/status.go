/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	reasonUnknownEnd = "ContainerStatusUnknown"
	removedMessage   = "The container is removed because RestartAllContainers in place"
)

// buildStatus computes the status of a Pod from what a sync sees. It starts from the status reported last, so that
// fields a node does not own stay as they are; conditions of others are left out, see ownedStatus.
func buildStatus(v *podView) corev1.PodStatus {
	s := *v.Old.DeepCopy()
	s.ObservedGeneration = v.Pod.Generation
	all := make([]corev1.ContainerStatus, len(v.Containers))
	for i := range v.Containers {
		all[i] = containerStatus(v, &v.Containers[i])
	}
	n := len(v.Pod.Spec.InitContainers)
	s.InitContainerStatuses, s.ContainerStatuses = nilIfEmpty(all[:n:n]), all[n:]

	s.Phase = phaseOf(v, all)
	if v.Ended && !terminal(s.Phase) {
		s.Phase = corev1.PodFailed // nothing of it will ever run again
	}
	for _, said := range []corev1.PodPhase{v.Pod.Status.Phase, v.Old.Phase} {
		if terminal(said) {
			s.Phase = said // whoever said so, there is no way back
		}
	}
	s.HostIP, s.HostIPs = v.HostIP, []corev1.HostIP{{IP: v.HostIP}}
	if v.PodIP != "" {
		s.PodIP, s.PodIPs = v.PodIP, []corev1.PodIP{{IP: v.PodIP}}
	}
	if s.StartTime == nil {
		now := apiTime(v.Now)
		s.StartTime = &now
	}
	s.Conditions = conditions(v, &s, all)
	return s
}

// withhold keeps a terminal phase back until the Pod is torn down: it tells everybody that the resources are free. The
// conditions are those of the end already, so a sidecar that answers TERM with a code of its rule announces nothing.
func withhold(v *podView, s corev1.PodStatus) corev1.PodStatus {
	if terminal(s.Phase) && !v.Ended && !terminal(v.Old.Phase) {
		s.Phase = v.Old.Phase
		if s.Phase == "" {
			s.Phase = corev1.PodPending
		}
	}
	return s
}

func containerStatus(v *podView, c *containerView) corev1.ContainerStatus {
	started := c.started()
	s := corev1.ContainerStatus{
		Name: c.Spec.Name, Image: c.Spec.Image, ImageID: c.Spec.Image,
		RestartCount: c.Restarts, Ready: c.ready(), Started: &started,
	}
	if c.Last != nil {
		s.LastTerminationState.Terminated = c.Last.DeepCopy()
	}
	switch c.State {
	case running:
		s.ContainerID = c.ID
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: apiTime(c.StartedAt)}
		return s
	case exited:
		s.ContainerID = c.ID
		s.State.Terminated = c.end()
	default:
		s.ImageID = ""
		s.State = absentState(v, c)
	}
	if c.Waiting != nil && !v.Ended {
		if s.State.Terminated != nil {
			s.LastTerminationState = s.State
		}
		s.State = corev1.ContainerState{Waiting: c.Waiting.DeepCopy()}
	}
	return s
}

func absentState(v *podView, c *containerView) corev1.ContainerState {
	switch {
	case v.Ended && c.Kind == kindRegular && c.Last != nil:
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: reasonUnknownEnd,
			Message: "The container could not be located when the pod was terminated",
		}}
	case c.Reset:
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reasonRestartingAll, Message: removedMessage}}
	case len(v.Pod.Spec.InitContainers) > 0:
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	}
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
}

// end is the API's word for how the run ended.
func (c *containerView) end() *corev1.ContainerStateTerminated {
	reason := "Error"
	if c.ExitCode == 0 {
		reason = "Completed"
	}
	return &corev1.ContainerStateTerminated{
		ExitCode: c.ExitCode, Reason: reason, ContainerID: c.ID,
		StartedAt: apiTime(c.StartedAt), FinishedAt: apiTime(c.FinishedAt),
	}
}

// ownedStatus returns a status without the conditions a node does not own. Patches are computed between two such
// statuses, so they can neither write nor remove what others put there.
func ownedStatus(s *corev1.PodStatus) corev1.PodStatus {
	out := *s.DeepCopy()
	out.Conditions = nil
	for _, c := range s.Conditions {
		if ownedCondition(c.Type) {
			out.Conditions = append(out.Conditions, c)
		}
	}
	return out
}

// apiTime drops what the API does not keep, so that a status read back equals the one written.
func apiTime(t time.Time) metav1.Time {
	if t.IsZero() {
		return metav1.Time{}
	}
	return metav1.NewTime(t.Truncate(time.Second))
}

func nilIfEmpty(list []corev1.ContainerStatus) []corev1.ContainerStatus {
	if len(list) == 0 {
		return nil
	}
	return list
}
