/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// maxClaimName limits the names of claims like all other names that contain the name of a JobSet.
const maxClaimName = validation.DNS1123LabelMaxLength

// claimTemplate is a template and its place in the JobSet.
type claimTemplate struct {
	*corev1.PersistentVolumeClaim
	policy *jobset.VolumeClaimPolicy
	// path of the template, policyPath of the policy around it.
	path, policyPath *field.Path
	// claim is the name of the PersistentVolumeClaim.
	claim string
}

func claimTemplates(js *jobset.JobSet) []claimTemplate {
	var out []claimTemplate
	for i := range js.Spec.VolumeClaimPolicies {
		policy, path := &js.Spec.VolumeClaimPolicies[i], specPath.Child("volumeClaimPolicies").Index(i)
		for j := range policy.Templates {
			template := &policy.Templates[j]
			out = append(out, claimTemplate{
				PersistentVolumeClaim: template, policy: policy,
				path: path.Child("templates").Index(j), policyPath: path,
				claim: placement.ClaimName(template.Name, nameOf(js)),
			})
		}
	}
	return out
}

func (t *claimTemplate) namePath() *field.Path { return t.path.Child("metadata", "name") }

func claimNames(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for _, t := range claimTemplates(js) {
		if seen.Has(t.Name) {
			errs = append(errs, field.Invalid(t.namePath(), t.Name, "names must be unique for VolumeClaimPolicies template"))
		}
		seen.Insert(t.Name)
		errs = append(errs, claimTemplateName(&t)...)
	}
	return errs
}

// claimTemplateName checks the name of a template, which becomes part of the name of
// a claim, and the name of a volume of the Pods, which must not have dots.
func claimTemplateName(t *claimTemplate) field.ErrorList {
	messages := validation.IsDNS1123Subdomain(t.Name)
	if len(messages) == 0 {
		for _, message := range validation.IsDNS1123Label(t.Name) {
			messages = append(messages, "it is also the name of a Pod volume: "+message)
		}
	}
	errs := invalids(t.namePath(), t.Name, messages)
	if len(t.claim) > maxClaimName {
		errs = append(errs, field.Invalid(t.namePath(), t.Name, fmt.Sprintf(
			"VolumeClaimPolicies template name is too long: the name of its PersistentVolumeClaim, %s, would exceed %d characters",
			t.claim, maxClaimName)))
	}
	return errs
}

// claimVolumes checks volumes: a template becomes a volume of its name in each Pod that mounts
// it, so no Pod may define a volume of that name, and at least one container must mount it.
// There may be thousands of templates and of Pods, so each Pod is looked at once (C382).
func claimVolumes(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	templates := claimTemplates(js)
	if len(templates) == 0 {
		return nil
	}
	mounted, defined := sets.New[string](), map[string][]*field.Path{}
	for i := range js.Spec.ReplicatedJobs {
		pod := podSpec(js, i)
		for j := range pod.Volumes {
			name := pod.Volumes[j].Name
			defined[name] = append(defined[name], podPath(i).Child("volumes").Index(j).Child("name"))
		}
		mounted.Insert(workerpod.Mounted(pod).UnsortedList()...)
	}
	var errs field.ErrorList
	for _, t := range templates {
		for _, path := range defined[t.Name] {
			errs = append(errs, field.Invalid(path, t.Name, "volume name conflicts with VolumeClaimPolicy template name: "+t.Name))
		}
		if !mounted.Has(t.Name) {
			errs = append(errs, field.Invalid(specPath.Child("replicatedJobs"), noValue, fmt.Sprintf(
				"replicatedJob containers don't have a matching volumeMount: %s, wanted by %s", t.Name, t.path)))
		}
	}
	return errs
}
