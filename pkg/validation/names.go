/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/gates"
)

const (
	// maxGenerateName is how much of generateName the API server keeps.
	maxGenerateName = validation.DNS1035LabelMaxLength - len(randomSuffix)
	// randomSuffix stands for the 5 characters that the API server appends to
	// Pod names and to generateName. The result does not depend on which they are.
	randomSuffix = "abcde"
)

// nameOf returns the name from which the names of child objects are derived.
func nameOf(js *jobset.JobSet) string {
	if js.Name != "" || js.GenerateName == "" {
		return js.Name
	}
	return js.GenerateName[:min(len(js.GenerateName), maxGenerateName)] + randomSuffix
}

// dns1035Label checks a name, with the message tooLong instead of the library's for its length.
func dns1035Label(path *field.Path, name, tooLong string) field.ErrorList {
	messages := validation.IsDNS1035Label(name)
	if i := slices.Index(messages, validation.MaxLenError(validation.DNS1035LabelMaxLength)); i >= 0 {
		messages[i] = tooLong
	}
	return invalids(path, name, messages)
}

func groupName(js *jobset.JobSet, i int) field.ErrorList {
	return dns1035Label(replicatedJobPath(i).Child("groupName"), js.Spec.ReplicatedJobs[i].GroupName,
		".spec.replicatedJob[].groupName is too long, must be less than 63 characters")
}

// jobName checks the name of the last Job, the longest one.
func jobName(js *jobset.JobSet, i int) field.ErrorList {
	rj, path := &js.Spec.ReplicatedJobs[i], replicatedJobPath(i).Child("name")
	if rj.Name == "" { // the schema does not notice: defaulting has written a missing name as ""
		return field.ErrorList{field.Required(path, "is part of the names of its Jobs and Pods")}
	}
	errs := dns1035Label(path, lastJobName(js, rj),
		"JobSet name or ReplicatedJob name is too long, job names generated for this JobSet will exceed 63 characters")
	if len(errs) == 0 { // the name may start or end with a hyphen inside a Job name, but not as a label value
		errs = invalids(path, rj.Name, validation.IsValidLabelValue(rj.Name))
	}
	return errs
}

// podName checks the longest Pod name of an Indexed Job.
func podName(js *jobset.JobSet, i int) field.ErrorList {
	job := jobSpec(js, i)
	if !isIndexed(job) || job.Completions == nil {
		return nil
	}
	return podNameWith(js, i, *job.Completions)
}

// podNameWith does so for a number of completions, which need not be the one in the template.
func podNameWith(js *jobset.JobSet, i int, completions int32) field.ErrorList {
	name := fmt.Sprintf("%s-%d-%s", lastJobName(js, &js.Spec.ReplicatedJobs[i]), last(completions), randomSuffix)
	return dns1035Label(replicatedJobPath(i).Child("name"), name,
		"JobSet name or ReplicatedJob name is too long, pod names generated for this JobSet will exceed 63 characters")
}

func lastJobName(js *jobset.JobSet, rj *jobset.ReplicatedJob) string {
	return fmt.Sprintf("%s-%s-%d", nameOf(js), rj.Name, last(rj.Replicas))
}

// last returns the last index of count objects, at least 0: a name that is too long with
// one object is refused even while there are none.
func last(count int32) int32 {
	return max(count, 1) - 1
}

// serviceName checks the name of the headless Service if it is the name of
// the JobSet. With ReplicatedJobs, the check of the longer Job names covers it.
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
func podCount(js *jobset.JobSet, i int) field.ErrorList {
	rj := &js.Spec.ReplicatedJobs[i]
	if int64(rj.Replicas)*int64(ptr.Deref(rj.Template.Spec.Parallelism, 1)) <= math.MaxInt32 {
		return nil
	}
	return field.ErrorList{plain(fmt.Sprintf(
		"the product of replicas and parallelism must not exceed %d for replicatedJob '%s'", math.MaxInt32, rj.Name))}
}
