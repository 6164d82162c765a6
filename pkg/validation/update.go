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

// Messages that clients match on. Which field has which is historical: the
// second was once the message of a rule in the schema.
const (
	immutable      = "field is immutable"
	valueImmutable = "Value is immutable"
)

// replicatedJobsUnchanged allows two things to change: five fields of the Pod
// templates, and behind a gate the resources of containers, while the JobSet is suspended, before or after the update, since
// queueing systems set them when they admit the JobSet; and, behind a gate, the
// size of Indexed Jobs.
func replicatedJobsUnchanged(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	path := specPath.Child("replicatedJobs")
	set := func(to, from *jobset.ReplicatedJob) {
		copyDependsOn(to, from)
		if g.ElasticJobSet {
			copySizeIfIndexed(to, from)
		}
		if isSuspended(old) || isSuspended(new) {
			copyPodTemplateFields(to, from)
			if g.MutablePodResourcesForSuspendedJobSets {
				copyResources(to, from)
			}
		}
	}
	changed := differences(path, old.Spec.ReplicatedJobs, replicatedJobsWith(old, new, set))
	if len(changed) == 0 {
		return nil
	}
	detail := fmt.Sprintf("%s, changed: %s", immutable, summary(changed))
	changedOnly := func(copied func(to, from *jobset.ReplicatedJob)) bool {
		all := func(to, from *jobset.ReplicatedJob) { set(to, from); copied(to, from) }
		return len(differences(path, old.Spec.ReplicatedJobs, replicatedJobsWith(old, new, all))) == 0
	}
	suspendable := func(to, from *jobset.ReplicatedJob) { copyPodTemplateFields(to, from); copyResources(to, from) }
	switch {
	case changedOnly(copyPodTemplateFields), g.MutablePodResourcesForSuspendedJobSets && changedOnly(suspendable):
		detail += "; this may change while the JobSet is suspended: set spec.suspend to true in the same update"
	case changedOnly(suspendable):
		detail += "; requests and limits may change while the JobSet is suspended, behind a feature gate of the manager: start it with " +
			"--feature-gates=MutablePodResourcesForSuspendedJobSets=true, or set featureGates: {MutablePodResourcesForSuspendedJobSets: true} in its configuration"
	case !g.ElasticJobSet && changedOnly(copySizeIfIndexed):
		detail += "; a size may change behind a feature gate of the manager: start it with --feature-gates=ElasticJobSet=true"
	}
	return field.ErrorList{field.Invalid(path, noValue, detail)}
}

// predecessor returns the old ReplicatedJob of the same name, which nearly always has the
// same index, or nil.
func predecessor(old, new *jobset.JobSet, i int) *jobset.ReplicatedJob {
	name := new.Spec.ReplicatedJobs[i].Name
	if i < len(old.Spec.ReplicatedJobs) && old.Spec.ReplicatedJobs[i].Name == name {
		return &old.Spec.ReplicatedJobs[i]
	}
	return findReplicatedJob(old, name)
}

func isSuspended(js *jobset.JobSet) bool {
	return js.Spec.Suspend != nil && *js.Spec.Suspend
}

// replicatedJobsWith returns the new ReplicatedJobs after set has copied fields
// to each from the old one of the same name.
func replicatedJobsWith(old, new *jobset.JobSet, set func(to, from *jobset.ReplicatedJob)) []jobset.ReplicatedJob {
	out := new.Spec.DeepCopy().ReplicatedJobs
	for i, was := range kept(old, new) {
		set(&out[i], was)
	}
	return out
}

func copyPodTemplateFields(to, from *jobset.ReplicatedJob) {
	is, was := &to.Template.Spec.Template, &from.Template.Spec.Template
	is.Labels = was.Labels
	is.Annotations = was.Annotations
	is.Spec.NodeSelector = was.Spec.NodeSelector
	is.Spec.Tolerations = was.Spec.Tolerations
	is.Spec.SchedulingGates = was.Spec.SchedulingGates
}

func copySizeIfIndexed(to, from *jobset.ReplicatedJob) {
	if isIndexed(&to.Template.Spec) {
		to.Template.Spec.Parallelism = from.Template.Spec.Parallelism
		to.Template.Spec.Completions = from.Template.Spec.Completions
	}
}

// copyDependsOn leaves a changed list to dependsOnUnchanged, which has another message.
func copyDependsOn(to, from *jobset.ReplicatedJob) {
	if len(to.DependsOn) > 0 && len(from.DependsOn) > 0 {
		to.DependsOn = from.DependsOn
	}
}

func dependsOnUnchanged(old, new *jobset.JobSet, _ gates.Set) (errs field.ErrorList) {
	for i, was := range kept(old, new) {
		if is := new.Spec.ReplicatedJobs[i].DependsOn; len(was.DependsOn) > 0 && len(is) > 0 {
			errs = append(errs, unchanged(replicatedJobPath(i).Child("dependsOn"), was.DependsOn, is)...)
		}
	}
	return errs
}

// podTemplatesIfChanged checks the fields of Pod templates that may change while suspended.
func podTemplatesIfChanged(old, new *jobset.JobSet, _ gates.Set) (errs field.ErrorList) {
	if !isSuspended(old) && !isSuspended(new) {
		return nil // replicatedJobsUnchanged refuses changes
	}
	for i, was := range kept(old, new) {
		errs = append(errs, changedPodTemplate(was, new, i)...)
		errs = append(errs, changedResources(was, new, i)...)
	}
	return errs
}

// summary lists at most a few paths.
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

// policiesUnchanged also refuses to remove defaults that admission has set: running Jobs
// would silently lose what they rely on.
func policiesUnchanged(old, new *jobset.JobSet, _ gates.Set) field.ErrorList {
	was, is := &old.Spec, &new.Spec
	errs := unchanged(specPath.Child("network"), was.Network, is.Network)
	errs = append(errs, unchanged(specPath.Child("successPolicy"), was.SuccessPolicy, is.SuccessPolicy)...)
	errs = append(errs, unchanged(failurePolicyPath, withoutAdjustable(was.FailurePolicy), withoutAdjustable(is.FailurePolicy))...)
	errs = append(errs, unchanged(specPath.Child("startupPolicy"), was.StartupPolicy, is.StartupPolicy)...)
	return append(errs, unchanged(specPath.Child("volumeClaimPolicies"), was.VolumeClaimPolicies, is.VolumeClaimPolicies)...)
}

// unchanged compares semantically, so a client may leave out explicit zeros.
func unchanged(path *field.Path, old, new any) field.ErrorList {
	changed := differences(path, old, new)
	if len(changed) == 0 {
		return nil
	}
	detail := valueImmutable + ": it cannot be added, removed or changed after creation"
	if changed[0] != path.String() {
		detail += ", changed: " + summary(changed)
	}
	return field.ErrorList{field.Invalid(path, noValue, detail)}
}

// coordinatorIfChanged checks a coordinator that changed, which is allowed at any time, or whose
// Job was resized.
func coordinatorIfChanged(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	changed := !apiequality.Semantic.DeepEqual(old.Spec.Coordinator, new.Spec.Coordinator)
	if !changed && !isCoordinatorResized(old, new, g) {
		return nil
	}
	errs := coordinator(new, g)
	for i := range new.Spec.ReplicatedJobs {
		if changed && isElastic(&new.Spec.ReplicatedJobs[i], g) {
			errs = append(errs, coordinatorStays(new, i)...)
		}
	}
	return errs
}
