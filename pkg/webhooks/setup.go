/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package webhooks is the admission of JobSets and of their Pods towards the API
// server: it decodes, looks up, calls the pure functions that decide, and answers.
package webhooks

import (
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/validation"
)

// Setup registers all webhooks with the webhook server of the manager. The
// builder derives the path of the validating JobSet webhook from group, version and kind; it must
// match the marker in jobset_webhook.go. The Pod webhooks look up leaders by
// the indexes of package placement, which the Pod controller adds.
//
// The defaulter must not be given DefaulterRemoveUnknownOrOmitableFields:
// without it, fields that this version does not know and explicit zeros
// survive.
func Setup(mgr ctrl.Manager, g gates.Set, cluster validation.Cluster) error {
	decoder := admission.NewDecoder(mgr.GetScheme())
	validator := jobSetValidator{gates: g, cluster: cluster, claims: mgr.GetAPIReader()}
	if g.InPlaceRestart && cluster.GrantsAccess {
		validator.reviews = mgr.GetClient()
	}
	err := ctrl.NewWebhookManagedBy(mgr, &jobset.JobSet{}).WithValidator(validator).WithLogConstructor(logOf("jobSet")).Complete()
	if err != nil {
		return fmt.Errorf("registering the webhooks of JobSet: %w", err)
	}
	pods := &podWebhook{reader: mgr.GetClient(), decoder: decoder, gates: g, now: time.Now}
	server := mgr.GetWebhookServer()
	defaulter := jobSetDefaulter{gates: g, decoder: decoder, progress: cluster.Progress}
	server.Register(mutateJobSetPath, &webhook.Admission{Handler: mutateJobSets(mgr.GetScheme(), defaulter), LogConstructor: logOf("jobSet")})
	server.Register(mutatePodPath, &webhook.Admission{Handler: admission.HandlerFunc(pods.mutate), LogConstructor: logOf("pod")})
	server.Register(validatePodPath, &webhook.Admission{Handler: admission.HandlerFunc(pods.validate), LogConstructor: logOf("pod")})
	return nil
}

// logOf returns the loggers of requests, with the object under the key that the controllers use.
func logOf(key string) func(logr.Logger, *admission.Request) logr.Logger {
	return func(log logr.Logger, req *admission.Request) logr.Logger {
		if req == nil {
			return log
		}
		return log.WithValues(key, klog.KRef(req.Namespace, req.Name), "user", req.UserInfo.Username, "requestID", req.UID)
	}
}
