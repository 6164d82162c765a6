/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// lookAtGroup adds up the Jobs and Pods of the current attempt.
func (v *view) lookAtGroup() groupState {
	var g groupState
	var pods int
	for _, job := range v.observed.Active {
		pods += len(v.Pods[job.UID])
	}
	room := make([]Slot, 0, pods) // for all Jobs, each takes what it needs
	g.jobs = make([]jobSlots, 0, len(v.observed.Active))
	for _, job := range v.observed.Active {
		g.failing = g.failing || hasCondition(job, batchv1.JobFailureTarget)
		room = g.addJob(v, job, room)
	}
	done := v.doneDependencies()
	if v.joinedAsPlanned(done) {
		return g
	}
	for _, job := range v.observed.Successful {
		if !done[replicatedJobOf(job)] { // else others waited for it to end: the group goes on without it
			g.success.addComplete(job, v.roundBegan())
		}
	}
	return g
}

// addJob adds a Job, and returns the room that is left for the slots of others.
func (g *groupState) addJob(v *view, job *batchv1.Job, room []Slot) []Slot {
	pods, size := v.Pods[job.UID], sizeOf(job)
	done := parseIndexes(job.Status.CompletedIndexes, size)
	if job.DeletionTimestamp == nil && len(done) > 0 {
		g.success.addIndex(job, done[0].first)
	}
	if job.DeletionTimestamp != nil || hasCondition(job, batchv1.JobSuccessCriteriaMet) || hasCondition(job, batchv1.JobFailureTarget) {
		for _, pod := range pods {
			g.success.addPod(pod)
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
				g.outsiders = append(g.outsiders, pod)
			}
			continue
		}
		g.success.addPod(pod)
		if !done.has(int64(pod.Index)) {
			room = append(room, slotOf(pod, lost, v.Now))
		}
	}
	j := newJobSlots(job, size, done, room)
	g.jobs = append(g.jobs, j)
	g.count(&g.jobs[len(g.jobs)-1], v.synced)
	return room[len(room):]
}

// reporter returns the first member by name that reports S+1, nil if none does.
func (v *view) reporter() *facts.Member {
	if pods := v.group.pods(func(s *Slot) bool { return s.reports(v.synced) }); len(pods) > 0 {
		return pods[0]
	}
	return nil
}

// late returns the members on a node that have not reported S+1.
func (v *view) late() []*facts.Member {
	return v.group.pods(func(s *Slot) bool {
		return s.State == SlotMember && !s.reports(v.synced) && s.Pod.Node != ""
	})
}

// unready returns the members of the epoch that runs whose workers are not ready.
func (v *view) unready() []*facts.Member {
	return v.group.pods(func(s *Slot) bool {
		if s.State != SlotMember || s.Epoch != v.synced {
			return false
		}
		return s.Pod.Readiness != facts.Ready
	})
}

// stuck returns the Pods that should be gone by now, those of earlier attempts too: a Job cannot
// be recreated before they are.
func (v *view) stuck() []*facts.Member {
	isStuck := func(pod *facts.Member) bool {
		return pod.Phase != corev1.PodFailed && pod.Terminating() && !v.Now.Before(pod.Deadline)
	}
	pods := v.group.pods(func(s *Slot) bool { return isStuck(s.Pod) })
	others := slices.Clone(v.group.outsiders)
	for _, job := range v.observed.Previous {
		others = append(others, v.Pods[job.UID]...)
	}
	for _, pod := range others {
		if isStuck(pod) {
			pods = append(pods, pod)
		}
	}
	return sortByName(pods)
}

// due returns the Pods that have no time left, and how long the next of the others still has, 0 if there is none.
func due(pods []*facts.Member, left func(*facts.Member) time.Duration) (over []*facts.Member, next time.Duration) {
	for _, pod := range pods {
		if wait := left(pod); wait > 0 {
			next = Sooner(next, wait)
			continue
		}
		over = append(over, pod)
	}
	return over, next
}

// graceEnds returns when to look at the Pods again that are leaving, 0 if none is.
func (v *view) graceEnds() time.Duration {
	var first time.Duration
	eachIndex := slices.ContainsFunc(v.observed.Active, facts.CountsEachIndex)
	for _, pod := range v.group.pods(func(s *Slot) bool { return s.State == SlotLeaving }) {
		switch {
		case pod.Phase == corev1.PodFailed && !eachIndex: // it loses its finalizer
		case pod.Phase == corev1.PodFailed:
			first = Sooner(first, verdictInterval)
		case pod.Terminating():
			first = Sooner(first, v.until(pod.Deadline))
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
func WorkerSlots(in Input) ([]WorkerSlot, error) {
	observed, err := Observe(in.JobSet, in.Jobs, in.Gates)
	if err != nil {
		return nil, err
	}
	v := &view{Input: in, observed: observed}
	v.deprecated, v.synced = epochsOf(in.JobSet)
	v.group = v.lookAtGroup()
	var slots []WorkerSlot
	for i := range v.group.jobs {
		job := &v.group.jobs[i]
		for slot := range job.all {
			slots = append(slots, WorkerSlot{Slot: slot, Job: job.Job, Back: v.isBack(slot)})
		}
	}
	return slots, nil
}

// doneDependencies returns the ReplicatedJobs that others waited for to complete, and that did.
func (v *view) doneDependencies() map[string]bool {
	done := map[string]bool{}
	for i := range v.JobSet.Spec.ReplicatedJobs {
		for _, dependency := range v.JobSet.Spec.ReplicatedJobs[i].DependsOn {
			first := v.observed.byName[dependency.Name]
			if first != nil && dependency.Status == jobset.DependencyComplete && first.Succeeded == first.replicas {
				done[dependency.Name] = true
			}
		}
	}
	return done
}

// past returns the Pods that should have stopped so long ago, and asks for a look when the next has.
func (v *view) past(pods []*facts.Member, grace time.Duration) (over []*facts.Member, r result) {
	over, next := due(pods, func(pod *facts.Member) time.Duration { return v.left(grace, pod.Deadline) })
	return over, requeueAfter(next)
}
