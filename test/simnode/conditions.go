/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	reasonPodCompleted = "PodCompleted"
	reasonPodFailed    = "PodFailed"
	reasonNotReady     = "ContainersNotReady"
	reasonRestartAll   = "RestartAllContainersStarted"
)

func ownedCondition(t corev1.PodConditionType) bool {
	switch t {
	case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady,
		corev1.PodScheduled, corev1.AllContainersRestarting:
		return true
	}
	return false
}

// conditions returns the conditions a node owns, for a status whose phase and container statuses are known.
func conditions(v *podView, s *corev1.PodStatus, all []corev1.ContainerStatus) []corev1.PodCondition {
	ready := containersReady(v, s, all)
	podReady := ready
	podReady.Type = corev1.PodReady
	list := []corev1.PodCondition{
		{Type: corev1.PodReadyToStartContainers, Status: boolStatus(v.PodIP != "" && !v.Ended)},
		initialized(v, s, all),
		podReady,
		ready,
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
	}
	if hasRestartAllRule(&v.Pod.Spec) {
		list = append(list, restartingAll(v, s))
	}
	for i := range list {
		stamp(v, &list[i])
	}
	return list
}

// stamp keeps the transition time of a condition whose status did not change.
func stamp(v *podView, c *corev1.PodCondition) {
	c.ObservedGeneration = v.Pod.Generation
	c.LastTransitionTime = apiTime(v.Now)
	if old := findCondition(v.Old.Conditions, c.Type); old != nil && old.Status == c.Status && !old.LastTransitionTime.IsZero() {
		c.LastTransitionTime = old.LastTransitionTime
	}
}

func containersReady(v *podView, s *corev1.PodStatus, all []corev1.ContainerStatus) corev1.PodCondition {
	c := corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionFalse}
	switch s.Phase {
	case corev1.PodSucceeded:
		c.Reason = reasonPodCompleted
		return c
	case corev1.PodFailed:
		c.Reason = reasonPodFailed
		return c
	}
	var unready []string
	for i := range all {
		if v.Containers[i].Kind != kindInit && !all[i].Ready {
			unready = append(unready, all[i].Name)
		}
	}
	if len(unready) == 0 {
		c.Status = corev1.ConditionTrue
		return c
	}
	c.Reason = reasonNotReady
	c.Message = fmt.Sprintf("containers with unready status: [%s]", strings.Join(unready, " "))
	return c
}

// initialized: once True it stays True, also while RestartAllContainers runs the init containers again.
func initialized(v *podView, s *corev1.PodStatus, all []corev1.ContainerStatus) corev1.PodCondition {
	c := corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}
	if s.Phase == corev1.PodSucceeded {
		c.Reason = reasonPodCompleted
		return c
	}
	var incomplete []string
	for i := range all {
		switch v.Containers[i].Kind {
		case kindRegular:
			if all[i].State.Running != nil || all[i].State.Terminated != nil {
				return c
			}
		case kindSidecar:
			if !*all[i].Started {
				incomplete = append(incomplete, all[i].Name)
			}
		case kindInit:
			if !all[i].Ready {
				incomplete = append(incomplete, all[i].Name)
			}
		}
	}
	old := findCondition(v.Old.Conditions, corev1.PodInitialized)
	if len(incomplete) == 0 || old != nil && old.Status == corev1.ConditionTrue {
		return c
	}
	c.Status, c.Reason = corev1.ConditionFalse, "ContainersNotInitialized"
	c.Message = fmt.Sprintf("containers with incomplete status: [%s]", strings.Join(incomplete, " "))
	return c
}

// restartingAll is True from the exit that asks for it until every container is removed. The end of the Pod comes
// first: no rule restarts anything then.
func restartingAll(v *podView, s *corev1.PodStatus) corev1.PodCondition {
	c := corev1.PodCondition{Type: corev1.AllContainersRestarting, Status: corev1.ConditionFalse}
	switch {
	case s.Phase == corev1.PodSucceeded:
		c.Reason = reasonPodCompleted
	case s.Phase == corev1.PodFailed:
		c.Reason = reasonPodFailed
	case v.Pod.DeletionTimestamp == nil && v.restartAllWanted() && v.anyPresent():
		c.Status, c.Reason = corev1.ConditionTrue, reasonRestartAll
		c.Message = "container exited with restart policy rule"
	}
	return c
}

func boolStatus(b bool) corev1.ConditionStatus {
	if b {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}
