/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
)

// A new Pod cannot be scheduled to the nodes that its JobSet avoids (P93): every node selector term that it has gets
//
//	kubernetes.io/hostname NotIn [<hostnames of these nodes>]
//
// The Job keeps its template, so nothing has to be recreated when a node is avoided, or given up. A Pod can only name a
// JobSet of its own namespace. A JobSet, or a node, that cannot be read keeps no Pod from being created.

// avoided returns the hostnames that a Pod avoids.
func (w *podWebhook) avoided(ctx context.Context, namespace string, pod *corev1.Pod) []string {
	name, ofJobSet := pod.Labels[jobset.JobSetNameKey]
	if !ofJobSet || !w.gates.FaultTolerance {
		return nil
	}
	js := &jobset.JobSet{}
	if err := w.reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, js, client.UnsafeDisableDeepCopy); err != nil {
		if client.IgnoreNotFound(err) != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Reading the JobSet of a new Pod; the Pod avoids no nodes", "jobSet", name)
		}
		return nil
	}
	if uid := pod.Labels[jobset.JobSetUIDKey]; uid != string(js.UID) {
		return nil
	}
	nodes := policy.AvoidedNodes(js, w.gates, w.now())
	hosts := make([]string, 0, len(nodes))
	for _, name := range nodes {
		hosts = append(hosts, w.hostname(ctx, name))
	}
	return hosts
}

// hostname returns the label of a node by which Pods avoid it: some clouds give it another value than the name of the node.
func (w *podWebhook) hostname(ctx context.Context, name string) string {
	node := &corev1.Node{}
	if err := w.reader.Get(ctx, types.NamespacedName{Name: name}, node, client.UnsafeDisableDeepCopy); err == nil {
		if label := node.Labels[corev1.LabelHostname]; label != "" {
			return label
		}
	}
	return name
}

// avoid appends to the patch what keeps a Pod off nodes.
func (p *patch) avoid(pod *corev1.Pod, hosts []string) {
	if len(hosts) == 0 {
		return
	}
	const kind, required = "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
	away := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpNotIn, Values: hosts}
	var has *corev1.NodeAffinity
	if pod.Spec.Affinity != nil {
		has = pod.Spec.Affinity.NodeAffinity
	}
	if has == nil {
		p.add(struct{}{}, "spec", "affinity", kind)
	}
	if has == nil || has.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		p.add(corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{away},
		}}}, "spec", "affinity", kind, required)
		return
	}
	// Terms are alternatives: one that lacks the expression would let the Pod onto the nodes. An empty one matches none.
	for i, term := range has.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		path := []string{"spec", "affinity", kind, required, "nodeSelectorTerms", strconv.Itoa(i), "matchExpressions"}
		switch {
		case len(term.MatchExpressions) > 0:
			p.add(away, append(path, "-")...)
		case len(term.MatchFields) > 0:
			p.add([]corev1.NodeSelectorRequirement{away}, slices.Clone(path)...)
		}
	}
}
