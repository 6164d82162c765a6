/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// immutable is the text that clients look for.
const immutable = "field is immutable"

// replicatedJobsUnchanged allows five fields of the Pod templates to change
// while the JobSet is suspended, before or after the update: queueing systems
// set them when they admit the JobSet.
func replicatedJobsUnchanged(old, new *jobset.JobSet, _ gates.Set) field.ErrorList {
	path := specPath.Child("replicatedJobs")
	compared := new.Spec.ReplicatedJobs
	if isSuspended(old) || isSuspended(new) {
		compared = withMutableFieldsOf(old, new)
	}
	changed := differences(path, old.Spec.ReplicatedJobs, compared)
	if len(changed) == 0 {
		return nil
	}
	detail := fmt.Sprintf("%s, changed: %s", immutable, summary(changed))
	if len(differences(path, old.Spec.ReplicatedJobs, withMutableFieldsOf(old, new))) == 0 {
		detail += "; this may change while the JobSet is suspended: set spec.suspend to true in the same update"
	}
	return field.ErrorList{field.Invalid(path, noValue, detail)}
}

func isSuspended(js *jobset.JobSet) bool {
	return js.Spec.Suspend != nil && *js.Spec.Suspend
}

// withMutableFieldsOf returns the new ReplicatedJobs with the five fields as
// they were before.
func withMutableFieldsOf(old, new *jobset.JobSet) []jobset.ReplicatedJob {
	out := make([]jobset.ReplicatedJob, len(new.Spec.ReplicatedJobs))
	for i := range new.Spec.ReplicatedJobs {
		new.Spec.ReplicatedJobs[i].DeepCopyInto(&out[i])
		was := findReplicatedJob(old, out[i].Name)
		if was == nil {
			continue
		}
		from, to := &was.Template.Spec.Template, &out[i].Template.Spec.Template
		to.Labels = from.Labels
		to.Annotations = from.Annotations
		to.Spec.NodeSelector = from.Spec.NodeSelector
		to.Spec.Tolerations = from.Spec.Tolerations
		to.Spec.SchedulingGates = from.Spec.SchedulingGates
	}
	return out
}

// summary names a few paths; a list of hundreds helps nobody.
func summary(paths []string) string {
	const shown = 5
	if len(paths) <= shown {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:shown], ", "), len(paths)-shown)
}

func managedByUnchanged(old, new *jobset.JobSet, _ gates.Set) field.ErrorList {
	if apiequality.Semantic.DeepEqual(old.Spec.ManagedBy, new.Spec.ManagedBy) {
		return nil
	}
	return field.ErrorList{field.Invalid(specPath.Child("managedBy"), new.Spec.ManagedBy, immutable)}
}

// failurePolicyUnchanged compares by meaning, so that a client that leaves out
// explicit zeros passes.
func failurePolicyUnchanged(old, new *jobset.JobSet, _ gates.Set) field.ErrorList {
	changed := differences(failurePolicyPath, old.Spec.FailurePolicy, new.Spec.FailurePolicy)
	if len(changed) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(failurePolicyPath, noValue, fmt.Sprintf(
		"%s: the policy cannot be added, removed or changed after creation, changed: %s", immutable, summary(changed)))}
}

// policiesUnchanged closes what the CEL rules of the schema leave open: they
// are not asked when a field comes or goes. Removing one that admission once
// filled in would silently change what running Jobs rely on.
func policiesUnchanged(old, new *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	for _, f := range []struct {
		name     string
		old, new any
	}{
		{"network", old.Spec.Network, new.Spec.Network},
		{"successPolicy", old.Spec.SuccessPolicy, new.Spec.SuccessPolicy},
		{"startupPolicy", old.Spec.StartupPolicy, new.Spec.StartupPolicy},
		{"volumeClaimPolicies", old.Spec.VolumeClaimPolicies, new.Spec.VolumeClaimPolicies},
	} {
		if !apiequality.Semantic.DeepEqual(f.old, f.new) {
			errs = append(errs, field.Invalid(specPath.Child(f.name), noValue,
				"Value is immutable: it cannot be added, removed or changed after creation"))
		}
	}
	return errs
}

// coordinatorIfChanged: the coordinator may change at any time, to a valid one.
func coordinatorIfChanged(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	if apiequality.Semantic.DeepEqual(old.Spec.Coordinator, new.Spec.Coordinator) {
		return nil
	}
	return coordinator(new, g)
}
