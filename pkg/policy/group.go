/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"sigs.k8s.io/jobset/pkg/facts"
)

// groupState is what the Jobs and Pods of the current attempt add up to (P10). Its Pods are looked at
// once in a pass; what a step asks besides is folded from the slots.
type groupState struct {
	// jobs are those that have slots.
	jobs []jobSlots
	// size is the number of slots.
	size int64
	// members are the slots with a live Pod, reported those whose Pod reports S+1, leaving those
	// whose Pod has not gone yet, unscheduled those whose Pod has no node and has not reported.
	members, reported, leaving, unscheduled int64
	// preparing are Pods that have not reported and may have to be prepared first (P48a).
	preparing []*facts.Member
	// crowded: a slot holds several live Pods.
	crowded bool
	// lacking is the first Job that lacks a worker, nil if none does.
	lacking *jobSlots
	// failing: a Job is about to fail, so the failure policy comes first.
	failing bool
	// success is a worker that succeeded in this round, if there is one (P17).
	success roundSuccess
	// outsiders are Pods that have not ended, of an index that their Job has no more because it was
	// made smaller. They are no members, but their agents would start their workers at a lift all the
	// same, and a worker that stops may not have left the epoch before (P47).
	outsiders []*facts.Member
}

// count adds up the slots of a Job.
func (g *groupState) count(j *jobSlots, synced int32) {
	doneCount, members, leaving := j.done.size(), int64(0), int64(0)
	for i := range j.slots {
		switch slot := &j.slots[i]; slot.State {
		case slotDone:
			doneCount++
			g.success.addIndex(j.Job, int64(slot.Index))
		case SlotLeaving:
			leaving++
		case SlotMember:
			members++
			g.crowded = g.crowded || slot.Crowded
			switch {
			case slot.reports(synced):
				g.reported++
			case slot.Pod.Node == "":
				g.unscheduled++
			case slot.Pod.Preparation != facts.Prepared:
				g.preparing = append(g.preparing, slot.Pod)
			}
		}
	}
	g.size += j.size - doneCount
	g.members += members
	g.leaving += leaving
	if j.lost = j.size - doneCount - members - leaving; g.lacking == nil && j.lost > 0 {
		g.lacking = j
	}
}

// reports reports whether the Pod of a slot is live and at S+1.
func (s *Slot) reports(synced int32) bool {
	return s.State == SlotMember && int64(s.Epoch) == int64(synced)+1
}

// pods returns the Pods of the group that match, several of a slot if it is crowded, by name.
func (g *groupState) pods(match func(*Slot) bool) []*facts.Member {
	var found []*facts.Member
	for i := range g.jobs {
		for _, slots := range [][]Slot{g.jobs[i].slots, g.jobs[i].beside} {
			for k := range slots {
				if slots[k].State != slotDone && match(&slots[k]) {
					found = append(found, slots[k].Pod)
				}
			}
		}
	}
	return sortByName(found)
}
