/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// A new Pod cannot be scheduled to the nodes that its JobSet avoids (P93): every node selector term that it has gets
//
//	kubernetes.io/hostname NotIn [<hostnames of these nodes>]
//
// and, for each node whose hostname is not known, metadata.name NotIn [<its name>]: a name may be longer than the value
// of a label (P93a). The Job keeps its template, so nothing has to be recreated when a node is avoided, or given up. A
// Pod can only name a JobSet of its own namespace. A JobSet that cannot be read keeps no Pod from being created.

// maxAvoidance bounds what is added to a Pod, in bytes: each term repeats all nodes (P93a). One term needs at most 5 kB.
const maxAvoidance = 64 << 10

// avoidedNode is a node that a Pod keeps away from. host is empty if the label is not known.
type avoidedNode struct{ name, host string }

// avoided returns the nodes that a Pod avoids: those on which its JobSet fails, and those on which it lost workers (P174). One that
// a queue places goes where the queue says (P90a).
func (w *podWebhook) avoided(ctx context.Context, namespace string, pod *corev1.Pod) []avoidedNode {
	name, ofJobSet := pod.Labels[jobset.JobSetNameKey]
	if !ofJobSet || !w.gates.FaultTolerance && !w.gates.InPlaceRestart || placement.PlacedByQueue(&pod.Spec) {
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
	names := policy.AvoidedNodes(js, w.gates, w.now())
	if workerpod.RestartsInPlace(js, w.gates) {
		names = slices.Compact(slices.Sorted(slices.Values(append(names, policy.LostNodes(js)...))))
	}
	nodes := make([]avoidedNode, 0, len(names))
	for _, name := range names {
		nodes = append(nodes, avoidedNode{name: name, host: w.hostname(ctx, name)})
	}
	return nodes
}

// hostname returns the label of a node by which Pods avoid it: some clouds give it another value than the name of the node.
func (w *podWebhook) hostname(ctx context.Context, name string) string {
	node := &corev1.Node{}
	if err := w.reader.Get(ctx, types.NamespacedName{Name: name}, node, client.UnsafeDisableDeepCopy); err != nil {
		return ""
	}
	return node.Labels[corev1.LabelHostname]
}

// away returns the term that keeps Pods off nodes: autoscalers know labels better than fields.
func away(nodes []avoidedNode) corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	var hosts []string
	for _, node := range nodes {
		if node.host != "" {
			hosts = append(hosts, node.host)
			continue
		}
		term.MatchFields = append(term.MatchFields, // the API allows a field one value
			corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpNotIn, Values: []string{node.name}})
	}
	if len(hosts) > 0 {
		term.MatchExpressions = []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpNotIn, Values: hosts}}
	}
	return term
}

// fitting returns as many of the nodes as can be added to that many terms.
func fitting(nodes []avoidedNode, terms int) []avoidedNode {
	for ; len(nodes) > 0; nodes = nodes[:len(nodes)-1] {
		if text, err := json.Marshal(away(nodes)); err == nil && len(text)*terms <= maxAvoidance {
			break
		}
	}
	return nodes
}

// leftOut warns whoever creates a Pod that avoids fewer nodes than its JobSet.
func leftOut(terms, nodes, fitting int) string {
	return fmt.Sprintf("spec.affinity.nodeAffinity: the Pod avoids %d of the %d nodes that its JobSet avoids: they are added to each of its %d "+
		"node selector terms, up to %d bytes in all; use fewer terms", fitting, nodes, terms, maxAvoidance)
}

const nodeAffinity, required = "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"

// avoid appends to the patch what keeps a Pod off nodes, and returns a warning if that would be too much.
func (p *patch) avoid(pod *corev1.Pod, nodes []avoidedNode) (warnings []string) {
	if len(nodes) == 0 {
		return nil
	}
	var has *corev1.NodeAffinity
	if pod.Spec.Affinity != nil {
		has = pod.Spec.Affinity.NodeAffinity
	}
	if has == nil {
		p.add(struct{}{}, "spec", "affinity", nodeAffinity)
	}
	if has == nil || has.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		p.add(corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{away(nodes)}}, "spec", "affinity", nodeAffinity, required)
		return nil
	}
	terms := has.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	fit := fitting(nodes, len(terms))
	if len(fit) < len(nodes) {
		warnings = []string{leftOut(len(terms), len(nodes), len(fit))}
	}
	// Terms are alternatives: one that lacks the expression would let the Pod onto the nodes. An empty one matches none.
	for i, term := range terms {
		if len(term.MatchExpressions)+len(term.MatchFields) > 0 {
			also := away(fit)
			p.require(i, "matchExpressions", len(term.MatchExpressions), also.MatchExpressions)
			p.require(i, "matchFields", len(term.MatchFields), also.MatchFields)
		}
	}
	return warnings
}

// require appends requirements to a list of a node selector term that has so many.
func (p *patch) require(term int, list string, has int, requirements []corev1.NodeSelectorRequirement) {
	path := []string{"spec", "affinity", nodeAffinity, required, "nodeSelectorTerms", strconv.Itoa(term), list}
	switch {
	case len(requirements) == 0:
	case has == 0:
		p.add(requirements, path...)
	default:
		for _, requirement := range requirements {
			p.add(requirement, append(path, "-")...)
		}
	}
}
