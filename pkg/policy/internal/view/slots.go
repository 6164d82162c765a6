/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/facts"
)

// Slot is a completion index that is still to run, and what stands in it (P10).
type Slot struct {
	// Pod is the member, else the Pod that is leaving, else one that no longer counts, such as a
	// Failed one that waits to be replaced; nil if no Pod exists. What is read of it are its facts.
	Pod   *facts.Member
	Index int32
	// Epoch is what the agent of that Pod reported, 0 if nothing. Invalid: its annotation is not an epoch (P12).
	Epoch   int32
	State   SlotState
	Invalid bool
	// Crowded: several live Pods stand in the slot, so the barrier is not lifted. Which of them
	// stays is up to the Job controller.
	Crowded bool
	// NoSandbox: the Pod is not being deleted, and lost its sandbox, maybe just now (P74).
	NoSandbox bool
}

// SlotState is what stands in a slot. The order is that of precedence if a slot holds several Pods.
type SlotState uint8

const (
	// SlotDone: a Pod succeeded, so the index is not a slot any more, whatever else stands in it.
	SlotDone SlotState = iota
	// SlotMember: a live Pod: not terminating, not Failed, not Succeeded, and not without a sandbox (P74).
	SlotMember
	// SlotLeaving: a Pod inside its termination grace, or a Failed one about which the Job controller
	// has not decided yet (P170): wait for it.
	SlotLeaving
	// SlotLost: neither. A group that runs breaks (P14).
	SlotLost
)

// String is what users read.
func (s SlotState) String() string {
	return [...]string{SlotDone: "Done", SlotMember: "Member", SlotLeaving: "Leaving", SlotLost: "Lost"}[s]
}

// SandboxPatience is how long a Pod may be without a sandbox: a kubelet that makes another one needs a second or two.
const SandboxPatience = 10 * time.Second

// slotOf returns the slot that a Pod makes of its index if no other Pod has the same. A Failed one is lost at once if its Job
// losesFailed.
func slotOf(pod *facts.Member, losesFailed bool, now time.Time) Slot {
	slot := Slot{Pod: pod, Index: pod.Index, Epoch: pod.Reported.Epoch, Invalid: pod.Reported.Invalid, State: SlotMember}
	switch {
	case pod.Phase == corev1.PodSucceeded:
		slot.State = SlotDone
	case pod.Phase == corev1.PodFailed:
		slot.State = SlotLost
		if pod.Tracked && !losesFailed {
			slot.State = SlotLeaving
		}
	case pod.Terminating():
		slot.State = SlotLost
		// The deadline is when the grace period ends, not when it began.
		if now.Before(pod.Deadline) {
			slot.State = SlotLeaving
		}
	case !pod.NoSandboxSince.IsZero():
		slot.NoSandbox = true
		if now.Sub(pod.NoSandboxSince) >= SandboxPatience { // P74
			slot.State = SlotLost
		}
	}
	return slot
}

// compareSlots orders by index, and Pods of one index by precedence. It does not depend on the
// order in which a cache returns Pods.
func compareSlots(a, b Slot) int {
	switch {
	case a.Index != b.Index:
		return cmp.Compare(a.Index, b.Index)
	case a.State != b.State:
		return cmp.Compare(a.State, b.State)
	}
	of, than := a.Pod, b.Pod
	return cmp.Or(than.Created().Compare(of.Created()), cmp.Compare(of.Name, than.Name))
}

// JobSlots are the slots of one Job.
type JobSlots struct {
	*batchv1.Job
	Indexes int64
	// Done are the indexes that the Job says are done.
	Done IndexSet
	// Slots are those in which a Pod stands, by index. The others of the Job are lost.
	Slots []Slot
	// beside are the other Pods of the same indexes.
	beside []Slot
	// lost is how many slots are lost, with a Pod or without.
	lost int64
}

// newJobSlots makes slots of the Pods of a Job, each of an index that the Job does not say is done.
func newJobSlots(job *batchv1.Job, size int64, done IndexSet, pods []Slot) JobSlots {
	slices.SortFunc(pods, compareSlots)
	j := JobSlots{Job: job, Indexes: size, Done: done, Slots: pods[:0:len(pods)]}
	for _, pod := range pods {
		last := len(j.Slots) - 1
		if last < 0 || j.Slots[last].Index != pod.Index {
			j.Slots = append(j.Slots, pod)
			continue
		}
		if j.Slots[last].State == SlotDone {
			continue
		}
		j.Slots[last].Crowded = j.Slots[last].Crowded || pod.State == SlotMember
		j.beside = append(j.beside, pod)
	}
	return j
}

// All yields all slots of the Job, by index, the lost ones too.
func (j *JobSlots) All(yield func(Slot) bool) {
	rest, index := j.Slots, int64(0)
	for _, done := range append(slices.Clip(j.Done), interval{j.Indexes, j.Indexes}) {
		for ; index < done.First; index++ {
			slot := Slot{Index: int32(index), State: SlotLost}
			if len(rest) > 0 && int64(rest[0].Index) == index {
				slot, rest = rest[0], rest[1:]
			}
			if slot.State != SlotDone && !yield(slot) {
				return
			}
		}
		index = done.Last + 1
	}
}

// Lacks reports whether the Job lacks the worker of an index.
func (j *JobSlots) Lacks(index int64) bool {
	if index >= j.Indexes || j.Done.Has(index) {
		return false
	}
	at, found := slices.BinarySearchFunc(j.Slots, index, func(s Slot, index int64) int { return cmp.Compare(int64(s.Index), index) })
	return !found || j.Slots[at].State == SlotLost
}
