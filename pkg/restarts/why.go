/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func (r *read) noPod(slot *policy.WorkerSlot) string {
	if why := r.failures[slot.Job.UID]; why != "" {
		return "the Job controller cannot create it: " + why
	}
	return "the Job controller has not created it; see: kubectl describe job " + slot.Job.Name
}

// whyMissing is the first reason that is enough.
func (r *read) whyMissing(slot *policy.WorkerSlot) (WorkerState, string) {
	m, pod, next := slot.Pod, r.podOf(slot), int64(r.epochs.Synced)+1
	if slot.State != policy.SlotMember {
		return r.whyGone(slot)
	}
	switch {
	case slot.Crowded:
		return Crowded, "several live Pods have this index, the Job controller has to delete all but one"
	case int64(slot.Epoch) == next:
		return HeldAtBarrier, "restarted, waits for the others to restart"
	case m.Node == "":
		return Unscheduled, unscheduled(pod)
	case m.Restarting:
		return Restarting, "the kubelet restarts all its containers"
	}
	if m.Readiness == facts.NodeSilent {
		return NodeSilent, nodeSilent(m)
	}
	if waiting := waiting(pod); waiting != "" {
		return Waiting, waiting
	}
	switch {
	case slot.Invalid:
		return InvalidEpoch, fmt.Sprintf("annotation %s is %q, not a number from 1", jobset.EpochKey, m.Reported.Text)
	case slot.Epoch == 0:
		return NotReported, "runs, its agent has not reported an epoch" + seeLog(pod)
	case int64(slot.Epoch) > next:
		return NotReported, fmt.Sprintf("is ahead of epoch %d, its agent has to restart it%s", next, seeLog(pod))
	default:
		return NotReported, fmt.Sprintf("still of epoch %d, its agent has to restart it%s", slot.Epoch, seeLog(pod))
	}
}

// whyGone says why the Pod of a slot is no member.
func (r *read) whyGone(slot *policy.WorkerSlot) (WorkerState, string) {
	m := slot.Pod
	if m.Phase == corev1.PodFailed {
		return PodFailed, ended(r.podOf(slot)) + r.whyNotReplaced(slot)
	}
	if !m.Terminating() {
		return NoPod, r.noPod(slot)
	}
	var by string
	if m.Disruption != "" {
		by = m.Disruption + ", "
	}
	// The deadline is when the grace is over, not when it began.
	if r.Now.Before(m.Deadline) {
		return Terminating, by + "its grace period ends in " + duration.HumanDuration(m.Deadline.Sub(r.Now))
	}
	over := duration.HumanDuration(r.Now.Sub(m.Deadline))
	if r.Now.Sub(m.Deadline) < patience {
		return Terminating, by + "its grace period ended " + over + " ago"
	}
	return Terminating, fmt.Sprintf("%sits grace period ended %s ago and its node still holds it; if that machine is off: kubectl delete node %s", by, over, m.Node)
}

// whyNotReplaced says what a Failed Pod waits for.
func (r *read) whyNotReplaced(slot *policy.WorkerSlot) string {
	if slot.State == policy.SlotLeaving {
		return "; the Job controller has not counted it yet"
	}
	if why := r.failures[slot.Job.UID]; why != "" {
		return "; the Job controller cannot replace it: " + why
	}
	if left := slot.Pod.ReplacedIn(r.Now); left > 0 && facts.CountsEachIndex(slot.Job) {
		return "; the Job controller replaces it in " + duration.HumanDuration(left)
	}
	return "; the Job controller has to replace it"
}

// whyUnready says why a worker that may run does not.
func whyUnready(m *facts.Member, pod *corev1.Pod) string {
	if m.Readiness == facts.NodeSilent {
		return nodeSilent(m)
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

func nodeSilent(m *facts.Member) string {
	return fmt.Sprintf("its node has stopped reporting; if that machine is off, do not wait until its Pods are evicted, after five minutes: kubectl delete node %s", m.Node)
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

// unscheduled is what the scheduler says of a Pod without a node.
func unscheduled(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return because(c.Reason, c.Message)
		}
	}
	return "the scheduler has reported no reason"
}

// waiting is what keeps the kubelet from running the containers of a Pod, "" if nothing does.
func waiting(pod *corev1.Pod) string {
	if len(pod.Status.InitContainerStatuses)+len(pod.Status.ContainerStatuses) == 0 && pod.Status.Phase == corev1.PodPending {
		return "the kubelet has reported no status yet"
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
		return fmt.Sprintf("; it exited with code %d and reported: %s", end.ExitCode, end.Message)
	}
	return fmt.Sprintf("; it exited with code %d, see: kubectl logs %s -c %s --previous", end.ExitCode, pod.Name, status.Name)
}

func because(reason, message string) string {
	if message == "" {
		return reason
	}
	return reason + ", " + message
}
