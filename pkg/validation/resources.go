/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func copyResources(to, from *jobset.ReplicatedJob) {
	workerpod.CopyResources(&to.Template.Spec.Template.Spec, &from.Template.Spec.Template.Spec)
}

// changedResources checks the resources of a template in which they changed, as those of a new one.
func changedResources(was *jobset.ReplicatedJob, new *jobset.JobSet, i int) field.ErrorList {
	var same jobset.ReplicatedJob
	new.Spec.ReplicatedJobs[i].DeepCopyInto(&same)
	if copyResources(&same, was); apiequality.Semantic.DeepEqual(same, new.Spec.ReplicatedJobs[i]) {
		return nil
	}
	errs := resourceBound(new, i)
	for at, c := range containersOf(new, i) {
		errs = append(errs, requests(at().Child("resources", "requests"), c)...)
	}
	return errs[:min(len(errs), mostOfAList)]
}
