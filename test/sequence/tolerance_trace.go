/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "fmt"

func (e *encoder) tolerated(v *tolerated) {
	e.byte(int8(v.deployed), int8(v.unhealthy), int8(v.reset), v.complete)
	for i := range v.nodes {
		n := &v.nodes[i]
		e.byte(n.failures, int8(n.avoided), int8(n.givenUp))
		e.bits(n.old)
	}
}

func (e *encoder) cause(c *cause) {
	e.byte(c.epoch, c.node)
	e.bits(c.deleted)
}

// marks shows what a status remembers of fault tolerance: Q while ResourcesDeployed is True, u and U while it is
// unhealthy and for how long, how far a reset is, and which nodes are avoided or were given up.
func (v tolerated) marks() string {
	marks := [...]string{absent: "", isTrue: "Q", isFalse: "q"}[v.deployed]
	marks += [...]string{healthy: "", troubled: "u", troubledLong: "U"}[v.unhealthy]
	marks += [...]string{noReset: "", deleting: " reset", retryPause: " pause", retryPaused: " paused"}[v.reset]
	for i, n := range v.nodes {
		if n.failures > 0 {
			marks += fmt.Sprintf(" %s:%d", nodeName(int8(i+1)), n.failures)
		}
		marks += map[bool]string{true: " avoids " + nodeName(int8(i+1))}[n.avoided > never] + map[bool]string{true: " gave up " + nodeName(int8(i+1))}[n.givenUp > never]
	}
	if marks != "" {
		return " " + marks
	}
	return ""
}

// describeTolerance says what a step was, "" if it is none of fault tolerance or of a planner.
func describeTolerance(was *world, s step) string {
	switch s.kind {
	case retryPauseEnds:
		return "clock: the pause after a reset is over"
	case jobAges:
		return "clock: another of the times of " + was.jobText(s.uid) + " is up"
	case troubleLasts:
		return "clock: the JobSet has been unhealthy for long"
	case placeIsLate:
		return "clock: a Pod has found no node for long"
	case dayPasses:
		return "clock: a day passes"
	case moveEnds:
		return "clock: no more nodes were marked for a second"
	case jobWakes:
		return "Job controller: starts " + was.jobText(s.uid)
	case jobSleeps:
		return "Job controller: sees that " + was.jobText(s.uid) + " is suspended"
	case jobIsDeleted:
		return "USER: deletes Job " + was.jobText(s.uid)
	case replan:
		sizes := was.planned(s)
		return fmt.Sprintf("PLANNER: sizes become %v", sizes[:len(was.sc.rjobs)])
	case nodeDies, markNode, unmarkNode:
		name := was.podText(&was.pods[was.podAt(s.uid)])
		return map[stepKind]string{nodeDies: "NODE DIES with ", markNode: "NODE IS MARKED under ", unmarkNode: "NODE IS WELL again under "}[s.kind] + name
	}
	return ""
}
