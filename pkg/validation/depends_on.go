/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// firstHasNoDependsOn refuses dependsOn of the first ReplicatedJob, which has no
// predecessor. An empty list is fine.
func firstHasNoDependsOn(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	if len(js.Spec.ReplicatedJobs) > 0 && len(js.Spec.ReplicatedJobs[0].DependsOn) > 0 {
		return field.ErrorList{plain("DependsOn can't be set for the first ReplicatedJob")}
	}
	return nil
}

// dependsOnEarlier rules out cycles, including a ReplicatedJob that waits for itself.
func dependsOnEarlier(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	earlier := sets.New[string]()
	for _, rj := range js.Spec.ReplicatedJobs {
		for _, dep := range rj.DependsOn {
			if !earlier.Has(dep.Name) {
				errs = append(errs, plain(fmt.Sprintf(
					"replicatedJob: %s cannot depend on replicatedJob: %s, which must come earlier in the list", rj.Name, dep.Name)))
			}
		}
		earlier.Insert(rj.Name)
	}
	return errs
}
