/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// End is how a container ended, and with it its Pod; empty if none did.
type End struct {
	Container string
	ExitCode  int32
	// Reason is the kubelet's, such as OOMKilled.
	Reason string
	// At is when, to the second, by the clock of its node.
	At time.Time
}

// endedWell reports whether a Pod succeeded, or is about to: all of its regular containers ended with 0.
func endedWell(pod *corev1.Pod) bool {
	statuses := pod.Status.ContainerStatuses
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return true
	case pod.Status.Phase == corev1.PodFailed || len(statuses) == 0 || len(statuses) < len(pod.Spec.Containers):
		return false
	}
	for i := range statuses {
		if end := statuses[i].State.Terminated; end == nil || end.ExitCode != 0 {
			return false
		}
	}
	return true
}

// keeper returns the first regular container that runs if another one has ended with 0, "" if there is none.
func keeper(pod *corev1.Pod) (name string) {
	ended := false
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		ended = ended || s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
		if name == "" && s.State.Running != nil {
			name = s.Name
		}
	}
	if !ended {
		return ""
	}
	return name
}

// firstEnd returns how the container ended that ended first, of those whose end can have caused a restart, or the failure, of
// the Pod. Within one second, workers come first.
func firstEnd(pod *corev1.Pod) End {
	var end End
	var finished metav1.Time
	look := func(all []corev1.Container, statuses []corev1.ContainerStatus) {
		for i := range statuses {
			s := statuses[i].State.Terminated
			if s == nil || s.ExitCode == 0 || s.Reason == constants.RestartingAllContainers {
				continue
			}
			at := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == statuses[i].Name })
			if at < 0 || !canCause(pod, &all[at], s.ExitCode) || end.Container != "" && !s.FinishedAt.Before(&finished) {
				continue
			}
			end, finished = End{Container: statuses[i].Name, ExitCode: s.ExitCode, Reason: s.Reason, At: moment(&s.FinishedAt)}, s.FinishedAt
		}
	}
	look(pod.Spec.Containers, pod.Status.ContainerStatuses)
	look(pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
	return end
}

// canCause reports whether a container that exits with a code ends its Pod. An agent
// that asks for a restart reacts to a failure elsewhere; a container that the kubelet restarts
// by itself does not affect the others.
func canCause(pod *corev1.Pod, c *corev1.Container, code int32) bool {
	if workerpod.IsSidecar(c) {
		if asked, known, err := workerpod.RestartExitCode(c); err == nil && known && asked == code {
			return false
		}
	}
	return pod.Status.Phase == corev1.PodFailed || workerpod.RestartsPodOn(c.RestartPolicyRules, code)
}

// leftBy returns the first regular container that ended with the code by which supervisors ask for another Pod.
func leftBy(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if end := pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.ExitCode == protocol.ExitLeave {
			return pod.Status.ContainerStatuses[i].Name
		}
	}
	return ""
}

// disruption returns why a Pod is taken away, "" if nothing says so.
func disruption(pod *corev1.Pod) string {
	if c := ConditionOf(pod, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		return c.Reason
	}
	return ""
}

// longestSchedulerMessage is how much is told of what the scheduler says, in bytes. It counts nodes by reason, so its
// beginning says most.
const longestSchedulerMessage = 300

// whyUnscheduled returns what the scheduler says of a Pod that it cannot place, "" if it has not tried.
func whyUnscheduled(pod *corev1.Pod) string {
	c := ConditionOf(pod, corev1.PodScheduled)
	switch {
	case c == nil || c.Status != corev1.ConditionFalse:
		return ""
	case c.Message == "":
		return "the scheduler gives no reason"
	}
	return beginning(c.Message, longestSchedulerMessage)
}

// beginning returns so many bytes of a text and dots, or all of it if that is no more. It shares nothing with a text that it cuts.
func beginning(text string, most int) string {
	if len(text) <= most+len("...") {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
