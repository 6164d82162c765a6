/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy"
)

// CacheOptions returns what the manager keeps in memory: only Pods of JobSets, and
// only the fields that are read here. Pods must therefore be patched, never
// updated from the cache.
func CacheOptions(gates.Set) cache.Options {
	agentAccess := fields.OneTermEqualSelector("metadata.name", constants.AgentAccess)
	ofJobSets, err := labels.NewRequirement(jobset.JobSetNameKey, selection.Exists, nil)
	if err != nil {
		panic(err) // the key is a constant
	}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {
				Label:     labels.NewSelector().Add(*ofJobSets),
				Transform: stripPod,
			},
			&corev1.Node{}: {Transform: stripNode},
			// Those of agents have our label; a cluster may have thousands of others.
			&rbacv1.Role{}:        {Label: labels.NewSelector().Add(*ofJobSets)},
			&rbacv1.RoleBinding{}: {Label: labels.NewSelector().Add(*ofJobSets)},
			&admissionregistrationv1.ValidatingAdmissionPolicy{}:        {Field: agentAccess},
			&admissionregistrationv1.ValidatingAdmissionPolicyBinding{}: {Field: agentAccess},
		},
	}
}

// stripPod drops everything from a Pod that decisions, the first cause and exclusive
// placement do not read. What the last one reads is kept only for Pods that are placed exclusively.
func stripPod(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil // a tombstone: its Pod was stripped when it came in
	}
	stripped := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              pod.Name,
			Namespace:         pod.Namespace,
			UID:               pod.UID,
			ResourceVersion:   pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp,
			DeletionTimestamp: pod.DeletionTimestamp,
			OwnerReferences:   pod.OwnerReferences,
			Labels:            pick(pod.Labels, jobset.JobSetNameKey, jobset.JobSetUIDKey),
			Annotations: pick(pod.Annotations, jobset.EpochKey, jobset.WorkerExitKey, jobset.AddressKey, batchv1.JobCompletionIndexAnnotation,
				jobset.ExclusiveKey, jobset.NodeSelectorStrategyKey),
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName, SchedulingGates: pod.Spec.SchedulingGates},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, Reason: pod.Status.Reason},
	}
	stripped.DeletionGracePeriodSeconds = pod.DeletionGracePeriodSeconds
	keepCauses(stripped, pod)
	if pod.Status.Phase != corev1.PodSucceeded && policy.EndedWell(pod) {
		keepGoodEnds(stripped, pod)
	}
	if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
		stripped.Finalizers = []string{batchv1.JobTrackingFinalizer}
	}
	topology, exclusive := placement.Topology(pod)
	if _, ok := pod.Spec.NodeSelector[topology]; ok && exclusive {
		stripped.Spec.NodeSelector = pick(pod.Spec.NodeSelector, topology)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.AllContainersRestarting || c.Type == corev1.DisruptionTarget {
			stripped.Status.Conditions = append(stripped.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
		}
	}
	if pod.Spec.NodeName == "" {
		keepWhyUnscheduled(stripped, pod)
	}
	keepReadiness(stripped, pod)
	keepLostSandbox(stripped, pod)
	keepPulling(stripped, pod)
	return stripped, nil
}

// keepLostSandbox keeps what policy.SandboxGoneSince reads of a Pod that had started and has no sandbox any more (P74). Other
// Pods have no such condition in the cache.
func keepLostSandbox(to, pod *corev1.Pod) {
	since := policy.SandboxGoneSince(pod)
	if since.IsZero() {
		return
	}
	to.Status.Conditions = append(to.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(since),
	})
	if policy.SandboxGoneSince(to).IsZero() { // nothing else that was kept shows that it had started
		to.Status.InitContainerStatuses = append(to.Status.InitContainerStatuses, corev1.ContainerStatus{
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}},
		})
	}
}

// keepPulling keeps what policy.IsPulling reads of a Pod that pulls images (P48).
func keepPulling(to, pod *corev1.Pod) {
	if !policy.IsPulling(pod) {
		return
	}
	to.Status.Conditions = append(to.Status.Conditions, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue})
	to.Status.ContainerStatuses = append(to.Status.ContainerStatuses, corev1.ContainerStatus{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}},
	})
}

// keepWhyUnscheduled keeps why a Pod has no node (P80a).
func keepWhyUnscheduled(to, pod *corev1.Pod) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			to.Status.Conditions = append(to.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Message: policy.CutMessage(c.Message)})
		}
	}
}

// keepReadiness copies the fields that policy.ReadinessOf reads if the Pod is not ready. Most Pods are ready and cost nothing.
func keepReadiness(to, pod *corev1.Pod) {
	readiness, _ := policy.ReadinessOf(pod)
	if readiness == policy.Ready {
		return
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady || c.Type == corev1.ContainersReady && readiness == policy.NodeSilent {
			to.Status.Conditions = append(to.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime})
		}
	}
	if container, reason := policy.BlockedBy(pod); reason != "" {
		to.Status.ContainerStatuses = append(to.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		})
	}
}

// keepGoodEnds keeps the exit codes of the regular containers, all 0: the Pod is about to succeed (P45).
func keepGoodEnds(to, pod *corev1.Pod) {
	to.Spec.Containers, to.Status.ContainerStatuses = nil, nil
	for i := range pod.Spec.Containers {
		to.Spec.Containers = append(to.Spec.Containers, corev1.Container{Name: pod.Spec.Containers[i].Name})
	}
	for i := range pod.Status.ContainerStatuses {
		to.Status.ContainerStatuses = append(to.Status.ContainerStatuses, corev1.ContainerStatus{
			Name:  pod.Status.ContainerStatuses[i].Name,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}},
		})
	}
}

func pick(all map[string]string, keys ...string) map[string]string {
	picked := make(map[string]string, len(keys))
	for _, key := range keys {
		if value, ok := all[key]; ok {
			picked[key] = value
		}
	}
	return picked
}
