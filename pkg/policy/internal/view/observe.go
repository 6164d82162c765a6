/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/gates"
)

// Observed is what the Jobs of a JobSet add up to.
type Observed struct {
	// Active, Successful and Failed are the Jobs of the current attempt.
	Active, Successful, Failed []*batchv1.Job
	// Previous Jobs belong to an earlier attempt.
	Previous []*batchv1.Job
	// Foreign Jobs name the JobSet as their controller, but nothing says which of its Jobs they are: neither labels
	// that can be read nor a name that it gives. It did not create them, and they count nowhere (C97).
	Foreign []*batchv1.Job
	// Statuses has an entry for each ReplicatedJob, in descending order of names.
	Statuses []jobset.ReplicatedJobStatus

	// Taken are the indexes of all Jobs, of whatever attempt.
	Taken Taken
	// Newest is the latest attempt that a Job was built for.
	Newest int32
	ByName map[string]*ReplicatedJob
}

// ReplicatedJob is a ReplicatedJob of the spec, its entry of Statuses, and how many Jobs of the
// current attempt exist.
type ReplicatedJob struct {
	*jobset.ReplicatedJobStatus
	Spec           *jobset.ReplicatedJob
	Replicas, Jobs int32
}

// Observe sorts the Jobs into buckets and counts them. Jobs within a bucket are ordered by name:
// caches have no stable order. A Job with a name of the JobSet whose attempt cannot be read is an error: whether to
// delete it is not known.
func Observe(js *jobset.JobSet, jobs []*batchv1.Job, g gates.Set) (Observed, error) {
	o := Observed{Taken: make(Taken, len(js.Spec.ReplicatedJobs))}
	o.list(js)
	outdated := NewAttempts(js, g)
	sorted := slices.Clone(jobs)
	slices.SortFunc(sorted, CompareJobs)
	for _, job := range sorted {
		isNamed := o.Taken.add(js.Name, job)
		previous, err := outdated.previous(job)
		if err != nil && !isNamed {
			o.Foreign = append(o.Foreign, job)
			continue
		}
		if err != nil {
			return Observed{}, err
		}
		if previous {
			o.Previous = append(o.Previous, job)
			continue
		}
		o.count(job) // now, and not in a walk of its own: of thousands of Jobs none is in the processor's cache then
	}
	o.Newest = outdated.newest
	return o, nil
}

// CompareJobs orders Jobs by name.
func CompareJobs(a, b *batchv1.Job) int { return cmp.Compare(a.Name, b.Name) }

// FinishedCondition is the first Complete or Failed condition that is True.
func FinishedCondition(job *batchv1.Job) (batchv1.JobCondition, bool) {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c, true
		}
	}
	return batchv1.JobCondition{}, false
}

// HasCondition reports whether a condition of a Job is True.
func HasCondition(job *batchv1.Job, conditionType batchv1.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == conditionType && c.Status == corev1.ConditionTrue
	})
}

// list fills Statuses and ByName with the ReplicatedJobs of the spec, without Jobs.
func (o *Observed) list(js *jobset.JobSet) {
	o.Statuses = make([]jobset.ReplicatedJobStatus, len(js.Spec.ReplicatedJobs))
	all := make([]ReplicatedJob, len(o.Statuses))
	o.ByName = make(map[string]*ReplicatedJob, len(all))
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		o.Statuses[i].Name, all[i].Spec, all[i].Replicas = rjob.Name, rjob, rjob.Replicas
		o.ByName[rjob.Name] = &all[i]
	}
	slices.SortFunc(o.Statuses, func(a, b jobset.ReplicatedJobStatus) int { return cmp.Compare(b.Name, a.Name) })
	for i := range o.Statuses {
		o.ByName[o.Statuses[i].Name].ReplicatedJobStatus = &o.Statuses[i]
	}
}

// count adds a Job of the current attempt. One of a ReplicatedJob that is not in the spec counts in no status.
func (o *Observed) count(job *batchv1.Job) {
	r := o.ByName[ReplicatedJobOf(job)]
	if r == nil {
		r = &ReplicatedJob{ReplicatedJobStatus: &jobset.ReplicatedJobStatus{}}
	}
	r.Jobs++
	switch end, finished := FinishedCondition(job); {
	case finished && end.Type == batchv1.JobComplete:
		o.Successful = append(o.Successful, job)
		r.Succeeded++
	case finished:
		o.Failed = append(o.Failed, job)
		r.Failed++
	default:
		o.Active = append(o.Active, job)
		adds := CountsOf(job)
		r.Ready += OneIf(adds.Ready)
		r.Active += OneIf(adds.Active)
		r.Suspended += OneIf(Suspended(job))
	}
}

// ReplicatedJobOf names the ReplicatedJob that a Job was built for, "" if nothing on it says so.
func ReplicatedJobOf(job *batchv1.Job) string {
	return children.OwnValue(job, jobset.ReplicatedJobNameKey)
}

// Counts is what the Pods of an unfinished Job add to the status.
type Counts struct{ Ready, Active bool }

// CountsOf returns what a Job adds to the status. As long as that stays the
// same, it does not matter how many of its Pods are ready.
func CountsOf(job *batchv1.Job) Counts {
	return Counts{Ready: ready(job), Active: job.Status.Active > 0}
}

// ready reports whether as many Pods of the Job are ready, or have succeeded, as run at the same time.
func ready(job *batchv1.Job) bool {
	parallelism := ptr.Deref(job.Spec.Parallelism, 1)
	return job.Status.Succeeded+ptr.Deref(job.Status.Ready, 0) >= min(parallelism, ptr.Deref(job.Spec.Completions, parallelism))
}

// Suspended reports whether a Job is suspended by its spec.
func Suspended(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.Suspend, false)
}

// OneIf counts what is true.
func OneIf(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}

// SizeOf returns how many completion indexes a Job has.
func SizeOf(job *batchv1.Job) int64 {
	return max(0, int64(ptr.Deref(job.Spec.Completions, ptr.Deref(job.Spec.Parallelism, 1))))
}
