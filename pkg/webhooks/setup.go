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

	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/util/bounded"
	"sigs.k8s.io/jobset/pkg/validation"
)

// How many requests the webhooks work on at once: what runs waits for a processor, and the controllers with it. Those of
// Pods need it for a tenth of a millisecond; admissions of JobSets may also wait for the API server, but not all of them.
const (
	podsAtOnce    = 64
	jobSetsAtOnce = 32
	askingAtOnce  = 16
)

// Setup registers all webhooks with the webhook server of the manager. The Pod webhooks look up Pods by
// what the Pod controller returns.
//
// The defaulter must not be given DefaulterRemoveUnknownOrOmitableFields:
// without it, fields that this version does not know and explicit zeros
// survive.
func Setup(mgr ctrl.Manager, g gates.Set, cluster validation.Cluster, found placement.Pods) error {
	live, err := newLive(mgr)
	if err != nil {
		return fmt.Errorf("building the client of the webhooks: %w", err)
	}
	decoder := admission.NewDecoder(mgr.GetScheme())
	validator := jobSetValidator{gates: g, cluster: cluster, claims: live, asking: make(chan struct{}, askingAtOnce)}
	if g.InPlaceRestart && cluster.GrantsAccess {
		validator.reviews = newReviews(live)
	}
	defaulter := jobSetDefaulter{gates: g, decoder: decoder, progress: cluster.Progress, lostNode: cluster.LostNode, keepAway: cluster.KeepAway}
	pods := &podWebhook{reader: mgr.GetClient(), pods: found, decoder: decoder, gates: g, now: time.Now}

	bodies := bounded.NewBodies()
	register := func(path, object string, atOnce int64, handler admission.Handler) {
		hook := &webhook.Admission{Handler: handler, LogConstructor: logOf(object)}
		mgr.GetWebhookServer().Register(path, bounded.Requests(hook, atOnce, bodies))
	}
	register(mutateJobSetPath, "jobSet", jobSetsAtOnce, mutateJobSets(mgr.GetScheme(), defaulter))
	register(validateJobSetPath, "jobSet", jobSetsAtOnce, admission.WithValidator(mgr.GetScheme(), validator).Handler)
	register(mutatePodPath, "pod", podsAtOnce, admission.HandlerFunc(pods.mutate))
	register(validatePodPath, "pod", podsAtOnce, admission.HandlerFunc(pods.validate))
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
