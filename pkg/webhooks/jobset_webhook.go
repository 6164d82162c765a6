/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/validation"
)

// +kubebuilder:webhook:path=/mutate-jobset-x-k8s-io-v1alpha2-jobset,mutating=true,failurePolicy=fail,sideEffects=None,groups=jobset.x-k8s.io,resources=jobsets,verbs=create,versions=v1alpha2,name=mjobset.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-jobset-x-k8s-io-v1alpha2-jobset,mutating=false,failurePolicy=fail,sideEffects=None,groups=jobset.x-k8s.io,resources=jobsets,verbs=create;update,versions=v1alpha2,name=vjobset.kb.io,admissionReviewVersions=v1

// jobSetDefaulter fills in defaults on creation.
type jobSetDefaulter struct{}

var _ admission.Defaulter[*jobset.JobSet] = jobSetDefaulter{}

// Default leaves updates alone even if a configuration sends them here.
func (jobSetDefaulter) Default(ctx context.Context, js *jobset.JobSet) error {
	if req, err := admission.RequestFromContext(ctx); err == nil && req.Operation != admissionv1.Create {
		return nil
	}
	Default(js)
	return nil
}

// jobSetValidator asks package validation and puts its answer into the shape of the API server.
type jobSetValidator struct {
	gates gates.Set
	// claims reads PersistentVolumeClaims past any cache: one that was created a
	// moment ago counts, and nobody else here wants to hear of all of them.
	claims client.Reader
}

var _ admission.Validator[*jobset.JobSet] = jobSetValidator{}

// ValidateCreate returns all violations at once, and warnings for what is admitted nevertheless.
func (v jobSetValidator) ValidateCreate(ctx context.Context, js *jobset.JobSet) (admission.Warnings, error) {
	errs := validation.Create(js, v.gates)
	errs = append(errs, validation.ExistingClaims(js, findClaims(ctx, v.claims, js))...)
	return validation.Warnings(js, v.gates), validation.ToStatusError(js, errs)
}

// ValidateUpdate returns all forbidden changes at once. What a warning could
// be about cannot change.
func (v jobSetValidator) ValidateUpdate(_ context.Context, oldJS, newJS *jobset.JobSet) (admission.Warnings, error) {
	return nil, validation.ToStatusError(newJS, validation.Update(oldJS, newJS, v.gates))
}

// ValidateDelete allows every deletion; the webhook is not registered for it.
func (v jobSetValidator) ValidateDelete(context.Context, *jobset.JobSet) (admission.Warnings, error) {
	return nil, nil
}
