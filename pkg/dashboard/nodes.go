/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/restarts"
)

// mostNodes bounds the table of nodes.
const mostNodes = 50

const (
	notReady = "NotReady"
	gone     = "Gone"
)

// Node is one on which restarts had their first cause, or one that does not work and has workers that are not back.
type Node struct {
	Name string `json:"name"`
	// State is Ready, NotReady, Cordoned or Gone; empty if nodes could not be read.
	State string `json:"state,omitempty"`
	// Marks are the labels that call it sick.
	Marks []string `json:"marks,omitempty"`
	// Failures are the restarts whose first cause was on it, Last is when the last of them began.
	Failures int          `json:"failures"`
	Last     *metav1.Time `json:"last,omitempty"`
	// Avoided is how many JobSets avoid it (P93).
	Avoided int `json:"avoided,omitempty"`
	// Trouble are the workers on it that are not back, or do not run.
	Trouble int `json:"trouble"`
	// JobSets are those that failed there, or have such workers.
	JobSets []string `json:"jobSets"`
}

// nodesOf lists the nodes with the most first causes first.
func nodesOf(jobSets []*JobSet, nodes []corev1.Node, unread error) []Node {
	byName, silent := map[string]*Node{}, map[string]bool{}
	var failures []restarts.NodeFailure
	of := func(name, jobSet string) *Node {
		if byName[name] == nil {
			byName[name] = &Node{Name: name}
		}
		if n := byName[name]; !slices.Contains(n.JobSets, jobSet) {
			n.JobSets = append(n.JobSets, jobSet)
		}
		return byName[name]
	}
	for _, js := range jobSets {
		failures = append(failures, js.failures...)
		for i := range js.Cells {
			if c := &js.Cells[i]; c.Node != "" && c.State != restarts.Working && c.State != restarts.Succeeded && c.State != restarts.HeldAtBarrier {
				of(c.Node, js.Summary.ID).Trouble++
				silent[c.Node] = silent[c.Node] || c.State == restarts.NodeSilent
			}
		}
	}
	for _, failing := range restarts.FailingNodes(failures) {
		for _, id := range failing.JobSets {
			of(failing.Name, id)
		}
		n := byName[failing.Name]
		n.Failures, n.Last, n.Avoided = len(failing.Failures), failing.Failures[0].Time, len(failing.AvoidedBy)
	}
	if unread == nil {
		describe(byName, nodes)
	}
	var list []Node
	for _, n := range byName {
		// While a group restarts, every node has workers that are not back: that is not the node's fault.
		if n.Failures > 0 || silent[n.Name] || n.State == notReady || n.State == gone || len(n.Marks) > 0 {
			list = append(list, *n)
		}
	}
	slices.SortFunc(list, func(a, b Node) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(b.Trouble, a.Trouble), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), mostNodes)]
}

// describe says how the nodes are.
func describe(byName map[string]*Node, nodes []corev1.Node) {
	for _, n := range byName {
		n.State = gone
	}
	rules := nodehealth.DefaultRules()
	for i := range nodes {
		n := byName[nodes[i].Name]
		if n == nil {
			continue
		}
		n.State = notReady
		switch ready := facts.OfNode(&nodes[i]).Ready; {
		case ready && nodes[i].Spec.Unschedulable:
			n.State = "Cordoned"
		case ready:
			n.State = "Ready"
		}
		for _, mark := range rules.Marks(nodes[i].Labels) {
			n.Marks = append(n.Marks, mark.String())
		}
	}
}
