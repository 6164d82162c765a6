/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// LookAtGroup adds up the Jobs and Pods of the current attempt.
func (v *View) LookAtGroup() GroupState {
	var g GroupState
	var pods int
	for _, job := range v.Observed.Active {
		pods += len(v.Pods[job.UID])
	}
	room := make([]Slot, 0, pods) // for all Jobs, each takes what it needs
	g.Jobs = make([]JobSlots, 0, len(v.Observed.Active))
	for _, job := range v.Observed.Active {
		g.Failing = g.Failing || HasCondition(job, batchv1.JobFailureTarget)
		room = g.addJob(v, job, room)
	}
	done := v.doneDependencies()
	if v.joinedAsPlanned(done) {
		return g
	}
	for _, job := range v.Observed.Successful {
		if !done[ReplicatedJobOf(job)] { // else others waited for it to end: the group goes on without it
			g.Success.addComplete(job, v.roundBegan())
		}
	}
	return g
}

// addJob adds a Job, and returns the room that is left for the slots of others.
func (g *GroupState) addJob(v *View, job *batchv1.Job, room []Slot) []Slot {
	pods, size := v.Pods[job.UID], SizeOf(job)
	done := ParseIndexes(job.Status.CompletedIndexes, size)
	if job.DeletionTimestamp == nil && len(done) > 0 {
		g.Success.addIndex(job, done[0].First)
	}
	if job.DeletionTimestamp != nil || HasCondition(job, batchv1.JobSuccessCriteriaMet) || HasCondition(job, batchv1.JobFailureTarget) {
		for _, pod := range pods {
			g.Success.addPod(pod)
		}
		return room
	}
	lost := losesFailed(job, pods)
	for _, pod := range pods {
		switch {
		case pod.Index < 0:
			continue
		case int64(pod.Index) >= size: // one that succeeded was taken out of the group by a resize: it is not missing
			if !pod.Ended() {
				g.Outsiders = append(g.Outsiders, pod)
			}
			continue
		}
		g.Success.addPod(pod)
		if !done.Has(int64(pod.Index)) {
			room = append(room, slotOf(pod, lost, v.Now))
		}
	}
	j := newJobSlots(job, size, done, room)
	g.Jobs = append(g.Jobs, j)
	g.count(&g.Jobs[len(g.Jobs)-1], v.Synced)
	return room[len(room):]
}

// Reporter returns the first member by name that reports S+1, nil if none does.
func (v *View) Reporter() *facts.Member {
	if pods := v.Group.Pods(func(s *Slot) bool { return s.Reports(v.Synced) }); len(pods) > 0 {
		return pods[0]
	}
	return nil
}

// Late returns the members on a node that have not reported S+1.
func (v *View) Late() []*facts.Member {
	return v.Group.Pods(func(s *Slot) bool {
		return s.State == SlotMember && !s.Reports(v.Synced) && s.Pod.Node != ""
	})
}

// Unready returns the members of the epoch that runs whose workers are not ready.
func (v *View) Unready() []*facts.Member {
	return v.Group.Pods(func(s *Slot) bool {
		if s.State != SlotMember || s.Epoch != v.Synced {
			return false
		}
		return s.Pod.Readiness != facts.Ready
	})
}

// Stuck returns the Pods that should be gone by now, those of earlier attempts too: a Job cannot
// be recreated before they are.
func (v *View) Stuck() []*facts.Member {
	isStuck := func(pod *facts.Member) bool {
		return pod.Phase != corev1.PodFailed && pod.Terminating() && !v.Now.Before(pod.Deadline)
	}
	pods := v.Group.Pods(func(s *Slot) bool { return isStuck(s.Pod) })
	others := slices.Clone(v.Group.Outsiders)
	for _, job := range v.Observed.Previous {
		others = append(others, v.Pods[job.UID]...)
	}
	for _, pod := range others {
		if isStuck(pod) {
			pods = append(pods, pod)
		}
	}
	return SortByName(pods)
}

// Due returns the Pods that have no time left, and how long the next of the others still has, 0 if there is none.
func Due(pods []*facts.Member, left func(*facts.Member) time.Duration) (over []*facts.Member, next time.Duration) {
	for _, pod := range pods {
		if wait := left(pod); wait > 0 {
			next = pass.Sooner(next, wait)
			continue
		}
		over = append(over, pod)
	}
	return over, next
}

// Past returns the Pods that should have stopped so long ago, and asks for a look when the next has.
func (v *View) Past(pods []*facts.Member, grace time.Duration) (over []*facts.Member, r pass.Result) {
	over, next := Due(pods, func(pod *facts.Member) time.Duration { return v.Left(grace, pod.Deadline) })
	return over, pass.RequeueAfter(next)
}

// GraceEnds returns when to look at the Pods again that are leaving, 0 if none is.
func (v *View) GraceEnds() time.Duration {
	var first time.Duration
	eachIndex := slices.ContainsFunc(v.Observed.Active, facts.CountsEachIndex)
	for _, pod := range v.Group.Pods(func(s *Slot) bool { return s.State == SlotLeaving }) {
		switch {
		case pod.Phase == corev1.PodFailed && !eachIndex: // it loses its finalizer
		case pod.Phase == corev1.PodFailed:
			first = pass.Sooner(first, verdictInterval)
		case pod.Terminating():
			first = pass.Sooner(first, v.Until(pod.Deadline))
		}
	}
	return first
}

// WorkerSlot is a slot of the group, for tools that show which workers are missing.
type WorkerSlot struct {
	Slot
	Job *batchv1.Job
	// Back: the worker has reached the epoch of its group, which is S+1 while the group assembles and
	// S while it runs.
	Back bool
}

// WorkerSlots lists the slots of the group, Jobs in the order of their names.
func WorkerSlots(in pass.Input) ([]WorkerSlot, error) {
	observed, err := Observe(in.JobSet, in.Jobs, in.Gates)
	if err != nil {
		return nil, err
	}
	v := &View{Input: in, Observed: observed}
	v.Deprecated, v.Synced = pass.EpochsOf(in.JobSet)
	v.Group = v.LookAtGroup()
	var slots []WorkerSlot
	for i := range v.Group.Jobs {
		job := &v.Group.Jobs[i]
		for slot := range job.All {
			slots = append(slots, WorkerSlot{Slot: slot, Job: job.Job, Back: v.IsBack(slot)})
		}
	}
	return slots, nil
}

// doneDependencies returns the ReplicatedJobs that others waited for to complete, and that did.
func (v *View) doneDependencies() map[string]bool {
	done := map[string]bool{}
	for i := range v.JobSet.Spec.ReplicatedJobs {
		for _, dependency := range v.JobSet.Spec.ReplicatedJobs[i].DependsOn {
			first := v.Observed.ByName[dependency.Name]
			if first != nil && dependency.Status == jobset.DependencyComplete && first.Succeeded == first.Replicas {
				done[dependency.Name] = true
			}
		}
	}
	return done
}
