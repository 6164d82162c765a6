/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package validation decides which JobSets are admitted. It is pure: a JobSet
// and the feature gates go in, all violations at once come out. The schema and
// its CEL rules have passed before, and defaults are set; still nothing here
// relies on it, so that a webhook that was bypassed never makes one panic.
//
// Every rule is a small function in the file of its concern, run by one loop.
// The ids (W.., P.., Q..) in the names of the tests are those of the
// specification of JobSet's admission.
package validation

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// rule finds the violations of one concern in a JobSet.
type rule func(js *jobset.JobSet, g gates.Set) field.ErrorList

// change finds what an update may not change.
type change func(old, new *jobset.JobSet, g gates.Set) field.ErrorList

var createRules = []rule{
	restartStrategyGate,
	firstHasNoDependsOn,
	subdomain,
	managedBy,
	successPolicyTargets,
	podCount,
	groupNames,
	serviceName,
	jobNames,
	podNames,
	dependsOnEarlier,
	inPlaceJobs,
	inPlaceAgents,
	inPlaceOrder,
	inPlaceActions,
	maxRestarts,
	failurePolicyRules,
	failureMessagePatterns,
	coordinator,
	restartPolicies,
	completions,
	restartRules,
	podTemplates,
	exclusiveTopology,
	exclusiveIsIndexed,
	claimNames,
	claimVolumes,
}

var updateRules = []change{
	replicatedJobsUnchanged,
	dependsOnUnchanged,
	resizes,
	managedByUnchanged,
	policiesUnchanged,
	coordinatorIfChanged,
	podTemplatesIfChanged,
	exclusiveIfChanged,
}

// Create returns every violation that a new JobSet has in itself. ExistingClaims
// returns those that come from what is in its namespace already.
func Create(js *jobset.JobSet, g gates.Set) field.ErrorList {
	var errs field.ErrorList
	for _, check := range createRules {
		errs = append(errs, check(js, g)...)
	}
	return errs
}

// Update returns every violation of a change. A field that did not change is
// never held against the update: it may have been admitted under other gates
// or by an older version, and finalizers must come off in any case.
func Update(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	var errs field.ErrorList
	for _, check := range updateRules {
		errs = append(errs, check(old, new, g)...)
	}
	return errs
}

// ToStatusError turns violations into the answer of the API server: 422
// Invalid with one cause per violation. No violations, no error.
func ToStatusError(js *jobset.JobSet, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(jobset.GroupVersion.WithKind(jobset.Kind).GroupKind(), js.Name, errs)
}

// plain is a violation without a field. Clients know these rules by this
// shape, "<nil>: Internal error: ...". New rules carry a path instead.
func plain(message string) *field.Error {
	return field.InternalError(nil, errors.New(message))
}

// noValue, as the value of a violation, keeps long values out of the message.
var noValue = field.OmitValueType{}

var specPath = field.NewPath("spec")

func replicatedJobPath(i int) *field.Path {
	return specPath.Child("replicatedJobs").Index(i)
}

// jobPath is the path of the Job spec in a ReplicatedJob.
func jobPath(i int) *field.Path {
	return replicatedJobPath(i).Child("template", "spec")
}

// podPath is the path of the Pod spec in a ReplicatedJob.
func podPath(i int) *field.Path {
	return jobPath(i).Child("template", "spec")
}

// findReplicatedJob returns the ReplicatedJob of a name, or nil.
func findReplicatedJob(js *jobset.JobSet, name string) *jobset.ReplicatedJob {
	for i := range js.Spec.ReplicatedJobs {
		if js.Spec.ReplicatedJobs[i].Name == name {
			return &js.Spec.ReplicatedJobs[i]
		}
	}
	return nil
}
