/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// group is what the Jobs and Pods of the current attempt add up to (P10).
//
// A slot is a completion index still to run. What stands in it:
//
//	member    a live Pod: not terminating, not Failed, not Succeeded
//	leaving   a Pod inside its termination grace, or a Failed one that the Job
//	          controller has not counted yet: wait for it
//	nothing   the slot is lost (P14)
type group struct {
	slots    int64
	members  int64
	reported int64 // members at S+1
	leaving  int64

	// crowded: two live Pods in one slot. Which of them stays is not ours to say.
	crowded bool
	// failing: a Job is about to fail, so the failure policy comes first.
	failing bool
	// reporter is a member at S+1.
	reporter *corev1.Pod
	// lost are the Jobs that lack a worker.
	lost []*batchv1.Job
	// succeeded is a Pod that succeeded in epoch S: it ran in this round (P17).
	succeeded *corev1.Pod
	// late are members on a node that have not reported S+1, waiting those without a
	// node, stuck are Pods that should be gone by now. Kept only for a group that
	// takes too long.
	late, stuck []*corev1.Pod
	waiting     int64
	overdue     bool
	// graceEnds is when the first leaving Pod has to be gone.
	graceEnds time.Time
	// invalid are the live Pods whose epoch annotation is not an epoch (P12).
	invalid []*corev1.Pod
}

type slot uint8

const (
	slotLeaving slot = 1 << iota
	slotMember
	slotDone
)

// look sums up the group at synced epoch S. One look at the Pods serves the whole pass.
func (d *decision) look(synced int32) group {
	if d.seen != nil {
		return *d.seen
	}
	g := group{overdue: d.overdue()}
	for _, job := range d.observed.Active {
		g.failing = g.failing || hasCondition(job, batchv1.JobFailureTarget)
		g.addJob(job, d.in.Pods[job.UID], synced, d.in.Now)
	}
	done := d.doneDependencies()
	for _, job := range d.observed.Successful {
		if done[replicatedJobOf(job)] {
			continue // others waited for it to end: the group goes on without it
		}
		for _, pod := range d.in.Pods[job.UID] {
			g.addSucceeded(pod, synced)
		}
	}
	for _, job := range d.observed.Previous {
		g.addStuck(d.in.Pods[job.UID], d.in.Now)
	}
	for _, pods := range [][]*corev1.Pod{g.invalid, g.late, g.stuck} {
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	}
	d.seen = &g
	return g
}

// sizeOf is how many completion indexes a Job has.
func sizeOf(job *batchv1.Job) int64 {
	return int64(ptr.Deref(job.Spec.Completions, ptr.Deref(job.Spec.Parallelism, 1)))
}

func (g *group) addJob(job *batchv1.Job, pods []*corev1.Pod, synced int32, now time.Time) {
	if job.DeletionTimestamp != nil || hasCondition(job, batchv1.JobSuccessCriteriaMet) || hasCondition(job, batchv1.JobFailureTarget) {
		for _, pod := range pods {
			g.addSucceeded(pod, synced)
		}
		return
	}
	size := sizeOf(job)
	done := parseIndexes(job.Status.CompletedIndexes, size)
	doneCount := done.size()
	slots := make(map[int64]slot, len(pods))
	for _, pod := range pods { // first what is done: another Pod there has no slot
		if pod.Status.Phase != corev1.PodSucceeded {
			continue
		}
		g.addSucceeded(pod, synced)
		if index, ok := completionIndex(pod, size); ok && !done.has(index) {
			slots[index] = slotDone
		}
	}
	for _, pod := range pods {
		index, ok := completionIndex(pod, size)
		if !ok || done.has(index) {
			continue
		}
		if was := slots[index]; was&slotDone == 0 {
			slots[index] = was | g.addPod(pod, was, synced, now)
		}
	}
	var members, leaving int64
	for _, s := range slots {
		switch {
		case s&slotDone != 0:
			doneCount++
		case s&slotMember != 0:
			members++
		case s&slotLeaving != 0:
			leaving++
		}
	}
	g.slots += size - doneCount
	g.members += members
	g.leaving += leaving
	if size-doneCount > members+leaving {
		g.lost = append(g.lost, job)
	}
}

// addPod tells what a Pod makes of its slot, which holds what it was before.
func (g *group) addPod(pod *corev1.Pod, was slot, synced int32, now time.Time) slot {
	switch {
	case pod.Status.Phase == corev1.PodFailed:
		if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			return slotLeaving
		}
		return 0
	case pod.DeletionTimestamp != nil:
		// The timestamp is when the grace is over, not when it began.
		if ends := pod.DeletionTimestamp.Time; now.Before(ends) {
			if g.graceEnds.IsZero() || ends.Before(g.graceEnds) {
				g.graceEnds = ends
			}
			return slotLeaving
		}
		if g.overdue {
			g.stuck = append(g.stuck, pod)
		}
		return 0
	}
	if was&slotMember != 0 {
		g.crowded = true
	}
	epoch, valid := reportedEpoch(pod)
	if !valid {
		g.invalid = append(g.invalid, pod)
	}
	if int64(epoch) == int64(synced)+1 {
		if was&slotMember == 0 {
			g.reported++
		}
		if g.reporter == nil || pod.Name < g.reporter.Name {
			g.reporter = pod
		}
	} else if g.overdue {
		g.addLate(pod)
	}
	return slotMember
}

// addStuck keeps the Pods of an earlier attempt that should be gone: their Job
// cannot be recreated before they are.
func (g *group) addStuck(pods []*corev1.Pod, now time.Time) {
	for _, pod := range pods {
		if g.overdue && pod.DeletionTimestamp != nil && !now.Before(pod.DeletionTimestamp.Time) && pod.Status.Phase != corev1.PodFailed {
			g.stuck = append(g.stuck, pod)
		}
	}
}

func (g *group) addLate(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" {
		g.waiting++
		return
	}
	g.late = append(g.late, pod)
}

func (g *group) addSucceeded(pod *corev1.Pod, synced int32) {
	if pod.Status.Phase != corev1.PodSucceeded || g.succeeded != nil && g.succeeded.Name <= pod.Name {
		return
	}
	if epoch, _ := reportedEpoch(pod); epoch == synced && epoch > 0 {
		g.succeeded = pod
	}
}

// completionIndex is the index of a Pod in its Job of the given size.
func completionIndex(pod *corev1.Pod, size int64) (int64, bool) {
	index, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	return index, err == nil && index >= 0 && index < size
}

// reportedEpoch is the epoch that the agent of a Pod reported, 0 if none. An
// annotation that is not a decimal int32 >= 1 is no report, and not valid.
func reportedEpoch(pod *corev1.Pod) (epoch int32, valid bool) {
	text, ok := pod.Annotations[jobset.EpochKey]
	if !ok {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || n > math.MaxInt32 || text[0] == '+' || text[0] == '0' {
		return 0, false
	}
	return int32(n), true
}
