/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
)

// restartAllContainersFeature is what a kubelet declares that restarts all
// containers of a Pod when a rule asks for it.
const restartAllContainersFeature = "RestartAllContainersOnContainerExits"

// restartAllContainersSince is the first version whose kubelets do so by default.
var restartAllContainersSince = utilversion.MustParseSemantic("1.36.0-0")

// maxNamed is how many objects an event names at the most.
const maxNamed = 5

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch

// tellOldNodes warns of nodes under the workers whose kubelet is too old to
// restart all containers of a Pod: it ignores the rule in silence, so its
// workers would never come back.
func (r *JobSetReconciler) tellOldNodes(ctx context.Context, js *jobset.JobSet) error {
	owned, err := r.jobs.of(js.UID)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, job := range owned {
		pods, err := r.pods.of(job.UID)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			names[pod.Spec.NodeName] = true
		}
	}
	delete(names, "")
	var old []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		node := &corev1.Node{}
		err := r.client.Get(ctx, types.NamespacedName{Name: name}, node, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading Node %s: %w", name, err)
		}
		if err == nil && !restartsAllContainers(node) {
			old = append(old, fmt.Sprintf("%s (kubelet %s)", name, node.Status.NodeInfo.KubeletVersion))
		}
	}
	if len(old) == 0 || r.memory.complained(js, js.UID, strings.Join(old, ",")) {
		return nil
	}
	r.tell(js, policy.Event{
		Type:   corev1.EventTypeWarning,
		Reason: constants.RestartAllContainersUnsupportedReason,
		Message: fmt.Sprintf("workers do not restart in place on nodes that ignore RestartAllContainers; upgrade them to Kubernetes 1.36 or keep the JobSet off them: %s (%d in all)",
			strings.Join(old[:min(len(old), maxNamed)], ", "), len(old)),
	})
	return nil
}

// restartsAllContainers tells whether a kubelet honours RestartAllContainers: it
// says so, or it is of a version that does. One whose version cannot be read is trusted.
func restartsAllContainers(node *corev1.Node) bool {
	if slices.Contains(node.Status.DeclaredFeatures, restartAllContainersFeature) {
		return true
	}
	version, err := utilversion.ParseSemantic(node.Status.NodeInfo.KubeletVersion)
	return err != nil || version.AtLeast(restartAllContainersSince)
}

// notReadyUnder looks up which nodes are not ready, or gone, under Pods that
// should have stopped by now. It reads nothing unless such Pods may be deleted by force.
func (r *JobSetReconciler) notReadyUnder(ctx context.Context, pods map[types.UID][]*corev1.Pod, now time.Time) (map[string]bool, error) {
	if r.progress.ForcefulDeletion <= 0 {
		return nil, nil
	}
	notReady := map[string]bool{}
	for _, of := range pods {
		for _, pod := range of {
			name := pod.Spec.NodeName
			if _, known := notReady[name]; known || name == "" || pod.DeletionTimestamp == nil || now.Before(pod.DeletionTimestamp.Time) {
				continue
			}
			node := &corev1.Node{}
			err := r.client.Get(ctx, types.NamespacedName{Name: name}, node, client.UnsafeDisableDeepCopy)
			if client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("reading Node %s: %w", name, err)
			}
			notReady[name] = err != nil || !ready(node)
		}
	}
	return notReady, nil
}

func ready(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// stripNode drops all of a Node but what restartsAllContainers reads, and the
// labels: all of them, since any JobSet may name any of them its topology. They
// are a small part of a Node; most of it are its images, conditions and annotations.
func stripNode(obj any) (any, error) {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return obj, nil // a tombstone: its Node was stripped when it came in
	}
	stripped := &corev1.Node{}
	stripped.Name, stripped.UID, stripped.ResourceVersion = node.Name, node.UID, node.ResourceVersion
	stripped.Labels = node.Labels
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			stripped.Status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	stripped.Status.NodeInfo.KubeletVersion = node.Status.NodeInfo.KubeletVersion
	stripped.Status.DeclaredFeatures = node.Status.DeclaredFeatures
	return stripped, nil
}
