/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
)

// CacheOptions says what the manager keeps in memory: of Pods, only those of
// JobSets, and of them only what is read here. So Pods are patched, never
// updated from the cache.
func CacheOptions(gates.Set) cache.Options {
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
		},
	}
}

// stripPod drops all of a Pod but what decisions, the first cause and exclusive
// placement read. The last costs only Pods that are placed exclusively.
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
			Annotations: pick(pod.Annotations, jobset.EpochKey, batchv1.JobCompletionIndexAnnotation,
				jobset.ExclusiveKey, jobset.NodeSelectorStrategyKey),
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, Reason: pod.Status.Reason},
	}
	keepCauses(stripped, pod)
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
	return stripped, nil
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
