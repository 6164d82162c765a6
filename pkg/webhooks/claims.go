/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/validation"
)

// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get

// findClaims looks up the claims that a new JobSet asks for: a few at
// most, and none for most JobSets. It records errors by claim. Once the request
// has timed out, it makes no further lookups.
func findClaims(ctx context.Context, reader client.Reader, js *jobset.JobSet) map[string]validation.FoundClaim {
	found := map[string]validation.FoundClaim{}
	for _, name := range validation.ClaimsToFind(js) {
		claim := &corev1.PersistentVolumeClaim{}
		err := ctx.Err()
		if err == nil {
			err = reader.Get(ctx, client.ObjectKey{Namespace: js.Namespace, Name: name}, claim)
		}
		switch {
		case err == nil:
			found[name] = validation.FoundClaim{Claim: claim}
		case !apierrors.IsNotFound(err):
			found[name] = validation.FoundClaim{Err: err}
		}
	}
	return found
}
