/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// What the topology of a queue has placed is the queue's (P90a): a Pod that is deleted comes back with the same node selector, so
// one that is moved would have no node, and one that avoids its node neither.

// leftToQueue tells which nodes Pods would leave or avoid if a queue had not placed them there.
func leftToQueue(v *view, before result) result {
	if before.terminal(v) {
		return result{}
	}
	var left []string
	if len(v.move.queued) > 0 {
		m := move{nodes: v.move.queued}
		left = append(left, fmt.Sprintf("Pods run%s with a label of effect NoExecute and are not moved", m.where()))
	}
	if nodes := v.unavoided(); len(nodes) > 0 {
		left = append(left, fmt.Sprintf("restarts keep beginning on %s, which new Pods do not avoid", firstOf(nodes)))
	}
	if len(left) == 0 {
		return result{}
	}
	return once(constants.PlacedByQueueReason, fmt.Sprintf("%s: a queue chose the nodes (scheduling gate %s), and only the queue may choose others; "+
		"cordon the nodes, then deactivate the workload of the queue and activate it again", strings.Join(left, "; "), constants.QueueTopologyGate))
}

// unavoided returns the nodes that this JobSet would avoid (P93) if a queue did not place its Pods.
func (v *view) unavoided() []string {
	asked := v.asksToAvoid()
	if asked == nil || !placement.HasPodsPlacedByQueue(v.JobSet) {
		return nil
	}
	failures, within := tolerance.Avoidance(asked)
	nodes := map[string]bool{}
	for _, n := range nodeFailuresOf(v.JobSet) {
		if len(n.Times) >= failures && v.Now.Before(n.Times[0].Add(within)) {
			nodes[n.Node] = true
		}
	}
	return slices.Sorted(maps.Keys(nodes))
}
