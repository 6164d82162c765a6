/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
)

// group is what the Jobs and Pods of the current attempt add up to (P10). Its Pods are looked at
// once in a pass; what a step asks besides is folded from the slots.
type group struct {
	// jobs are those that have slots.
	jobs []jobSlots
	// size is the number of slots.
	size int64
	// members are the slots with a live Pod, reported those whose Pod reports S+1, leaving those
	// whose Pod has not gone yet, unscheduled and pulling those whose Pod has no node, or pulls images, and has not reported.
	members, reported, leaving, unscheduled, pulling int64
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
	outsiders []*corev1.Pod
}

func (v *view) lookAtGroup() group {
	var g group
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
	for _, job := range v.observed.Successful {
		if !done[replicatedJobOf(job)] { // else others waited for it to end: the group goes on without it
			g.success.addComplete(job, v.JobSet.Status.LastSyncTime)
		}
	}
	return g
}

// sizeOf returns how many completion indexes a Job has.
func sizeOf(job *batchv1.Job) int64 {
	return max(0, int64(ptr.Deref(job.Spec.Completions, ptr.Deref(job.Spec.Parallelism, 1))))
}

// addJob adds a Job, and returns the room that is left for the slots of others.
func (g *group) addJob(v *view, job *batchv1.Job, room []Slot) []Slot {
	pods, size := v.Pods[job.UID], sizeOf(job)
	done := parseIndexes(job.Status.CompletedIndexes, size)
	if job.DeletionTimestamp == nil && len(done) > 0 {
		g.success.addIndex(job, done[0].first)
	}
	if job.DeletionTimestamp != nil || hasCondition(job, batchv1.JobSuccessCriteriaMet) || hasCondition(job, batchv1.JobFailureTarget) {
		for _, pod := range pods {
			g.success.addPod(pod, facts.StandingOf(pod).Phase)
		}
		return room
	}
	for _, pod := range pods {
		index, is := facts.IndexOf(pod), facts.StandingOf(pod)
		switch {
		case index < 0:
			continue
		case int64(index) >= size: // one that succeeded was taken out of the group by a resize: it is not missing
			if !is.Ended() {
				g.outsiders = append(g.outsiders, pod)
			}
			continue
		}
		g.success.addPod(pod, is.Phase)
		if !done.has(int64(index)) {
			room = append(room, slotOf(pod, &is, index, v.Now))
		}
	}
	j := newJobSlots(job, size, done, room)
	g.jobs = append(g.jobs, j)
	g.count(&g.jobs[len(g.jobs)-1], v.synced)
	return room[len(room):]
}

// count adds up the slots of a Job.
func (g *group) count(j *jobSlots, synced int32) {
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
			case facts.NodeOf(slot.Pod) == "":
				g.unscheduled++
			case facts.IsPulling(slot.Pod):
				g.pulling++
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
func (g *group) pods(match func(*Slot) bool) []*corev1.Pod {
	var found []*corev1.Pod
	for i := range g.jobs {
		for _, slots := range [][]Slot{g.jobs[i].slots, g.jobs[i].beside} {
			for k := range slots {
				if slots[k].State != slotDone && match(&slots[k]) {
					found = append(found, slots[k].Pod)
				}
			}
		}
	}
	return byName(found)
}

func byName(pods []*corev1.Pod) []*corev1.Pod {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

// reporter returns the first member by name that reports S+1, nil if none does.
func (v *view) reporter() *corev1.Pod {
	if pods := v.group.pods(func(s *Slot) bool { return s.reports(v.synced) }); len(pods) > 0 {
		return pods[0]
	}
	return nil
}

// late returns the members on a node that have not reported S+1.
func (v *view) late() []*corev1.Pod {
	return v.group.pods(func(s *Slot) bool {
		return s.State == SlotMember && !s.reports(v.synced) && facts.NodeOf(s.Pod) != ""
	})
}

// unready returns the members of the epoch that runs whose workers are not ready.
func (v *view) unready() []*corev1.Pod {
	return v.group.pods(func(s *Slot) bool {
		if s.State != SlotMember || s.Epoch != v.synced {
			return false
		}
		readiness, _ := facts.ReadinessOf(s.Pod)
		return readiness != facts.Ready
	})
}

// stuck returns the Pods that should be gone by now, those of earlier attempts too: a Job cannot
// be recreated before they are.
func (v *view) stuck() []*corev1.Pod {
	isStuck := func(pod *corev1.Pod) bool {
		is := facts.StandingOf(pod)
		return is.Phase != corev1.PodFailed && is.Terminating() && !v.Now.Before(is.Deadline)
	}
	pods := v.group.pods(func(s *Slot) bool { return isStuck(s.Pod) })
	for _, pod := range v.group.outsiders {
		if isStuck(pod) {
			pods = append(pods, pod)
		}
	}
	for _, job := range v.observed.Previous {
		for _, pod := range v.Pods[job.UID] {
			if isStuck(pod) {
				pods = append(pods, pod)
			}
		}
	}
	return byName(pods)
}

// graceEnds returns how long until the first Pod that is leaving has to be gone, 0 if none is.
func (v *view) graceEnds() time.Duration {
	var first time.Duration
	for _, pod := range v.group.pods(func(s *Slot) bool { return s.State == SlotLeaving }) {
		if is := facts.StandingOf(pod); is.Terminating() && is.Phase != corev1.PodFailed {
			first = sooner(first, v.until(is.Deadline))
		}
	}
	return first
}
