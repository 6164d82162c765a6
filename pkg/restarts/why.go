/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func noPod(slot *policy.WorkerSlot, failures map[types.UID]string) string {
	if why := failures[slot.Job.UID]; why != "" {
		return "the Job controller cannot create it: " + why
	}
	return "the Job controller has not created it; see: kubectl describe job " + slot.Job.Name
}

// whyMissing is the first reason that is enough.
func whyMissing(slot *policy.WorkerSlot, failures map[types.UID]string, epochs Epochs, now time.Time) (WorkerState, string) {
	pod, next := slot.Pod, int64(epochs.Synced)+1
	if slot.State != policy.SlotMember {
		return whyGone(slot, failures, now)
	}
	switch {
	case slot.Crowded:
		return Crowded, "several live Pods have this index, the Job controller has to delete all but one"
	case int64(slot.Epoch) == next:
		return HeldAtBarrier, "restarted, waits for the others to restart"
	case pod.Spec.NodeName == "":
		return Unscheduled, unscheduled(pod)
	case conditionIs(pod, corev1.AllContainersRestarting):
		return Restarting, "the kubelet restarts all its containers"
	}
	if readiness, _ := facts.ReadinessOf(pod); readiness == facts.NodeSilent {
		return NodeSilent, nodeSilent(pod)
	}
	if waiting := waiting(pod); waiting != "" {
		return Waiting, waiting
	}
	switch {
	case slot.Invalid:
		return InvalidEpoch, fmt.Sprintf("annotation %s is %q, not a number from 1", jobset.EpochKey, pod.Annotations[jobset.EpochKey])
	case slot.Epoch == 0:
		return NotReported, "runs, its agent has not reported an epoch" + seeLog(pod)
	case int64(slot.Epoch) > next:
		return NotReported, fmt.Sprintf("is ahead of epoch %d, its agent has to restart it%s", next, seeLog(pod))
	default:
		return NotReported, fmt.Sprintf("still of epoch %d, its agent has to restart it%s", slot.Epoch, seeLog(pod))
	}
}

// whyGone says why the Pod of a slot is no member.
func whyGone(slot *policy.WorkerSlot, failures map[types.UID]string, now time.Time) (WorkerState, string) {
	pod := slot.Pod
	if pod.Status.Phase == corev1.PodFailed {
		if slot.State == policy.SlotLeaving {
			return PodFailed, ended(pod) + "; the Job controller has not counted it yet"
		}
		if why := failures[slot.Job.UID]; why != "" {
			return PodFailed, ended(pod) + "; the Job controller cannot replace it: " + why
		}
		if m := facts.Of(pod); facts.CountsEachIndex(slot.Job) {
			if left := m.ReplacedIn(now); left > 0 {
				return PodFailed, fmt.Sprintf("%s; the Job controller replaces it in %s", ended(pod), duration.HumanDuration(left))
			}
		}
		return PodFailed, ended(pod) + "; the Job controller has to replace it"
	}
	if pod.DeletionTimestamp == nil {
		return NoPod, noPod(slot, failures)
	}
	var by string
	if reason := facts.Of(pod).Disruption; reason != "" {
		by = reason + ", "
	}
	// The timestamp is when the grace is over, not when it began.
	over := pod.DeletionTimestamp.Time
	if now.Before(over) {
		return Terminating, by + "its grace period ends in " + duration.HumanDuration(over.Sub(now))
	}
	if now.Sub(over) < patience {
		return Terminating, by + "its grace period ended " + duration.HumanDuration(now.Sub(over)) + " ago"
	}
	return Terminating, fmt.Sprintf("%sits grace period ended %s ago and its node still holds it; if that machine is off: kubectl delete node %s",
		by, duration.HumanDuration(now.Sub(over)), pod.Spec.NodeName)
}

// whyUnready says why a worker that may run does not.
func whyUnready(m *facts.Member, pod *corev1.Pod) string {
	if m.Readiness == facts.NodeSilent {
		return nodeSilent(pod)
	}
	if waiting := waiting(pod); waiting != "" {
		return waiting
	}
	for i := range pod.Status.ContainerStatuses {
		switch status := &pod.Status.ContainerStatuses[i]; {
		case status.State.Waiting != nil:
			return notStarted(status.Name)
		case status.State.Running != nil && !status.Ready:
			return "container " + status.Name + " runs and is not ready"
		}
	}
	return policy.WhyUnready(m)
}

func nodeSilent(pod *corev1.Pod) string {
	return fmt.Sprintf("its node has stopped reporting; if that machine is off, do not wait until its Pods are evicted, after five minutes: kubectl delete node %s", pod.Spec.NodeName)
}

// seeLog names the log of the agent.
func seeLog(pod *corev1.Pod) string {
	if agent := workerpod.AgentOf(&pod.Spec); agent != nil {
		return fmt.Sprintf("; see: kubectl logs %s -c %s", pod.Name, agent.Name)
	}
	return ""
}

// ended says how a Failed Pod ended.
func ended(pod *corev1.Pod) string {
	if pod.Status.Reason != "" {
		return pod.Status.Reason
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if end := statuses[i].State.Terminated; end != nil && end.ExitCode != 0 {
				return fmt.Sprintf("container %s exited with code %d", statuses[i].Name, end.ExitCode)
			}
		}
	}
	return "the Pod failed"
}

func conditionIs(pod *corev1.Pod, conditionType corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == conditionType && c.Status == corev1.ConditionTrue
	})
}

// unscheduled is what the scheduler says of a Pod without a node.
func unscheduled(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return because(c.Reason, c.Message)
		}
	}
	return "the scheduler has not said why"
}

// waiting is what keeps the kubelet from running the containers of a Pod, "" if nothing does.
func waiting(pod *corev1.Pod) string {
	if len(pod.Status.InitContainerStatuses)+len(pod.Status.ContainerStatuses) == 0 && pod.Status.Phase == corev1.PodPending {
		return "the kubelet has not said anything yet"
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			// PodInitializing is what follows from another container.
			if w := statuses[i].State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
				return "container " + statuses[i].Name + ": " + because(w.Reason, w.Message) + lastEnd(pod, &statuses[i])
			}
		}
	}
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		switch {
		case status.State.Waiting != nil:
			// It is its turn, and the kubelet does not say more while it pulls the image.
			return notStarted(status.Name)
		case status.State.Running != nil && !ptr.Deref(status.Started, true):
			return "" // what comes after it waits for it
		case status.State.Running != nil && !facts.IsSidecar(pod, status.Name):
			return "init container " + status.Name + " has not ended"
		}
	}
	return ""
}

func notStarted(container string) string {
	return "container " + container + " has not started: its image is pulled, or its volumes are mounted"
}

// lastEnd says how a container that crashes ended last, in its own words if it left any.
func lastEnd(pod *corev1.Pod, status *corev1.ContainerStatus) string {
	end := status.LastTerminationState.Terminated
	if end == nil {
		return ""
	}
	if end.Message != "" {
		return fmt.Sprintf("; it exited with code %d and said: %s", end.ExitCode, end.Message)
	}
	return fmt.Sprintf("; it exited with code %d, see: kubectl logs %s -c %s --previous", end.ExitCode, pod.Name, status.Name)
}

func because(reason, message string) string {
	if message == "" {
		return reason
	}
	return reason + ", " + message
}
