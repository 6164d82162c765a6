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
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// restartAllContainersFeature is declared by kubelets that restart all
// containers of a Pod when a rule asks for it.
const restartAllContainersFeature = "RestartAllContainersOnContainerExits"

// restartAllContainersSince is the first version whose kubelets do so by default.
var restartAllContainersSince = utilversion.MustParseSemantic("1.36.0-0")

// maxNamed is how many objects an event names at the most.
const maxNamed = 5

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch

// tellOldNodes warns about nodes of the workers whose kubelet is too old to
// restart all containers of a Pod. It silently ignores the rule, so its
// workers never come back. In process mode no rule asks for it.
func (r *JobSetReconciler) tellOldNodes(ctx context.Context, js *jobset.JobSet) error {
	if workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ProcessMode {
		return nil
	}
	owned, err := r.jobs.controlledBy(js.Namespace, js.UID)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, job := range owned {
		pods, err := r.pods.controlledBy(job.Namespace, job.UID)
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
	if len(old) == 0 || !r.memory.forJobSet(js).reported.changed(js.UID, strings.Join(old, ",")) {
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

// restartsAllContainers reports whether a kubelet honours RestartAllContainers: it
// declares so, or its version does. A kubelet whose version cannot be parsed is trusted.
func restartsAllContainers(node *corev1.Node) bool {
	if slices.Contains(node.Status.DeclaredFeatures, restartAllContainersFeature) {
		return true
	}
	version, err := utilversion.ParseSemantic(node.Status.NodeInfo.KubeletVersion)
	return err != nil || version.AtLeast(restartAllContainersSince)
}

// notReadyUnder returns which nodes of Pods that should have stopped by now are not ready,
// or gone. It reads nothing unless such Pods may be force-deleted.
func (r *JobSetReconciler) notReadyUnder(ctx context.Context, pods map[types.UID][]*corev1.Pod, now time.Time) (map[string]bool, error) {
	if r.progress.ForcefulDeletion <= 0 {
		return nil, nil
	}
	notReady := map[string]bool{}
	for _, podsOfJob := range pods {
		for _, pod := range podsOfJob {
			name := pod.Spec.NodeName
			if _, seen := notReady[name]; seen || name == "" || pod.DeletionTimestamp == nil || now.Before(pod.DeletionTimestamp.Time) {
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

// stripNode keeps of a Node only its labels and what restartsAllContainers and ready read.
// It keeps all labels, since a JobSet may use any of them as its topology. Most of the size of
// a Node is in its images, conditions and annotations.
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
