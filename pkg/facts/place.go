/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Place is what exclusive placement reads of a Pod.
type Place struct {
	// Exclusive: its Job has a topology domain for itself, by affinity or on nodes that were labelled beforehand.
	Exclusive bool
	// Topology is the node label whose values are the domains, empty unless it is placed by affinity.
	Topology string
	// Domain is the one that it selects, nil if none.
	Domain *string
	// Leads: it is the first of its Job, whose domain the others share.
	Leads bool
	// Disrupted: it says that it is being disrupted, for whatever reason.
	Disrupted bool
}

func placeOf(pod *corev1.Pod) Place {
	p := Place{Leads: Leads(pod), Disrupted: isTrue(pod, corev1.DisruptionTarget)}
	_, p.Exclusive = pod.Annotations[jobset.ExclusiveKey]
	if topology, exclusive := Topology(pod); exclusive {
		p.Topology = topology
		if domain, ok := pod.Spec.NodeSelector[topology]; ok {
			p.Domain = &domain
		}
	}
	return p
}

// InDomain reports whether it selects a domain.
func (p *Place) InDomain(domain string) bool { return p.Domain != nil && *p.Domain == domain }

// Topology returns the node label whose values are the domains, for a Pod that is placed exclusively by affinity. Pods on nodes
// labelled beforehand are not.
func Topology(pod *corev1.Pod) (key string, exclusive bool) {
	if _, reserved := pod.Annotations[jobset.NodeSelectorStrategyKey]; reserved {
		return "", false
	}
	key, exclusive = pod.Annotations[jobset.ExclusiveKey]
	return key, exclusive
}

// Leads reports whether a Pod is the first of its Job.
func Leads(pod *corev1.Pod) bool { return pod.Annotations[batchv1.JobCompletionIndexAnnotation] == "0" }

// Live reports whether a Pod holds its place, or will.
func (m *Member) Live() bool { return !m.Terminating() && !m.Ended() }
