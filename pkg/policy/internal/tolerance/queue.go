/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// What the topology of a queue has placed is the queue's (P90a): a Pod that is deleted comes back with the same node selector, so
// one that is moved would have no node, and one that avoids its node neither.

// unplacedFor is how long a Pod that a queue has placed may wait for the scheduler before that is told.
const unplacedFor = time.Minute

// LeftToQueue tells which nodes Pods would leave or avoid if a queue had not placed them there.
func LeftToQueue(v *view.View, before pass.Result) pass.Result {
	if v.Terminal(&before) {
		return pass.Result{}
	}
	var left []string
	if len(v.Move.Queued) > 0 {
		m := view.Move{Nodes: v.Move.Queued}
		left = append(left, fmt.Sprintf("Pods run%s with a label of effect NoExecute and are not moved", m.Where()))
	}
	if nodes := unavoided(v); len(nodes) > 0 {
		left = append(left, fmt.Sprintf("restarts keep beginning on %s, which new Pods do not avoid", view.FirstOf(nodes)))
	}
	pods, next := refusedByNode(v)
	if len(pods) > 0 {
		left = append(left, fmt.Sprintf("%d Pods cannot run where they are to: %s", len(pods), view.PodNames(pods)))
	}
	if len(left) == 0 {
		return pass.RequeueAfter(next)
	}
	return pass.RequeueAfter(next).And(pass.Once(constants.PlacedByQueueReason, fmt.Sprintf("%s: a queue chose the nodes (scheduling gate %s), and only the queue may choose others; "+
		"cordon the nodes, then deactivate the workload of the queue and activate it again", strings.Join(left, "; "), constants.QueueTopologyGate)))
}

// refusedByNode returns the Pods that a queue has placed and the scheduler has not, for a minute, and how long until the next of them
// has waited as long. A reset gives them the same node.
func refusedByNode(v *view.View) (late []*facts.Member, next time.Duration) {
	if v.Finished || v.SuspendWanted() || !placement.HasPodsPlacedByQueue(v.JobSet) {
		return nil, 0
	}
	var pods []*facts.Member
	for _, job := range pass.WithoutTerminating(v.Observed.Active...) {
		if !placement.PlacedByQueue(&job.Spec.Template.Spec) {
			continue
		}
		for _, pod := range v.Pods[job.UID] {
			if pod.Live() && pod.Unscheduled != "" && !pod.Gated {
				pods = append(pods, pod)
			}
		}
	}
	return view.Due(view.SortByName(pods), func(pod *facts.Member) time.Duration { return v.Left(unplacedFor, pod.Created()) })
}

// unavoided returns the nodes that this JobSet would avoid (P93) if a queue did not place its Pods.
func unavoided(v *view.View) []string {
	asked := jobs.AsksToAvoid(v)
	if asked == nil || !placement.HasPodsPlacedByQueue(v.JobSet) {
		return nil
	}
	failures, within := tolerance.Avoidance(asked)
	nodes := map[string]bool{}
	for _, n := range jobs.NodeFailuresOf(v.JobSet) {
		if len(n.Times) >= failures && v.Now.Before(n.Times[0].Add(within)) {
			nodes[n.Node] = true
		}
	}
	return slices.Sorted(maps.Keys(nodes))
}
