/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package webhooks is the admission of JobSets and of their Pods towards the API
// server: it decodes, looks up, calls the pure functions that decide, and answers.
package webhooks

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// Setup serves all webhooks from the webhook server of the manager. The
// builder derives the paths of JobSet's from group, version and kind; they must
// be those of the markers in jobset_webhook.go. Those of Pods look leaders up by
// the index placement.PodNameIndex, which comes with the Pod controller.
//
// The defaulter must not be given DefaulterRemoveUnknownOrOmitableFields:
// without it, fields that this version does not know and explicit zeros
// survive.
func Setup(mgr ctrl.Manager, g gates.Set) error {
	err := ctrl.NewWebhookManagedBy(mgr, &jobset.JobSet{}).
		WithDefaulter(jobSetDefaulter{}).
		WithValidator(jobSetValidator{gates: g, claims: mgr.GetAPIReader()}).
		Complete()
	if err != nil {
		return fmt.Errorf("registering the webhooks of JobSet: %w", err)
	}
	pods := &podWebhook{reader: mgr.GetClient(), decoder: admission.NewDecoder(mgr.GetScheme())}
	server := mgr.GetWebhookServer()
	server.Register(mutatePodPath, &webhook.Admission{Handler: admission.HandlerFunc(pods.mutate)})
	server.Register(validatePodPath, &webhook.Admission{Handler: admission.HandlerFunc(pods.validate)})
	return nil
}
