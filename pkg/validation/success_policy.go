/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

func successPolicyTargets(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	if js.Spec.SuccessPolicy == nil {
		return nil
	}
	return unknown(js.Spec.SuccessPolicy.TargetReplicatedJobs, namesOf(js).Has, "invalid replicatedJob name '%s' does not appear in .spec.ReplicatedJobs")
}
