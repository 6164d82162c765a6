/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"math"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/gates"
)

const (
	// maxGenerateName is how much of generateName the API server keeps.
	maxGenerateName = validation.DNS1035LabelMaxLength - len(randomSuffix)
	// randomSuffix stands for the 5 characters that the API server appends, to
	// Pod names and to generateName. Any five give the same verdict.
	randomSuffix = "abcde"
)

// nameOf returns the name that child objects will be derived from.
func nameOf(js *jobset.JobSet) string {
	if js.Name != "" || js.GenerateName == "" {
		return js.Name
	}
	base := js.GenerateName
	if len(base) > maxGenerateName {
		base = base[:maxGenerateName]
	}
	return base + randomSuffix
}

// dns1035Label checks a name and says tooLong instead of the library's text for length.
func dns1035Label(path *field.Path, name, tooLong string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range validation.IsDNS1035Label(name) {
		if message == validation.MaxLenError(validation.DNS1035LabelMaxLength) {
			message = tooLong
		}
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}

func groupNames(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i, rj := range js.Spec.ReplicatedJobs {
		errs = append(errs, dns1035Label(replicatedJobPath(i).Child("groupName"), rj.GroupName,
			".spec.replicatedJob[].groupName is too long, must be less than 63 characters")...)
	}
	return errs
}

// jobNames checks the name of the last Job of each ReplicatedJob, the longest one.
func jobNames(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i, rj := range js.Spec.ReplicatedJobs {
		if rj.Name == "" { // the schema cannot tell: defaulting has written the missing name out as empty
			errs = append(errs, field.Required(replicatedJobPath(i).Child("name"), "is part of the names of its Jobs and Pods"))
			continue
		}
		path := replicatedJobPath(i).Child("name")
		found := dns1035Label(path, lastJobName(js, &rj),
			"JobSet name or ReplicatedJob name is too long, job names generated for this JobSet will exceed 63 characters")
		if len(found) == 0 { // inside a longer name a hyphen may stand where it may not in the label that holds this one
			for _, message := range validation.IsValidLabelValue(rj.Name) {
				found = append(found, field.Invalid(path, rj.Name, message))
			}
		}
		errs = append(errs, found...)
	}
	return errs
}

// podNames checks the longest Pod name of each Indexed Job.
func podNames(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i := range js.Spec.ReplicatedJobs {
		errs = append(errs, podNamesOf(js, i)...)
	}
	return errs
}

func podNamesOf(js *jobset.JobSet, i int) field.ErrorList {
	rj := &js.Spec.ReplicatedJobs[i]
	job := &rj.Template.Spec
	if !isIndexed(job) || job.Completions == nil {
		return nil
	}
	name := fmt.Sprintf("%s-%d-%s", lastJobName(js, rj), last(*job.Completions), randomSuffix)
	return dns1035Label(replicatedJobPath(i).Child("name"), name,
		"JobSet name or ReplicatedJob name is too long, pod names generated for this JobSet will exceed 63 characters")
}

func lastJobName(js *jobset.JobSet, rj *jobset.ReplicatedJob) string {
	return fmt.Sprintf("%s-%s-%d", nameOf(js), rj.Name, last(children.Replicas(rj)))
}

// last is the last index of so many. None at all are as good as one: a name
// that is too long then will be too long the day there is one.
func last(count int32) int32 {
	return max(count, 1) - 1
}

// serviceName checks the name of the headless Service where it is the name of
// the JobSet. With ReplicatedJobs, the names of their Jobs say all there is to say.
func serviceName(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	name := nameOf(js)
	if len(js.Spec.ReplicatedJobs) > 0 || name == "" || !children.NeedsService(js) || js.Spec.Network.Subdomain != "" {
		return nil
	}
	return dns1035Label(field.NewPath("metadata", "name"), name,
		"JobSet name is too long, the name of its Service will exceed 63 characters")
}

func isIndexed(job *batchv1.JobSpec) bool {
	return job.CompletionMode != nil && *job.CompletionMode == batchv1.IndexedCompletion
}

// podCount keeps the number of Pods of a ReplicatedJob in 32 bits.
func podCount(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i := range js.Spec.ReplicatedJobs {
		errs = append(errs, podCountOf(&js.Spec.ReplicatedJobs[i])...)
	}
	return errs
}

func podCountOf(rj *jobset.ReplicatedJob) field.ErrorList {
	parallelism := int64(1)
	if p := rj.Template.Spec.Parallelism; p != nil {
		parallelism = int64(*p)
	}
	if int64(children.Replicas(rj))*parallelism <= math.MaxInt32 {
		return nil
	}
	return field.ErrorList{plain(fmt.Sprintf(
		"the product of replicas and parallelism must not exceed %d for replicatedJob '%s'", math.MaxInt32, rj.Name))}
}
