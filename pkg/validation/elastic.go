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
)

// isElastic says whether the size of a ReplicatedJob may change: a Job of
// Kubernetes can be resized if it is Indexed.
func isElastic(rj *jobset.ReplicatedJob, g gates.Set) bool {
	return g.ElasticJobSet && isIndexed(&rj.Template.Spec)
}

func isResized(old, new *batchv1.JobSpec) bool {
	return !ptr.Equal(old.Parallelism, new.Parallelism) || !ptr.Equal(old.Completions, new.Completions)
}

// resizes checks the ReplicatedJobs whose parallelism or completions change,
// by their own rules and by those of creation that depend on these numbers.
func resizes(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i := range new.Spec.ReplicatedJobs {
		rj := &new.Spec.ReplicatedJobs[i]
		was := predecessor(old, new, i)
		if !isElastic(rj, g) || was == nil || !isResized(&was.Template.Spec, &rj.Template.Spec) {
			continue
		}
		if isFinished(old) {
			errs = append(errs, field.Forbidden(jobPath(i), fmt.Sprintf(
				"Cannot mutate parallelism or completions when JobSet is in a terminal state (%s or %s)",
				jobset.JobSetCompleted, jobset.JobSetFailed)))
			continue
		}
		errs = append(errs, newSize(jobPath(i), &rj.Template.Spec)...)
		errs = append(errs, podCountOf(rj)...)
		errs = append(errs, podNamesOf(new, i)...)
		if restartsInPlace(new, g) {
			errs = append(errs, inPlaceSize(jobPath(i), rj)...)
		}
	}
	return errs
}

func isFinished(js *jobset.JobSet) bool {
	return meta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetCompleted)) ||
		meta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetFailed))
}

// newSize wants both numbers, equal and at least 1: a live Job takes no others.
func newSize(path *field.Path, job *batchv1.JobSpec) field.ErrorList {
	var errs field.ErrorList
	for _, number := range []struct {
		name  string
		value *int32
		other *int32
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

// isCoordinatorResized says whether the Job of the coordinator changes its size,
// which a finished JobSet may not do whatever becomes of the coordinator.
func isCoordinatorResized(old, new *jobset.JobSet, g gates.Set) bool {
	if new.Spec.Coordinator == nil || isFinished(old) {
		return false
	}
	for i := range new.Spec.ReplicatedJobs {
		rj := &new.Spec.ReplicatedJobs[i]
		if rj.Name != new.Spec.Coordinator.ReplicatedJob || !isElastic(rj, g) {
			continue
		}
		if was := predecessor(old, new, i); was != nil && isResized(&was.Template.Spec, &rj.Template.Spec) {
			return true
		}
	}
	return false
}
