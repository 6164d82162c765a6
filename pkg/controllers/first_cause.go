/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// The first cause of a group restart is for users only; nothing is decided by it.
// A container's own exit code appears in a single watch event:
//
//	worker running                       annotation epoch 1
//	worker terminated, code 1            AllContainersRestarting True     <- here
//	all waiting RestartingAllContainers  False
//	agent running                        annotation epoch 2
//
// The exit codes of one epoch may still be in the status when the Pod reports the next
// one, and a new leader sees them again. So a failure counts only in the change that first
// shows it, in a Pod that ran in that epoch before the change. The restart code of an agent
// never counts, since agents are told to exit. One gap remains: a kubelet that reports the
// end of a worker only after the lift of the next epoch.
//
// In process mode the agent of the Pod tells how its worker ended (P66), exactly and for good. What comes
// first is kept here, too: another Pod may have failed, or been deleted, before.

// failureIn returns what failed in the running epoch, if this change of a Pod is the first to show it.
// Before is nil if the Pod was not in the cache.
func failureIn(js *jobset.JobSet, before, pod *corev1.Pod) (policy.Failure, bool) {
	restarting := ptr.Deref(js.Status.DeprecatedEpoch, 0) >= ptr.Deref(js.Status.SyncedEpoch, 0) // containers are meant to end
	if restarting || before == nil || !ranIn(before, js) {
		return policy.Failure{}, false
	}
	if before.Annotations[jobset.WorkerExitKey] != pod.Annotations[jobset.WorkerExitKey] {
		if failure, ok := policy.ReportedFailure(pod, ptr.Deref(js.Status.SyncedEpoch, 0)); ok {
			return failure, true // by its agent, together with the next epoch
		}
	}
	if !ranIn(pod, js) {
		return policy.Failure{}, false
	}
	if _, failedBefore := failureOf(before); failedBefore {
		return policy.Failure{}, false
	}
	return failureOf(pod)
}

// ranIn reports whether a Pod belongs to the running epoch. A failure of an
// earlier epoch stays visible, and a new leader sees it again.
func ranIn(pod *corev1.Pod, js *jobset.JobSet) bool {
	return pod.Annotations[jobset.EpochKey] == strconv.FormatInt(int64(ptr.Deref(js.Status.SyncedEpoch, 0)), 10)
}

// failureOf returns the failure that ends a whole Pod, if the Pod shows one: all its
// containers are being restarted, the Pod has failed, or it is being deleted.
func failureOf(pod *corev1.Pod) (policy.Failure, bool) {
	failure := policy.Failure{Pod: pod.Name, Node: pod.Spec.NodeName}
	switch first := firstEnd(pod); {
	case pod.Status.Phase == corev1.PodSucceeded:
		return policy.Failure{}, false
	case pod.DeletionTimestamp != nil: // which also ends its containers
		failure.Deleted, failure.Reason = true, policy.DisruptionReason(pod)
	case pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "": // an eviction, which also ends its containers
		failure.Reason = pod.Status.Reason
	case first != nil && (pod.Status.Phase == corev1.PodFailed || restartsAll(pod)):
		failure.Container, failure.ExitCode = first.Name, first.State.Terminated.ExitCode
		failure.Reason = first.State.Terminated.Reason
	case pod.Status.Phase == corev1.PodFailed: // no container says why
	default:
		return policy.Failure{}, false
	}
	return failure, true
}

// restartsAll reports whether the kubelet restarts all containers of a Pod.
func restartsAll(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.AllContainersRestarting && c.Status == corev1.ConditionTrue
	})
}

// firstEnd returns the container that ended first, of those that stripPod kept. Within one second, workers come first.
func firstEnd(pod *corev1.Pod) *corev1.ContainerStatus {
	var first *corev1.ContainerStatus
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if end := statuses[i].State.Terminated; end == nil || end.ExitCode == 0 {
				continue // kept because it waits, or because the Pod succeeds (P45)
			}
			if first == nil || statuses[i].State.Terminated.FinishedAt.Before(&first.State.Terminated.FinishedAt) {
				first = &statuses[i]
			}
		}
	}
	return first
}

// keepCauses copies the exit states of containers that can have caused a restart, or the failure, of the
// Pod, and the fields of these containers that show it, so that stripping twice changes nothing.
func keepCauses(to, pod *corev1.Pod) {
	to.Spec.InitContainers, to.Status.InitContainerStatuses = causes(pod, pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
	to.Spec.Containers, to.Status.ContainerStatuses = causes(pod, pod.Spec.Containers, pod.Status.ContainerStatuses)
}

func causes(pod *corev1.Pod, all []corev1.Container, statuses []corev1.ContainerStatus) (kept []corev1.Container, ends []corev1.ContainerStatus) {
	for i := range statuses {
		end := statuses[i].State.Terminated
		if end == nil || end.ExitCode == 0 || end.Reason == constants.RestartingAllContainers {
			continue
		}
		at := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == statuses[i].Name })
		if at < 0 || !canCause(pod, &all[at], end.ExitCode) {
			continue
		}
		c := corev1.Container{Name: all[at].Name, RestartPolicy: all[at].RestartPolicy, RestartPolicyRules: all[at].RestartPolicyRules}
		if env := workerpod.FindEnv(&all[at], workerpod.RestartExitCodeEnv); env >= 0 {
			c.Env = []corev1.EnvVar{all[at].Env[env]}
		}
		kept = append(kept, c)
		ends = append(ends, corev1.ContainerStatus{
			Name: c.Name,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode:   end.ExitCode,
				Reason:     end.Reason,
				FinishedAt: end.FinishedAt,
			}},
		})
	}
	return kept, ends
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
