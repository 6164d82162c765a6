/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// FoundClaim is the result of looking up a PersistentVolumeClaim: the claim, or the
// error, or neither if it does not exist.
type FoundClaim struct {
	Claim *corev1.PersistentVolumeClaim
	Err   error
}

// ClaimsToFind returns the names of the claims that a new JobSet may find, each once. It skips
// names that Create refuses, and returns none for a JobSet that has no name yet.
func ClaimsToFind(js *jobset.JobSet) []string {
	if js.Name == "" {
		return nil
	}
	var names []string
	seen := sets.New[string]()
	for _, t := range claimTemplates(js) {
		if !seen.Has(t.claim) && len(claimTemplateName(&t)) == 0 {
			names = append(names, t.claim)
		}
		seen.Insert(t.claim)
	}
	return names
}

// ExistingClaims returns the violations of a new JobSet that come from
// existing claims, given by name.
func ExistingClaims(js *jobset.JobSet, found map[string]FoundClaim) field.ErrorList {
	var errs field.ErrorList
	for _, t := range claimTemplates(js) {
		switch f := found[t.claim]; {
		case f.Err != nil:
			errs = append(errs, field.InternalError(t.path, fmt.Errorf("failed to check for existing PVC %s: %w", t.claim, f.Err)))
		case f.Claim != nil && !leaving(js, f.Claim):
			errs = append(errs, existingClaim(&t, f.Claim)...)
		}
	}
	return errs
}

// UncheckedClaims is the warning about existing claims that were not looked up.
func UncheckedClaims(why string) string {
	return fmt.Sprintf("%s: was not compared with all PersistentVolumeClaims that exist, because %s; claims of these names are used as they are",
		specPath.Child("volumeClaimPolicies"), why)
}

// leaving reports whether a claim is about to go, so that the controller will create
// a new one: it is being deleted, or belongs to an earlier JobSet of this name,
// which must be gone, since this one is being created. The garbage collector
// is about to delete its claims.
func leaving(js *jobset.JobSet, claim *corev1.PersistentVolumeClaim) bool {
	owner, owned := jobSetThatControls(claim)
	return claim.DeletionTimestamp != nil || owned && owner == js.Name
}

func jobSetThatControls(claim *corev1.PersistentVolumeClaim) (name string, found bool) {
	owner := metav1.GetControllerOf(claim)
	if owner == nil || owner.Kind != jobset.Kind {
		return "", false
	}
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	return owner.Name, err == nil && gv.Group == jobset.GroupVersion.Group
}

// existingClaim checks whether a JobSet can use an existing claim: the claim must match the
// template, and the JobSet must retain it.
func existingClaim(t *claimTemplate, claim *corev1.PersistentVolumeClaim) field.ErrorList {
	if _, owned := jobSetThatControls(claim); owned { // whose name the request does not have, so the answer does not either (W70a)
		return field.ErrorList{field.Invalid(t.namePath(), t.Name, fmt.Sprintf(
			"PVC %s in namespace %s belongs to another JobSet: choose another template name", claim.Name, claim.Namespace))}
	}
	var errs field.ErrorList
	if changed := claimDifferences(t, claim); len(changed) > 0 {
		errs = append(errs, field.Invalid(t.path.Child("spec"), noValue, fmt.Sprintf(
			"spec does not match existing PVC %s in namespace %s, which differs in: %s", claim.Name, claim.Namespace, summary(changed))))
	}
	retention := t.policy.RetentionPolicy
	if retention == nil { // the claim stays
		return errs
	}
	if when := ptr.Deref(retention.WhenDeleted, jobset.RetentionPolicyDelete); when != jobset.RetentionPolicyRetain {
		errs = append(errs, field.Invalid(t.policyPath.Child("retentionPolicy", "whenDeleted"), when, fmt.Sprintf(
			"retentionPolicy must be retain when PVC exists: %s was there before the JobSet", claim.Name)))
	}
	return errs
}

// claimDifferences compares only what the template sets. The API server and the
// binder have filled in the rest of a live claim.
func claimDifferences(t *claimTemplate, claim *corev1.PersistentVolumeClaim) []string {
	want, have := &t.Spec, claim.Spec.DeepCopy()
	if have.VolumeMode == nil {
		have.VolumeMode = ptr.To(corev1.PersistentVolumeFilesystem)
	}
	if sameModes(have.AccessModes, want.AccessModes) {
		have.AccessModes = want.AccessModes // in the order of the template
	}
	overlaid := have.DeepCopy()
	if len(want.AccessModes) > 0 {
		overlaid.AccessModes = want.AccessModes
	}
	overlaid.Resources.Requests = overlay(have.Resources.Requests, want.Resources.Requests)
	overlaid.Resources.Limits = overlay(have.Resources.Limits, want.Resources.Limits)
	if want.VolumeName != "" {
		overlaid.VolumeName = want.VolumeName
	}
	replace(&overlaid.Selector, want.Selector)
	replace(&overlaid.StorageClassName, want.StorageClassName)
	replace(&overlaid.VolumeMode, want.VolumeMode)
	replace(&overlaid.DataSource, want.DataSource)
	replace(&overlaid.DataSourceRef, want.DataSourceRef)
	replace(&overlaid.VolumeAttributesClassName, want.VolumeAttributesClassName)
	// The message has paths relative to the spec.
	paths := differences(field.NewPath("spec"), *have, *overlaid)
	for i := range paths {
		paths[i] = strings.TrimPrefix(paths[i], "spec.")
	}
	return paths
}

func sameModes(a, b []corev1.PersistentVolumeAccessMode) bool {
	return apiequality.Semantic.DeepEqual(sets.New(a...), sets.New(b...))
}

// overlay returns the quantities of have, overwritten by those of want.
func overlay(have, want corev1.ResourceList) corev1.ResourceList {
	all := corev1.ResourceList{}
	maps.Copy(all, have)
	maps.Copy(all, want)
	return all
}

// replace overwrites a field if the value is set.
func replace[T any](field **T, value *T) {
	if value != nil {
		*field = value
	}
}
