/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/validation"
)

// What one admission may ask: a few claims by name, else all claims of the namespace, page by page. A list of metadata
// would hardly be smaller, and of the claims that exist the spec counts, too.
const (
	claimsByName  = 10
	claimsPerPage = 250
	maxClaimPages = 40
)

// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list

// findClaims looks up the claims that a new JobSet asks for: a few at
// most, and none for most JobSets. It records errors by claim. Once the request
// has timed out, it makes no further lookups.
func findClaims(ctx context.Context, reader client.Reader, js *jobset.JobSet) map[string]validation.FoundClaim {
	names := validation.ClaimsToFind(js)
	if len(names) > claimsByName {
		found, err := listClaims(ctx, reader, js.Namespace, names)
		if err != nil {
			found = map[string]validation.FoundClaim{names[0]: {Err: err}} // the same for each name
		}
		return found
	}
	found := map[string]validation.FoundClaim{}
	for _, name := range names {
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

// listClaims finds claims among all of a namespace.
func listClaims(ctx context.Context, reader client.Reader, namespace string, names []string) (map[string]validation.FoundClaim, error) {
	found, wanted := map[string]validation.FoundClaim{}, sets.New(names...)
	page := &corev1.PersistentVolumeClaimList{}
	for range maxClaimPages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		options := []client.ListOption{client.InNamespace(namespace), client.Limit(claimsPerPage), client.Continue(page.Continue)}
		page = &corev1.PersistentVolumeClaimList{}
		if err := reader.List(ctx, page, options...); err != nil {
			return nil, fmt.Errorf("listing the claims of namespace %s: %w", namespace, err)
		}
		for i := range page.Items {
			if claim := &page.Items[i]; wanted.Has(claim.Name) {
				found[claim.Name] = validation.FoundClaim{Claim: claim.DeepCopy()} // and not the page with it
			}
		}
		if page.Continue == "" {
			return found, nil
		}
	}
	return nil, fmt.Errorf("namespace %s has more than %d claims, too many to look through: use at most %d templates, whose claims are looked up by name",
		namespace, maxClaimPages*claimsPerPage, claimsByName)
}
