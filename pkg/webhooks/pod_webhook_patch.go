/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/placement"
)

// addition is an operation of a JSON patch. Its kind is always "add", which
// replaces the value of a key that exists.
type addition struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// escape escapes a key for a JSON pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// patch is a list of additions, applied in order.
type patch []addition

func (p *patch) add(value any, path ...string) {
	for i, token := range path {
		path[i] = escape.Replace(token)
	}
	*p = append(*p, addition{Op: "add", Path: "/" + strings.Join(path, "/"), Value: value})
}

// podPatch turns a mutation, and the nodes to avoid, into a JSON patch. It contains only what is added, so
// fields that this version does not know survive.
func podPatch(pod *corev1.Pod, m placement.Mutation, avoided []avoidedNode) (p patch, warnings []string) {
	if m.Priority != nil {
		if pod.Labels == nil {
			p.add(struct{}{}, "metadata", "labels")
		}
		p.add(*m.Priority, "metadata", "labels", placement.PriorityKey)
	}
	if m.Domain != nil {
		if pod.Spec.NodeSelector == nil {
			p.add(struct{}{}, "spec", "nodeSelector")
		}
		p.add(m.Domain.Value, "spec", "nodeSelector", m.Domain.Key)
	}
	if pod.Spec.Affinity == nil && (m.Attract != nil || len(avoided) > 0) {
		p.add(struct{}{}, "spec", "affinity")
	}
	warnings = p.avoid(pod, avoided)
	if m.Attract == nil {
		return p, warnings
	}
	affinity := ptr.Deref(pod.Spec.Affinity, corev1.Affinity{})
	attract, repel := affinity.PodAffinity, affinity.PodAntiAffinity
	p.addTerm("podAffinity", attract != nil, attract != nil && len(attract.RequiredDuringSchedulingIgnoredDuringExecution) > 0, m.Attract)
	p.addTerm("podAntiAffinity", repel != nil, repel != nil && len(repel.RequiredDuringSchedulingIgnoredDuringExecution) > 0, m.Repel)
	return p, warnings
}

// addTerm appends a term to the required terms of an affinity, and creates what does not exist yet.
func (p *patch) addTerm(kind string, exists, hasTerms bool, term *corev1.PodAffinityTerm) {
	if !exists {
		p.add(struct{}{}, "spec", "affinity", kind)
	}
	if !hasTerms {
		p.add([]struct{}{}, "spec", "affinity", kind, required)
	}
	p.add(term, "spec", "affinity", kind, required, "-")
}
