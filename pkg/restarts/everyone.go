/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
)

// States of workers that the group does not wait for.
const (
	// Working: the worker runs, and is ready.
	Working WorkerState = "Running"
	// Succeeded: the worker has ended, and will not run again in this attempt.
	Succeeded WorkerState = "Succeeded"
)

// worker identifies an index of a Job.
type worker struct {
	job   types.UID
	index int64
}

// Everyone lists the workers of a JobSet, those too that are back or have ended, by ReplicatedJob, Job and index, and says how
// many there are: the list ends after the given number. States of a group are those of the report; those of Jobs that are in no
// group follow from their Pods. What is not listed is counted by arithmetic: a spec may ask for 2147483647 Jobs that do not exist.
func Everyone(in Input, most int) ([]Worker, int, error) {
	input := inputOf(in)
	observed, err := policy.Observe(in.JobSet, input.Jobs, input.Gates)
	if err != nil {
		return nil, 0, fmt.Errorf("telling the Jobs apart: %w", err)
	}
	group, grouped, err := input.group(in, observed)
	if err != nil {
		return nil, 0, err
	}
	e := everyone{read: &input, group: group, grouped: grouped, most: most}
	jobs := map[string]map[int]*batchv1.Job{}
	for _, job := range slices.Concat(observed.Active, observed.Successful, observed.Failed) {
		name := children.OwnValue(job, jobset.ReplicatedJobNameKey)
		if jobs[name] == nil {
			jobs[name] = map[int]*batchv1.Job{}
		}
		if index, err := strconv.Atoi(children.OwnValue(job, jobset.JobIndexKey)); err == nil {
			jobs[name][index] = job
		}
	}
	for i := range in.JobSet.Spec.ReplicatedJobs {
		rjob := &in.JobSet.Spec.ReplicatedJobs[i]
		e.add(rjob, jobs[rjob.Name])
	}
	return e.all, int(e.total), nil
}

// everyone collects the workers of a JobSet.
type everyone struct {
	*read
	group map[worker]Worker
	// grouped is how many indexes of a Job group tells of.
	grouped map[types.UID]int64
	most    int

	all   []Worker
	total int64
}

// add counts the workers of a ReplicatedJob, and lists them as long as there is room.
func (e *everyone) add(rjob *jobset.ReplicatedJob, jobs map[int]*batchv1.Job) {
	absent := int64(rjob.Replicas)
	for index, job := range jobs {
		if index >= 0 && index < int(rjob.Replicas) {
			absent--
			e.total = plus(e.total, sizeOf(&job.Spec))
		}
	}
	e.total = plus(e.total, absent*sizeOf(&rjob.Template.Spec)) // two numbers of 31 bits
	for j := range min(int(rjob.Replicas), e.most) {            // Jobs without workers fill no room
		e.list(rjob, j, jobs[j])
	}
}

// list adds the workers of one Job, nil if it does not exist, as long as there is room.
func (e *everyone) list(rjob *jobset.ReplicatedJob, j int, job *batchv1.Job) {
	size, pods := sizeOf(&rjob.Template.Spec), map[int64]*facts.Member{}
	if job != nil {
		size, pods = sizeOf(&job.Spec), byIndex(e.Pods[job.UID])
	}
	for index := range min(size, int64(e.most-len(e.all))) {
		w := Worker{ReplicatedJob: rjob.Name, JobIndex: j, Index: index}
		switch {
		case job == nil:
			w.State, w.Message = NoPod, "its Job does not exist"
		case index >= e.grouped[job.UID]:
			e.alone(&w, job, pods[index])
		default:
			slot, found := e.group[worker{job.UID, index}]
			if w.State = Succeeded; found { // else the index is done
				w = slot
			}
		}
		e.all = append(e.all, w)
	}
}

// groupOf says of each slot of a group that runs, or assembles, what the report would say, and of how many indexes of each Job.
func (r *read) group(in Input, observed policy.Observed) (map[worker]Worker, map[types.UID]int64, error) {
	if !NeedsPods(in.JobSet) || in.PodsUnread != nil {
		return nil, nil, nil
	}
	slots, _, err := firstSlots(r.Input, observed)
	if err != nil {
		return nil, nil, fmt.Errorf("telling the workers apart: %w", err)
	}
	workers, grouped := make(map[worker]Worker, len(slots)), map[types.UID]int64{}
	for i := range slots {
		slot := &slots[i]
		grouped[slot.Job.UID] = sizeOf(&slot.Job.Spec)
		workers[worker{slot.Job.UID, int64(slot.Index)}] = r.slotWorker(slot)
	}
	return workers, grouped, nil
}

// byIndex returns the newest Pod of each index.
func byIndex(pods []*facts.Member) map[int64]*facts.Member {
	of := make(map[int64]*facts.Member, len(pods))
	for _, pod := range pods {
		index := int64(pod.Index)
		if index >= 0 && (of[index] == nil || of[index].Created().Before(pod.Created())) {
			of[index] = pod
		}
	}
	return of
}

// alone says how a worker is that waits for no group.
func (r *read) alone(w *Worker, job *batchv1.Job, m *facts.Member) {
	if m == nil {
		w.State = NoPod
		switch {
		case hasCondition(job, batchv1.JobComplete):
			w.State = Succeeded
		case ptr.Deref(job.Spec.Suspend, false):
			w.Message = "its Job is suspended"
		}
		return
	}
	pod := r.pods[m.UID]
	w.Pod, w.Node, w.Epoch, w.Since = m.Name, m.Node, m.Reported.Epoch, sinceOf(pod)
	switch {
	case m.Phase == corev1.PodSucceeded:
		w.State, w.Since = Succeeded, nil
	case m.Phase == corev1.PodFailed:
		w.State, w.Message, w.Since = PodFailed, ended(pod), nil
	case m.Terminating():
		w.State = Terminating
	case m.Node == "":
		w.State, w.Message = Unscheduled, unscheduled(pod)
	case m.Readiness != facts.Ready:
		w.State, w.Message = WorkerState(m.Readiness), whyUnready(m, pod)
	case m.Phase == corev1.PodPending:
		w.State, w.Message = Waiting, waiting(pod)
	default:
		w.State = Working
	}
}
