/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/validation"
)

// +kubebuilder:webhook:path=/mutate-jobset-x-k8s-io-v1alpha2-jobset,mutating=true,failurePolicy=fail,sideEffects=None,groups=jobset.x-k8s.io,resources=jobsets,verbs=create;update,versions=v1alpha2,name=mjobset.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-jobset-x-k8s-io-v1alpha2-jobset,mutating=false,failurePolicy=fail,sideEffects=None,groups=jobset.x-k8s.io,resources=jobsets,verbs=create;update,versions=v1alpha2,name=vjobset.kb.io,admissionReviewVersions=v1

// jobSetDefaulter fills in defaults on creation, and on updates what they leave out.
type jobSetDefaulter struct {
	gates   gates.Set
	decoder admission.Decoder
	// progress and lostNode are what the configuration has of them.
	progress *jobset.ProgressPolicy
	lostNode *jobset.LostNodePolicy
	// keepAway says which nodes Pods of JobSets in a queue keep away from.
	keepAway nodehealth.Rules
}

var _ admission.Defaulter[*jobset.JobSet] = jobSetDefaulter{}

// Default ignores operations it does not know, even if a webhook configuration sends them here.
func (d jobSetDefaulter) Default(ctx context.Context, js *jobset.JobSet) error {
	req, err := admission.RequestFromContext(ctx)
	switch {
	case err != nil || req.Operation == admissionv1.Create:
		Default(js, d.gates)
		defaultProgress(js, nil, d.gates, d.progress)
		defaultLostNode(js, nil, d.gates, d.lostNode)
		defaultAffinity(js, d.gates, d.keepAway)
	case req.Operation == admissionv1.Update:
		old := &jobset.JobSet{}
		if err := d.decoder.DecodeRaw(req.OldObject, old); err != nil {
			return fmt.Errorf("decoding the stored JobSet: %w", err)
		}
		d.keep(js, old)
	}
	return nil
}

// keep fills in what an update leaves out.
func (d jobSetDefaulter) keep(js, old *jobset.JobSet) {
	Keep(js, old)
	defaultProgress(js, old, d.gates, d.progress)
	defaultLostNode(js, old, d.gates, d.lostNode)
}

// Paths of the JobSet webhooks, as in the markers above.
const (
	mutateJobSetPath   = "/mutate-jobset-x-k8s-io-v1alpha2-jobset"
	validateJobSetPath = "/validate-jobset-x-k8s-io-v1alpha2-jobset"
)

// mutateJobSets adds to the defaults why they are what they are: only here it can be seen what
// the author left out. A Defaulter has no warnings. It keeps the form of what an update does not change.
func mutateJobSets(scheme *runtime.Scheme, d jobSetDefaulter) admission.HandlerFunc {
	defaults := admission.WithDefaulter(scheme, d)
	return func(ctx context.Context, req admission.Request) admission.Response {
		var kept unsaid
		whole := req
		if req.Operation == admissionv1.Update {
			kept = leftOutOf(req.Object.Raw, req.OldObject.Raw, d.gates)
			whole.Object.Raw = kept.into(req.Object.Raw)
		}
		response := defaults.Handler.Handle(ctx, whole)
		written, old := &jobset.JobSet{}, &jobset.JobSet{}
		switch {
		case !response.Allowed || d.decoder.Decode(whole, written) != nil:
		case req.Operation == admissionv1.Create:
			return response.WithWarnings(validation.DefaultWarnings(written, d.gates)...)
		case req.Operation == admissionv1.Update && d.decoder.DecodeRaw(req.OldObject, old) == nil:
			d.keep(written, old)
			return keepForm(written, old, req, kept.answer(response))
		}
		return response
	}
}

// jobSetValidator calls package validation and returns its results in the form of the API server.
type jobSetValidator struct {
	gates   gates.Set
	cluster validation.Cluster
	// claims reads PersistentVolumeClaims past the cache: a claim that was just created
	// counts, and nothing else here needs a watch of all claims.
	claims client.Reader
	// reviews asks what service accounts may do; nil if the manager gives them no rights.
	reviews client.Writer
	// asking holds the admissions that ask the API server now.
	asking chan struct{}
}

var _ admission.Validator[*jobset.JobSet] = jobSetValidator{}

// ValidateCreate returns all violations at once, and warnings for what is admitted nevertheless. It asks the API server
// only about a JobSet that nothing else is wrong with (W69a).
func (v jobSetValidator) ValidateCreate(ctx context.Context, js *jobset.JobSet) (admission.Warnings, error) {
	if errs := validation.Bounds(js); len(errs) > 0 {
		return nil, validation.ToStatusError(js, errs)
	}
	errs := validation.Create(js, v.gates)
	errs = append(errs, validation.InCluster(js, v.gates, v.cluster)...)
	warnings := append(validation.Warnings(js, v.gates), validation.ToleranceWarnings(nil, js, v.gates, v.cluster.Tolerance)...)
	warnings = append(warnings, validation.QueueWarnings(js, v.gates, v.cluster)...)
	if len(errs) > 0 {
		return warnings, validation.ToStatusError(js, errs)
	}
	asked, errs := v.ask(ctx, js)
	return append(warnings, asked...), validation.ToStatusError(js, errs)
}

// ask looks up claims and accounts. While as many admissions as may do so wait for the API server, others pass without: whoever
// makes dry runs must not keep out the JobSets of others, nor updates, which ask nothing.
func (v jobSetValidator) ask(ctx context.Context, js *jobset.JobSet) (admission.Warnings, field.ErrorList) {
	select {
	case v.asking <- struct{}{}:
		defer func() { <-v.asking }()
	default:
		if len(validation.ClaimsToFind(js)) > 0 {
			return admission.Warnings{validation.UncheckedClaims("many JobSets are checked at once")}, nil
		}
		return nil, nil
	}
	found, all := findClaims(ctx, v.claims, js)
	if errs := validation.ExistingClaims(js, found); len(errs) > 0 {
		return nil, errs
	}
	warnings := accountWarnings(ctx, v.reviews, js)
	if !all {
		warnings = append(warnings, validation.UncheckedClaims("the namespace has too many, or too large ones"))
	}
	return warnings, nil
}

// ValidateUpdate returns all forbidden changes at once, and warnings about faultTolerance, progress and placement if they
// change: the fields that other warnings are about cannot change.
func (v jobSetValidator) ValidateUpdate(_ context.Context, oldJS, newJS *jobset.JobSet) (admission.Warnings, error) {
	warnings := append(validation.ToleranceWarnings(oldJS, newJS, v.gates, v.cluster.Tolerance), validation.AdjustedWarnings(oldJS, newJS, v.gates)...)
	warnings = append(warnings, validation.ChangedPlacementWarnings(oldJS, newJS)...)
	return warnings, validation.ToStatusError(newJS, validation.Update(oldJS, newJS, v.gates))
}

// ValidateDelete allows every deletion; the webhook is not registered for it.
func (v jobSetValidator) ValidateDelete(context.Context, *jobset.JobSet) (admission.Warnings, error) {
	return nil, nil
}
