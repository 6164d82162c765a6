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
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// The first cause of a group restart is what users are told of it, never what
// is decided by. A container's own exit code stands in one watch event:
//
//	worker running                       annotation epoch 1
//	worker terminated, code 1            AllContainersRestarting True     <- here
//	all waiting RestartingAllContainers  False
//	agent running                        annotation epoch 2
//
// The ends of an epoch may still stand beside the next one that the Pod reports,
// and be shown again to a new leader. So a failure counts only in the change in
// which it appears, in a Pod that was of the epoch before; and an agent's restart
// code never does, since an agent is told to exit. One hole is left: a kubelet
// whose report of a worker's end comes only after the lift of the next epoch.

// restartedWithOthers is the reason that the kubelet gives, with exit code 137, for
// containers that it ended because another one asked for a restart of the Pod.
const restartedWithOthers = "RestartingAllContainers"

// failureIn returns what failed in the epoch that runs, if this change of a Pod shows it first.
// Before is nil if the Pod was not known.
func failureIn(js *jobset.JobSet, before, pod *corev1.Pod) (policy.Failure, bool) {
	if before == nil || !ranIn(before, js) || !ranIn(pod, js) {
		return policy.Failure{}, false
	}
	if _, failedBefore := failureOf(before); failedBefore {
		return policy.Failure{}, false
	}
	return failureOf(pod)
}

// ranIn tells whether a Pod is of the epoch that runs: one that failed in an
// earlier epoch is still shown, and shown again to a new leader.
func ranIn(pod *corev1.Pod, js *jobset.JobSet) bool {
	return pod.Annotations[jobset.EpochKey] == strconv.FormatInt(int64(ptr.Deref(js.Status.SyncedEpoch, 0)), 10)
}

// failureOf returns the failure that takes a whole Pod down, if the Pod shows one: all its
// containers are being restarted, it Failed, or it is being deleted.
func failureOf(pod *corev1.Pod) (policy.Failure, bool) {
	failure := policy.Failure{Pod: pod.Name, Node: pod.Spec.NodeName}
	switch first := firstEnd(pod); {
	case pod.Status.Phase == corev1.PodSucceeded:
		return policy.Failure{}, false
	case pod.DeletionTimestamp != nil: // the ends of its containers follow from that
		failure.Deleted, failure.Reason = true, disruption(pod)
	case pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "": // and from an eviction
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

// restartsAll tells whether the kubelet restarts all containers of a Pod.
func restartsAll(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.AllContainersRestarting && c.Status == corev1.ConditionTrue
	})
}

// disruption is why a Pod is taken away, e.g. PreemptionByScheduler, if anybody said so.
func disruption(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c.Reason
		}
	}
	return ""
}

// firstEnd returns the container that ended first, of those that stripPod left; in one second a worker.
func firstEnd(pod *corev1.Pod) *corev1.ContainerStatus {
	var first *corev1.ContainerStatus
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if first == nil || statuses[i].State.Terminated.FinishedAt.Before(&first.State.Terminated.FinishedAt) {
				first = &statuses[i]
			}
		}
	}
	return first
}

// keepCauses copies the ends of containers that can be the cause of a restart of the Pod, or of
// its failure, and of these containers what tells that, so that doing it again keeps the same.
func keepCauses(to, pod *corev1.Pod) {
	to.Spec.InitContainers, to.Status.InitContainerStatuses = causes(pod, pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
	to.Spec.Containers, to.Status.ContainerStatuses = causes(pod, pod.Spec.Containers, pod.Status.ContainerStatuses)
}

func causes(pod *corev1.Pod, all []corev1.Container, statuses []corev1.ContainerStatus) (of []corev1.Container, kept []corev1.ContainerStatus) {
	for i := range statuses {
		end := statuses[i].State.Terminated
		if end == nil || end.ExitCode == 0 || end.Reason == restartedWithOthers {
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
		of = append(of, c)
		kept = append(kept, corev1.ContainerStatus{
			Name: c.Name,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode:   end.ExitCode,
				Reason:     end.Reason,
				FinishedAt: end.FinishedAt,
			}},
		})
	}
	return of, kept
}

// canCause tells whether a container that ended with a code brings down its Pod. An agent
// that asks for a restart follows a failure elsewhere; a container that the kubelet restarts
// alone concerns nobody else.
func canCause(pod *corev1.Pod, c *corev1.Container, code int32) bool {
	if workerpod.IsSidecar(c) {
		if asked, known, err := workerpod.RestartExitCode(c); err == nil && known && asked == code {
			return false
		}
	}
	return pod.Status.Phase == corev1.PodFailed || workerpod.RestartsPodOn(c.RestartPolicyRules, code)
}
