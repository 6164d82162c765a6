/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Workers are the workers that must run together now.
type Workers struct {
	Total   int `json:"total"`
	Back    int `json:"back"`
	NotBack int `json:"notBack"`
	// Missing are those that are not back, by ReplicatedJob, Job and index.
	Missing []Worker `json:"missing,omitempty"`
}

// Worker is a worker that is not back.
type Worker struct {
	ReplicatedJob string `json:"replicatedJob"`
	JobIndex      int    `json:"jobIndex"`
	Index         int64  `json:"index"`
	// Pod and Node are empty if there is none.
	Pod  string `json:"pod,omitempty"`
	Node string `json:"node,omitempty"`
	// Epoch is what the agent reported; 0 means nothing that is an epoch.
	Epoch   int32       `json:"epoch,omitempty"`
	State   WorkerState `json:"state"`
	Message string      `json:"message,omitempty"`
}

// WorkerState is why a worker is not back.
type WorkerState string

const (
	// NoPod: the Job controller has not created one.
	NoPod WorkerState = "NoPod"
	// Crowded: several live Pods have the same index.
	Crowded WorkerState = "Crowded"
	// PodFailed: the Pod failed and is not replaced yet.
	PodFailed WorkerState = "Failed"
	// Terminating: the Pod is being deleted.
	Terminating WorkerState = "Terminating"
	// Unscheduled: the Pod has no node.
	Unscheduled WorkerState = "Unscheduled"
	// Restarting: the kubelet restarts all containers of the Pod.
	Restarting WorkerState = "Restarting"
	// Waiting: the kubelet has not come to run the agent, e.g. it pulls an image.
	Waiting WorkerState = "Waiting"
	// NotReported: the Pod runs and its agent has not reported the epoch that is waited for.
	NotReported WorkerState = "NotReported"
	// InvalidEpoch: the annotation of the Pod is not an epoch.
	InvalidEpoch WorkerState = "InvalidEpoch"
	// HeldAtBarrier: the worker is ahead of a group that still runs.
	HeldAtBarrier WorkerState = "HeldAtBarrier"
)

func podsByOwner(pods []corev1.Pod) map[types.UID][]*corev1.Pod {
	byOwner := map[types.UID][]*corev1.Pod{}
	for i := range pods {
		owner := metav1.GetControllerOfNoCopy(&pods[i])
		if owner != nil && owner.Kind == "Job" && owner.APIVersion == batchv1.SchemeGroupVersion.String() {
			byOwner[owner.UID] = append(byOwner[owner.UID], &pods[i])
		}
	}
	return byOwner
}

func workersOf(js *jobset.JobSet, slots []policy.WorkerSlot, epochs Epochs, now time.Time) *Workers {
	order := map[string]int{}
	for i := range js.Spec.ReplicatedJobs {
		order[js.Spec.ReplicatedJobs[i].Name] = i
	}
	w := &Workers{Total: len(slots)}
	for i := range slots {
		if slots[i].Back {
			w.Back++
			continue
		}
		w.Missing = append(w.Missing, missing(&slots[i], epochs, now))
	}
	w.NotBack = len(w.Missing)
	slices.SortFunc(w.Missing, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(order[a.ReplicatedJob], order[b.ReplicatedJob]), cmp.Compare(a.JobIndex, b.JobIndex), cmp.Compare(a.Index, b.Index))
	})
	return w
}

func missing(slot *policy.WorkerSlot, epochs Epochs, now time.Time) Worker {
	w := Worker{ReplicatedJob: children.OwnValue(slot.Job, jobset.ReplicatedJobNameKey), Index: slot.Index, Epoch: slot.Epoch}
	w.JobIndex, _ = strconv.Atoi(children.OwnValue(slot.Job, jobset.JobIndexKey))
	if slot.Pod == nil {
		w.State, w.Message = NoPod, "the Job controller has not created it"
		return w
	}
	w.Pod, w.Node = slot.Pod.Name, slot.Pod.Spec.NodeName
	w.State, w.Message = whyMissing(slot, epochs, now)
	return w
}

// whyMissing is the first reason that is enough.
func whyMissing(slot *policy.WorkerSlot, epochs Epochs, now time.Time) (WorkerState, string) {
	pod, next := slot.Pod, int64(epochs.Synced)+1
	if slot.State != policy.SlotMember {
		return whyGone(slot, now)
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
	if waiting := waiting(pod); waiting != "" {
		return Waiting, waiting
	}
	switch {
	case slot.Invalid:
		return InvalidEpoch, fmt.Sprintf("annotation %s is %q, not a number from 1", jobset.EpochKey, pod.Annotations[jobset.EpochKey])
	case slot.Epoch == 0:
		return NotReported, "runs, its agent has not reported an epoch"
	case int64(slot.Epoch) > next:
		return NotReported, fmt.Sprintf("is ahead of epoch %d, its agent has to restart it", next)
	default:
		return NotReported, fmt.Sprintf("still of epoch %d, its agent has to restart it", slot.Epoch)
	}
}

// whyGone says why the Pod of a slot is no member.
func whyGone(slot *policy.WorkerSlot, now time.Time) (WorkerState, string) {
	pod := slot.Pod
	if pod.Status.Phase == corev1.PodFailed {
		if slot.State == policy.SlotLeaving {
			return PodFailed, ended(pod) + "; the Job controller has not counted it yet"
		}
		return PodFailed, ended(pod) + "; the Job controller has to replace it"
	}
	if pod.DeletionTimestamp == nil {
		return NoPod, "the Job controller has not created another one"
	}
	// The timestamp is when the grace is over, not when it began.
	over := pod.DeletionTimestamp.Time
	began := over.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	text := "for " + duration.HumanDuration(now.Sub(began))
	if reason := disruption(pod); reason != "" {
		text += " (" + reason + ")"
	}
	if now.Before(over) {
		return Terminating, text + ", its grace ends in " + duration.HumanDuration(over.Sub(now))
	}
	return Terminating, text + ", its grace is over since " + duration.HumanDuration(now.Sub(over))
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

func disruption(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c.Reason
		}
	}
	return ""
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

// waiting is what keeps the kubelet from running the agent of a Pod, "" if nothing does.
func waiting(pod *corev1.Pod) string {
	if len(pod.Status.InitContainerStatuses)+len(pod.Status.ContainerStatuses) == 0 && pod.Status.Phase == corev1.PodPending {
		return "the kubelet has not said anything yet"
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			// PodInitializing is what follows from another container.
			if w := statuses[i].State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
				return "container " + statuses[i].Name + ": " + because(w.Reason, w.Message)
			}
		}
	}
	for i := range pod.Status.InitContainerStatuses {
		if status := &pod.Status.InitContainerStatuses[i]; status.State.Running != nil && !isSidecar(pod, status.Name) {
			return "init container " + status.Name + " has not ended"
		}
	}
	return ""
}

func isSidecar(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
	})
}

func because(reason, message string) string {
	if message == "" {
		return reason
	}
	return reason + ", " + message
}
