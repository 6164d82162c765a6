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

// What the API knows and the controller of this version does not do yet is
// refused: an accepted field that nobody acts on would be a lie. All of it is
// in this file, so that the version that learns one of these deletes its lines
// here and nothing else.

func unsupported(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	if p := js.Spec.StartupPolicy; p != nil && p.StartupPolicyOrder == jobset.InOrder {
		errs = append(errs, notYet(specPath.Child("startupPolicy", "startupPolicyOrder"), "InOrder",
			"use AnyOrder and let the workers wait for those they need"))
	}
	if len(js.Spec.VolumeClaimPolicies) > 0 {
		errs = append(errs, notYet(specPath.Child("volumeClaimPolicies"), "volumeClaimPolicies",
			"create the PersistentVolumeClaims beforehand and mount them as volumes of the Pod template"))
	}
	errs = append(errs, exclusiveByAffinity(field.NewPath("metadata", "annotations"), js.Annotations)...)
	for i, rj := range js.Spec.ReplicatedJobs {
		path := replicatedJobPath(i)
		if len(rj.DependsOn) > 0 {
			errs = append(errs, notYet(path.Child("dependsOn"), "dependsOn",
				"let the workers wait for those they need, or create a JobSet for each stage"))
		}
		errs = append(errs, exclusiveByAffinity(path.Child("template", "metadata", "annotations"), rj.Template.Annotations)...)
	}
	return errs
}

// unsupportedIfAdded compares by path: what was there before this version stays.
func unsupportedIfAdded(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	before := sets.New[string]()
	for _, err := range unsupported(old, g) {
		before.Insert(err.Field)
	}
	var errs field.ErrorList
	for _, err := range unsupported(new, g) {
		if !before.Has(err.Field) {
			errs = append(errs, err)
		}
	}
	return errs
}

// exclusiveByAffinity: only placement on nodes labelled beforehand is there yet.
func exclusiveByAffinity(path *field.Path, annotations map[string]string) field.ErrorList {
	if _, exclusive := annotations[jobset.ExclusiveKey]; !exclusive {
		return nil
	}
	if _, labelled := annotations[jobset.NodeSelectorStrategyKey]; labelled {
		return nil
	}
	return field.ErrorList{notYet(path.Key(jobset.ExclusiveKey), "exclusive placement by affinity",
		fmt.Sprintf("label and taint the nodes beforehand and set the annotation %s beside this one", jobset.NodeSelectorStrategyKey))}
}

// restartJobGate answers for two actions whose feature gate does not exist yet.
func restartJobGate() field.ErrorList {
	return field.ErrorList{plain(fmt.Sprintf("%s and %s failure policy actions are not allowed when RestartJob feature gate is disabled: "+
		"the gate comes with a later version; use %s or %s",
		jobset.RestartJob, jobset.RestartJobAndIgnoreMaxRestarts, jobset.RestartJobSet, jobset.RestartJobSetAndIgnoreMaxRestarts))}
}

func notYet(path *field.Path, what, instead string) *field.Error {
	return field.Forbidden(path, fmt.Sprintf("%s is not supported by this version yet; %s", what, instead))
}
