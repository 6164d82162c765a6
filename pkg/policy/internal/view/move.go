/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"fmt"
	"slices"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/nodehealth"
)

// Move are the Pods of the current attempt that run on nodes where a resource that they use is sick.
type Move struct {
	// Pods are in the order of their names.
	Pods []*facts.Member
	// Nodes are those that they run on, by name, with the first mark of each.
	Nodes map[string]nodehealth.Mark
	// ByReset is why they cannot be moved in place, "" if they can.
	ByReset string
	// Queued are the nodes that Pods would have to leave if a queue had not placed them there (P90a).
	Queued map[string]nodehealth.Mark
}

// None reports whether no Pod has to move.
func (m *Move) None() bool { return len(m.Pods) == 0 }

// String says which Pods have to move, and why.
func (m *Move) String() string {
	return fmt.Sprintf("%d Pods run on %d nodes with a label of effect NoExecute: %s%s", len(m.Pods), len(m.Nodes), PodNames(m.Pods), m.Where())
}

// Where says on which nodes, and because of what.
func (m *Move) Where() string {
	names := make([]string, 0, len(m.Nodes))
	for node, mark := range m.Nodes {
		names = append(names, fmt.Sprintf("%s (%s)", node, mark))
	}
	slices.Sort(names)
	return " on " + FirstOf(names)
}
