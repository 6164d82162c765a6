/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"sigs.k8s.io/jobset/pkg/facts"
)

// GroupState is what the Jobs and Pods of the current attempt add up to (P10). Its Pods are looked at
// once in a pass; what a step asks besides is folded from the slots.
type GroupState struct {
	// Jobs are those that have slots.
	Jobs []JobSlots
	// Size is the number of slots.
	Size int64
	// Members are the slots with a live Pod, Reported those whose Pod reports S+1, Leaving those
	// whose Pod has not gone yet, Unscheduled those whose Pod has no node and has not reported.
	Members, Reported, Leaving, Unscheduled int64
	// preparing are Pods that have not reported and may have to be prepared first (P48a).
	preparing []*facts.Member
	// Crowded: a slot holds several live Pods.
	Crowded bool
	// Lacking is the first Job that lacks a worker, nil if none does.
	Lacking *JobSlots
	// Failing: a Job is about to fail, so the failure policy comes first.
	Failing bool
	// Success is a worker that succeeded in this round, if there is one (P17).
	Success roundSuccess
	// Outsiders are Pods that have not ended, of an index that their Job has no more because it was
	// made smaller. They are no members, but their agents would start their workers at a lift all the
	// same, and a worker that stops may not have left the epoch before (P47).
	Outsiders []*facts.Member
}

// count adds up the slots of a Job.
func (g *GroupState) count(j *JobSlots, synced int32) {
	doneCount, members, leaving := j.Done.Size(), int64(0), int64(0)
	for i := range j.Slots {
		switch slot := &j.Slots[i]; slot.State {
		case SlotDone:
			doneCount++
			g.Success.addIndex(j.Job, int64(slot.Index))
		case SlotLeaving:
			leaving++
		case SlotMember:
			members++
			g.Crowded = g.Crowded || slot.Crowded
			switch {
			case slot.Reports(synced):
				g.Reported++
			case slot.Pod.Node == "":
				g.Unscheduled++
			case slot.Pod.Preparation != facts.Prepared:
				g.preparing = append(g.preparing, slot.Pod)
			}
		}
	}
	g.Size += j.Indexes - doneCount
	g.Members += members
	g.Leaving += leaving
	if j.lost = j.Indexes - doneCount - members - leaving; g.Lacking == nil && j.lost > 0 {
		g.Lacking = j
	}
}

// Reports reports whether the Pod of a slot is live and at S+1.
func (s *Slot) Reports(synced int32) bool {
	return s.State == SlotMember && int64(s.Epoch) == int64(synced)+1
}

// Pods returns the Pods of the group that match, several of a slot if it is crowded, by name.
func (g *GroupState) Pods(match func(*Slot) bool) []*facts.Member {
	var found []*facts.Member
	for i := range g.Jobs {
		for _, slots := range [][]Slot{g.Jobs[i].Slots, g.Jobs[i].beside} {
			for k := range slots {
				if slots[k].State != SlotDone && match(&slots[k]) {
					found = append(found, slots[k].Pod)
				}
			}
		}
	}
	return SortByName(found)
}
