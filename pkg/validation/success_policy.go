/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

func successPolicyTargets(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	if js.Spec.SuccessPolicy == nil {
		return nil
	}
	var errs field.ErrorList
	known := namesOf(js)
	for _, name := range js.Spec.SuccessPolicy.TargetReplicatedJobs {
		if !known.Has(name) {
			errs = append(errs, plain(fmt.Sprintf(
				"invalid replicatedJob name '%s' does not appear in .spec.ReplicatedJobs", name)))
		}
	}
	return errs
}
