/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import corev1 "k8s.io/api/core/v1"

// reasonRestartingAll marks what RestartAllContainers did to a container, in its state and as its last end.
const reasonRestartingAll = "RestartingAllContainers"

// phaseTally counts the containers of a Pod by what they mean for its phase.
type phaseTally struct {
	initPending, sidecarPending, initFailed   int
	running, waiting, ended, final, succeeded int
}

// phaseOf computes the phase from the container statuses the way a kubelet does. Sidecars keep a Pod running but never
// decide how it ends. A container that waits but has ended before counts as ended, which is why a Pod stays Running
// while RestartAllContainers removes its containers, and becomes Pending when the agent starts again.
func phaseOf(v *podView, statuses []corev1.ContainerStatus) corev1.PodPhase {
	var t phaseTally
	for i := range v.Containers {
		c, s := &v.Containers[i], &statuses[i]
		end := s.State.Terminated
		if s.State.Waiting != nil {
			end = s.LastTerminationState.Terminated
		}
		switch c.Kind {
		case kindInit:
			t.addInit(v, c, s, end)
		case kindSidecar:
			t.addSidecar(s, end)
		case kindRegular:
			t.addRegular(v, c, s, end)
		}
	}
	return t.phase(v)
}

func (t *phaseTally) addInit(v *podView, c *containerView, s *corev1.ContainerStatus, end *corev1.ContainerStateTerminated) {
	switch {
	case s.State.Running != nil || end == nil:
		t.initPending++
	case end.ExitCode != 0 && !mayRunAgain(v, c, end):
		t.initFailed++
	}
}

func (t *phaseTally) addSidecar(s *corev1.ContainerStatus, end *corev1.ContainerStateTerminated) {
	switch {
	case s.State.Running != nil:
		t.running++
		if s.Started == nil || !*s.Started {
			t.sidecarPending++
		}
	case end == nil:
		t.sidecarPending++
		t.waiting++
	}
}

func (t *phaseTally) addRegular(v *podView, c *containerView, s *corev1.ContainerStatus, end *corev1.ContainerStateTerminated) {
	switch {
	case s.State.Running != nil:
		t.running++
	case end == nil:
		t.waiting++
	default:
		t.ended++
		if !mayRunAgain(v, c, end) {
			t.final++
		}
		if s.State.Terminated != nil && end.ExitCode == 0 {
			t.succeeded++
		}
	}
}

func mayRunAgain(v *podView, c *containerView, end *corev1.ContainerStateTerminated) bool {
	return end.Reason == reasonRestartingAll || onExit(c.Spec, v.Pod.Spec.RestartPolicy, end.ExitCode) != stayDown
}

func (t *phaseTally) phase(v *podView) corev1.PodPhase {
	switch {
	case t.initFailed > 0:
		return corev1.PodFailed
	case t.initPending > 0, t.sidecarPending > 0 && !v.regularPresent(), t.waiting > 0:
		return corev1.PodPending
	case t.running > 0:
		return corev1.PodRunning
	case t.ended == 0:
		return corev1.PodPending
	case !v.Ended && t.ended != t.final:
		return corev1.PodRunning
	case t.ended == t.succeeded:
		return corev1.PodSucceeded
	}
	return corev1.PodFailed
}
