/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/nodehealth"
)

func indexJobs(ctx context.Context, c cache.Cache) (shared.Indexed[*batchv1.Job], error) {
	return shared.IndexKind(ctx, c, &batchv1.Job{}, constants.JobsIndexByJobSetKey, func(job *batchv1.Job) []string {
		return shared.ControllerKey(job, jobset.GroupVersion.String(), jobset.Kind)
	})
}

// indexPodsByJobSet finds the Pods of a JobSet, those whose Job is gone too.
func indexPodsByJobSet(ctx context.Context, c cache.Cache) (shared.Indexed[*facts.Member], error) {
	return shared.IndexKind(ctx, c, &corev1.Pod{}, constants.PodsIndexByJobSetKey, shared.ByJobSetLabel)
}

// indexPodsByNode finds the Pods of a node.
func indexPodsByNode(ctx context.Context, c cache.Cache) (shared.Indexed[*facts.Member], error) {
	return shared.IndexKind(ctx, c, &corev1.Pod{}, constants.PodsIndexByNode, byNode)
}

func byNode(pod *facts.Member) []string {
	if pod.Node == "" {
		return nil
	}
	return []string{pod.Node}
}

// markedNodes is the only key of the index of nodes that Pods are moved off.
const markedNodes = "marked"

// indexMarkedNodes finds the nodes that Pods are moved off: few of thousands, so a pass does not look at the others.
func indexMarkedNodes(ctx context.Context, c cache.Cache, rules nodehealth.Rules) (shared.Indexed[*corev1.Node], error) {
	return shared.IndexKind(ctx, c, &corev1.Node{}, constants.MarkedNodesIndex, marks(rules))
}

func marks(rules nodehealth.Rules) func(*corev1.Node) []string {
	return func(node *corev1.Node) []string {
		if len(rules.Marks(node.Labels)) == 0 {
			return nil
		}
		return []string{markedNodes}
	}
}
