/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// isElastic reports whether the size of a ReplicatedJob may change: Kubernetes can
// resize Indexed Jobs.
func isElastic(rj *jobset.ReplicatedJob, g gates.Set) bool {
	return g.ElasticJobSet && isIndexed(&rj.Template.Spec)
}

func isResized(old, new *batchv1.JobSpec) bool {
	return !ptr.Equal(old.Parallelism, new.Parallelism) || !ptr.Equal(old.Completions, new.Completions)
}

// resizes checks the ReplicatedJobs whose parallelism or completions change, with
// rules for resizing and with the rules of creation that depend on these numbers.
func resizes(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i, was := range kept(old, new) {
		rj := &new.Spec.ReplicatedJobs[i]
		if !isElastic(rj, g) || !isResized(&was.Template.Spec, &rj.Template.Spec) {
			continue
		}
		if isFinished(old) {
			errs = append(errs, field.Forbidden(jobPath(i), fmt.Sprintf(
				"Cannot mutate parallelism or completions when JobSet is in a terminal state (%s or %s)",
				jobset.JobSetCompleted, jobset.JobSetFailed)))
			continue
		}
		errs = append(errs, newSize(jobPath(i), &rj.Template.Spec)...)
		errs = append(errs, withinBounds(i, rj)...)
		errs = append(errs, podCount(new, i)...)
		errs = append(errs, podName(new, i)...)
		if workerpod.RestartsInPlace(new, g) {
			errs = append(errs, inPlaceSize(jobPath(i), rj)...)
		}
	}
	return errs
}

func isFinished(js *jobset.JobSet) bool {
	return meta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetCompleted)) ||
		meta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetFailed))
}

// newSize requires both numbers, equal and at least 1: a live Job accepts no others.
func newSize(path *field.Path, job *batchv1.JobSpec) field.ErrorList {
	var errs field.ErrorList
	for _, number := range []struct {
		name         string
		value, other *int32
	}{
		{"parallelism", job.Parallelism, job.Completions},
		{"completions", job.Completions, job.Parallelism},
	} {
		switch {
		case number.value == nil:
			errs = append(errs, field.Required(path.Child(number.name), fmt.Sprintf(
				"an Elastic Indexed Job needs parallelism and completions: set %s: %d", number.name, max(ptr.Deref(number.other, 1), 1))))
		case *number.value < 1:
			errs = append(errs, field.Invalid(path.Child(number.name), *number.value, number.name+" must be >= 1"))
		}
	}
	if p, c := job.Parallelism, job.Completions; p != nil && c != nil && *p != *c {
		errs = append(errs, field.Invalid(path.Child("completions"), *c,
			fmt.Sprintf("completions must be equal to parallelism for Elastic Indexed Jobs: set both to the same number, parallelism is %d", *p)))
	}
	return errs
}

// elasticBounds checks the bounds of elastic ReplicatedJobs, and that they can be kept (P100).
func elasticBounds(js *jobset.JobSet, g gates.Set) field.ErrorList {
	var all field.ErrorList
	for i := range js.Spec.ReplicatedJobs {
		rj := &js.Spec.ReplicatedJobs[i]
		if rj.Elastic == nil {
			continue
		}
		path := replicatedJobPath(i).Child("elastic")
		if !g.ElasticJobSet {
			all = append(all, field.Forbidden(path, "needs a feature gate of the manager: start it with --feature-gates=ElasticJobSet=true, or leave it out"))
			continue
		}
		var errs field.ErrorList
		if least, most := rj.Elastic.MinInstances, rj.Elastic.MaxInstances; most < least {
			errs = append(errs, field.Invalid(path.Child("maxInstances"), most, fmt.Sprintf("must be at least minInstances, which is %d", least)))
		}
		if rj.Replicas != 1 {
			errs = append(errs, field.Invalid(replicatedJobPath(i).Child("replicas"), rj.Replicas,
				"must be 1 with elastic: the number of Pods changes, not that of Jobs"))
		}
		if !isIndexed(&rj.Template.Spec) {
			errs = append(errs, field.Invalid(jobPath(i).Child("completionMode"), noValue,
				"must be Indexed, the default, with elastic: Kubernetes resizes no other Jobs"))
		}
		errs = append(errs, newSize(jobPath(i), &rj.Template.Spec)...)
		errs = append(errs, withinBounds(i, rj)...)
		if len(errs) == 0 {
			errs = otherSizes(js, i)
		}
		all = append(all, errs...)
	}
	return all
}

// withinBounds holds the size of an elastic ReplicatedJob within its bounds, whoever changes it. What is no
// size at all is left to newSize.
func withinBounds(i int, rj *jobset.ReplicatedJob) field.ErrorList {
	size := rj.Template.Spec.Completions
	if rj.Elastic == nil || size == nil || *size < 1 || (*size >= rj.Elastic.MinInstances && *size <= rj.Elastic.MaxInstances) {
		return nil
	}
	return field.ErrorList{field.Invalid(jobPath(i).Child("completions"), *size, fmt.Sprintf(
		"must be from minInstances to maxInstances of spec.replicatedJobs[%d].elastic, which are %d and %d",
		i, rj.Elastic.MinInstances, rj.Elastic.MaxInstances))}
}

// otherSizes checks what depends on the size for the largest and the least one, so that no change of size
// between the bounds is refused later. There is one Job, so 32 bits hold the number of Pods of every size.
func otherSizes(js *jobset.JobSet, i int) field.ErrorList {
	errs, largest := coordinatorStays(js, i), js.Spec.ReplicatedJobs[i].Elastic.MaxInstances
	if wrong := podNameWith(js, i, largest); len(wrong) > 0 && len(podName(js, i)) == 0 {
		errs = append(errs, field.Invalid(replicatedJobPath(i).Child("elastic", "maxInstances"), largest, "is too large: "+wrong[0].Detail))
	}
	return errs
}

// coordinatorStays refuses a coordinator that would leave if its ReplicatedJob had its least size. One that does
// not exist is refused as such.
func coordinatorStays(js *jobset.JobSet, i int) field.ErrorList {
	c, bounds := js.Spec.Coordinator, js.Spec.ReplicatedJobs[i].Elastic
	if c == nil || bounds == nil || c.ReplicatedJob != js.Spec.ReplicatedJobs[i].Name || c.PodIndex < int(bounds.MinInstances) || coordinatorPod(js, c) != "" {
		return nil
	}
	return field.ErrorList{field.Invalid(replicatedJobPath(i).Child("elastic", "minInstances"), bounds.MinInstances,
		fmt.Sprintf("must be above spec.coordinator.podIndex, which is %d: the Pods with the highest indexes leave first", c.PodIndex))}
}

// isCoordinatorResized reports whether the Job of the coordinator changes its size.
// It is false for a finished JobSet, for which resizes refuses that anyway.
func isCoordinatorResized(old, new *jobset.JobSet, g gates.Set) bool {
	if new.Spec.Coordinator == nil || isFinished(old) {
		return false
	}
	for i, was := range kept(old, new) {
		rj := &new.Spec.ReplicatedJobs[i]
		if rj.Name == new.Spec.Coordinator.ReplicatedJob && isElastic(rj, g) && isResized(&was.Template.Spec, &rj.Template.Spec) {
			return true
		}
	}
	return false
}
