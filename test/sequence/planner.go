/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Elastic groups (P100 to P109): a planner changes the sizes of ReplicatedJobs, all of a JobSet by one write. It
// is not package elastic that plans here: any sizes within the bounds, at any moment, are all that it may plan.

// bounds are those of the size of a ReplicatedJob; {0, 0} if it is not elastic.
type bounds struct{ least, most int8 }

func (sc *scenario) isElastic() bool { return sc.elastic != [maxReplicatedJobs]bounds{} }

// sizesOf are the sizes that a ReplicatedJob may be given.
func (sc *scenario) sizesOf(rjob int, now int8) (sizes []int8) {
	b := sc.elastic[rjob]
	if b.most == 0 {
		return []int8{now}
	}
	for n := b.least; n <= b.most; n++ {
		sizes = append(sizes, n)
	}
	return sizes
}

// plans appends what a planner may do now. It leaves a JobSet alone that is suspended or of which a worker has finished, but
// may learn of that too late.
func (w *world) plans(steps []step) []step {
	js := w.jobSet.live()
	if js.phase != unfinished {
		return steps
	}
	for _, first := range w.sc.sizesOf(0, js.size[0]) {
		for _, second := range w.sc.sizesOf(1, js.size[1]) {
			if s := (step{kind: replan, uid: int16(first), n: second}); w.planned(s) != js.size {
				steps = append(steps, s)
			}
		}
	}
	return steps
}

func (w *world) planned(s step) [maxReplicatedJobs]int8 {
	return [maxReplicatedJobs]int8{int8(s.uid), s.n}
}

// setWorld gives a JobSet the sizes of the epoch that runs.
func (o *objects) setWorld(js *jobset.JobSet, world [maxReplicatedJobs]int8) {
	if !o.sc.isElastic() {
		return
	}
	for i, rjob := range o.sc.rjobs {
		js.Status.ReplicatedJobsStatus = append(js.Status.ReplicatedJobsStatus, jobset.ReplicatedJobStatus{Name: rjob.name, SyncedWorkers: int32(world[i])})
	}
}

// worldOf is the other way round.
func (o *objects) worldOf(s *jobset.JobSetStatus) (world [maxReplicatedJobs]int8) {
	if !o.sc.isElastic() {
		return world
	}
	for i, rjob := range o.sc.rjobs {
		for k := range s.ReplicatedJobsStatus {
			if s.ReplicatedJobsStatus[k].Name == rjob.name {
				world[i] = int8(s.ReplicatedJobsStatus[k].SyncedWorkers)
			}
		}
	}
	return world
}

// judgeWorld checks that the sizes that workers are told are those of the group that is lifted, and change with S only (P102).
func (w *world) judgeWorld(_ basis, was, next status) error {
	if !w.sc.isElastic() {
		return nil
	}
	js := w.jobSet.live()
	for i, rjob := range w.sc.rjobs {
		want := was.world[i]
		if next.s != was.s {
			want = js.size[i] * rjob.replicas
		}
		if next.world[i] != want {
			return violates(1, "workers of epoch %d are told that %d of %s run, not %d", next.s, next.world[i], rjob.name, want)
		}
	}
	return nil
}

// checkWorld checks that no worker runs in an epoch that has no place for it.
func (w *world) checkWorld(js *jobSet) error {
	if !w.sc.isElastic() || js.s == 0 {
		return nil
	}
	for i := range w.pods {
		p := &w.pods[i]
		if p.worker <= 0 || p.worker != js.s {
			continue
		}
		if j := w.jobOf(p.job); j != nil && j.owner == js.uid && p.index >= js.world[j.rjob] {
			return violates(1, "%s runs in epoch %d of %d workers", w.podText(p), js.s, js.world[j.rjob])
		}
	}
	return nil
}

// byIntent reports whether the group assembles although nothing failed (P101a).
func (s *status) byIntent() bool {
	return s.s > 0 && s.restarting != restartingInPlace && s.restarting != restartingAll
}
