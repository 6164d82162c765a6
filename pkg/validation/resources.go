/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// copyResources copies requests and limits of containers, not claims, from those of the same name.
func copyResources(to, from *jobset.ReplicatedJob) {
	is, was := &to.Template.Spec.Template.Spec, &from.Template.Spec.Template.Spec
	for _, lists := range [][2][]corev1.Container{{is.InitContainers, was.InitContainers}, {is.Containers, was.Containers}} {
		named := make(map[string]*corev1.ResourceRequirements, len(lists[1]))
		for i := range lists[1] {
			named[lists[1][i].Name] = &lists[1][i].Resources
		}
		for i := range lists[0] {
			if c := &lists[0][i]; named[c.Name] != nil {
				c.Resources.Requests, c.Resources.Limits = named[c.Name].Requests, named[c.Name].Limits
			}
		}
	}
}

// changedResources checks the resources of a template in which they changed, as those of a new one.
func changedResources(was *jobset.ReplicatedJob, new *jobset.JobSet, i int) field.ErrorList {
	var same jobset.ReplicatedJob
	new.Spec.ReplicatedJobs[i].DeepCopyInto(&same)
	if copyResources(&same, was); apiequality.Semantic.DeepEqual(same, new.Spec.ReplicatedJobs[i]) {
		return nil
	}
	errs, spec := resourceBound(new, i), &new.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec
	for k := range spec.InitContainers {
		errs = append(errs, requests(podPath(i).Child("initContainers").Index(k).Child("resources", "requests"), &spec.InitContainers[k])...)
	}
	for k := range spec.Containers {
		errs = append(errs, requests(podPath(i).Child("containers").Index(k).Child("resources", "requests"), &spec.Containers[k])...)
	}
	return errs[:min(len(errs), mostOfAList)]
}
