/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Transient ends messages about problems that go away by themselves: the creator of the Pod retries.
const Transient = "this is an expected, transient error"

// Domain is a topology domain: a node label and the value that its nodes share.
type Domain struct{ Key, Value string }

// DomainOf returns the domain of a node.
func DomainOf(node *corev1.Node, topology string) (Domain, error) {
	value, ok := node.Labels[topology]
	if !ok {
		return Domain{}, fmt.Errorf("node does not have topology label: %s", topology)
	}
	return Domain{Key: topology, Value: value}, nil
}

// Mutation is what admission adds to a new Pod. The zero value adds nothing.
type Mutation struct {
	// Priority is the value of label PriorityKey.
	Priority *string
	// Attract and Repel are required terms for Pod affinity and anti-affinity.
	Attract, Repel *corev1.PodAffinityTerm
	// Domain is an entry of the node selector.
	Domain *Domain
}

// Spot is where a follower goes. The zero value says that it is not known yet.
type Spot struct {
	// Domain is that of its leader, or of the rest of its Job.
	Domain *Domain
	// Leads: no other Pod of the Job holds a domain, so it keeps other Jobs out as a leader does.
	Leads bool
}

// Mutate decides what a new Pod needs. For a follower, it takes where that goes.
func Mutate(pod *corev1.Pod, to Spot) Mutation {
	var m Mutation
	if !OfJobSet(pod) {
		return m
	}
	if pod.Spec.Priority != nil {
		label := PriorityLabel(*pod.Spec.Priority)
		m.Priority = &label
	}
	topology, exclusive := facts.Topology(pod)
	if exclusive && (facts.Leads(pod) || to.Leads) {
		priority := m.Priority
		if label, ok := pod.Labels[PriorityKey]; ok && priority == nil {
			priority = &label
		}
		m.Attract, m.Repel = leaderTerms(topology, pod.Labels[jobset.JobKey], priority)
	}
	if exclusive && !facts.Leads(pod) {
		m.Domain = to.Domain
	}
	return m
}

// ValidateFollower returns why a follower must not be created yet. It takes what
// FindLeader returned.
func ValidateFollower(follower *corev1.Pod, leader *facts.Member, lookup error) error {
	topology, _ := facts.Topology(follower)
	why := lookup
	if why == nil && leader.Node == "" {
		why = errors.New("leader pod not yet scheduled, not creating follower pod. " + Transient)
	}
	if _, ok := follower.Spec.NodeSelector[topology]; ok {
		return why
	}
	// There is no selector, since there was no domain to select; say why not.
	if why == nil {
		why = fmt.Errorf("leader pod %q was scheduled just now. %s", leader.Name, Transient)
	}
	if follower.Spec.NodeSelector == nil {
		return fmt.Errorf("follower pod node selector not set: %w", why)
	}
	return fmt.Errorf("follower pod node selector for topology domain not found. missing selector: %s: %w", topology, why)
}
