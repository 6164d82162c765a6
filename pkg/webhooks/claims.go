/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/validation"
)

// What one admission may ask: for some claims by name, else for all claims of the namespace, list by list. A list of metadata
// would hardly be smaller, and of the claims that exist the spec counts, too.
const (
	claimsByName  = 50
	claimsPerList = 250
	maxClaimLists = 40
)

// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list

// findClaims looks up the claims that a new JobSet asks for: a few at
// most, and none for most JobSets. It records errors by claim. Once the request
// has timed out, it makes no further lookups. all is false if the namespace is too large to find each.
func findClaims(ctx context.Context, reader client.Reader, js *jobset.JobSet) (found map[string]validation.FoundClaim, all bool) {
	names := validation.ClaimsToFind(js)
	if len(names) > claimsByName {
		found, all, err := listClaims(ctx, reader, js.Namespace, names)
		if err != nil {
			found = map[string]validation.FoundClaim{names[0]: {Err: err}} // the same for each name
		}
		return found, all
	}
	found = map[string]validation.FoundClaim{}
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
	return found, true
}

// listClaims finds claims among all of a namespace, as far as its lists reach. Claims that are large come in shorter lists.
func listClaims(ctx context.Context, reader client.Reader, namespace string, names []string) (found map[string]validation.FoundClaim, all bool, err error) {
	found, wanted := map[string]validation.FoundClaim{}, sets.New(names...)
	next, limit := "", int64(claimsPerList)
	for range maxClaimLists {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		list := &corev1.PersistentVolumeClaimList{}
		err := reader.List(ctx, list, client.InNamespace(namespace), client.Limit(limit), client.Continue(next))
		switch {
		case errors.Is(err, errLongAnswer) && limit > 1:
			limit = max(1, limit/4)
			continue
		case err != nil:
			return nil, false, fmt.Errorf("listing the claims of namespace %s: %w", namespace, err)
		}
		for i := range list.Items {
			if claim := &list.Items[i]; wanted.Has(claim.Name) {
				found[claim.Name] = validation.FoundClaim{Claim: claim.DeepCopy()} // and not the list with it
			}
		}
		if next = list.Continue; next == "" {
			return found, true, nil
		}
	}
	return found, false, nil
}
