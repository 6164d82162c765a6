/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// WorkerSlot is one slot of the group (P10) and what stands in it, for those who
// tell users who is missing. Decisions count slots and never list them.
type WorkerSlot struct {
	Job   *batchv1.Job
	Index int64
	// State is what the controller makes of the slot.
	State SlotState
	// Pod is the member, else the Pod that leaves, else one that is nothing any
	// more, such as a Failed one that waits to be replaced; nil if there is none.
	Pod *corev1.Pod
	// Epoch is what that Pod reported, 0 if nothing; Invalid: its annotation is not an epoch (P12).
	Epoch   int32
	Invalid bool
	// Crowded: several live Pods stand in the slot, so the barrier is not lifted.
	Crowded bool
	// Back: the worker stands where its group is to stand, at S+1 while the group
	// assembles and at S while it runs.
	Back bool
}

// SlotState is what stands in a slot.
type SlotState string

const (
	// SlotMember: a live Pod.
	SlotMember SlotState = "Member"
	// SlotLeaving: a Pod inside its termination grace, or a Failed one that the Job controller has not counted yet.
	SlotLeaving SlotState = "Leaving"
	// SlotLost: neither. A group that runs breaks.
	SlotLost SlotState = "Lost"
)

// WorkerSlots lists the slots of the group, Jobs in the order of their names.
//
// It has no rules of its own: the controller's count of a Job is asked about one
// slot at a time, all others declared done. So it cannot tell anything else than
// what decisions go by.
func WorkerSlots(in Input) ([]WorkerSlot, error) {
	observed, err := Observe(in.JobSet, in.Jobs, in.Gates)
	if err != nil {
		return nil, err
	}
	deprecated, synced := (&decision{in: in}).epochs()
	var slots []WorkerSlot
	for _, job := range observed.Active {
		size := sizeOf(job)
		done := parseIndexes(job.Status.CompletedIndexes, size)
		pods := map[int64][]*corev1.Pod{}
		for _, pod := range in.Pods[job.UID] {
			if index, ok := completionIndex(pod, size); ok {
				pods[index] = append(pods[index], pod)
			}
		}
		for index := range size {
			if done.has(index) {
				continue
			}
			slot, exists := workerSlot(job, index, size, pods[index], synced, in.Now)
			if !exists {
				continue
			}
			standing := int64(slot.Epoch) == int64(synced)+1
			if deprecated < synced {
				standing = slot.Epoch == synced
			}
			slot.Back = slot.State == SlotMember && !slot.Crowded && standing
			slots = append(slots, slot)
		}
	}
	return slots, nil
}

// workerSlot looks at one slot of a Job. It tells whether the slot is still to run.
func workerSlot(job *batchv1.Job, index, size int64, pods []*corev1.Pod, synced int32, now time.Time) (WorkerSlot, bool) {
	alone := *job
	alone.Status.CompletedIndexes = allBut(index, size)
	var g group
	g.addJob(&alone, pods, synced, now)
	if g.slots == 0 {
		return WorkerSlot{}, false
	}
	found := WorkerSlot{Job: job, Index: index, State: SlotLost, Crowded: g.crowded}
	switch {
	case g.members > 0:
		found.State = SlotMember
	case g.leaving > 0:
		found.State = SlotLeaving
	}
	var rank int
	for _, pod := range pods {
		if r := standingOf(pod, synced, now); found.Pod == nil || r > rank || r == rank && newer(pod, found.Pod) {
			found.Pod, rank = pod, r
		}
	}
	if found.Pod != nil {
		epoch, valid := reportedEpoch(found.Pod)
		found.Epoch, found.Invalid = epoch, !valid
	}
	return found, true
}

// standingOf ranks the Pods of one slot: a member stands before one that leaves, that before one that is nothing.
func standingOf(pod *corev1.Pod, synced int32, now time.Time) int {
	var g group
	switch g.addPod(pod, 0, synced, now) {
	case slotMember:
		return 2
	case slotLeaving:
		return 1
	default:
		return 0
	}
}

// newer orders Pods of equal standing, whatever order a list has.
func newer(a, b *corev1.Pod) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return a.Name < b.Name
}

// allBut is the form of completedIndexes for all indexes but one.
func allBut(index, size int64) string {
	var parts []string
	if index > 0 {
		parts = append(parts, fmt.Sprintf("0-%d", index-1))
	}
	if index < size-1 {
		parts = append(parts, fmt.Sprintf("%d-%d", index+1, size-1))
	}
	return strings.Join(parts, ",")
}
