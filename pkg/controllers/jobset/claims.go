/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
)

// claimsOf looks up which of the PersistentVolumeClaims that the JobSet asks for
// exist. Only their metadata is watched, and only once a JobSet has claims.
func (r *JobSetReconciler) claimsOf(ctx context.Context, js *jobset.JobSet) (map[string]*metav1.PartialObjectMetadata, error) {
	if len(js.Spec.VolumeClaimPolicies) == 0 {
		return nil, nil
	}
	if r.informers != nil {
		if _, err := r.informers.GetInformer(ctx, claimMetadata()); err != nil { // waits for the first list
			return nil, fmt.Errorf("watching PersistentVolumeClaims: %w", err)
		}
	}
	existing := map[string]*metav1.PartialObjectMetadata{}
	for _, name := range children.ClaimNames(js) {
		claim := claimMetadata()
		key := types.NamespacedName{Namespace: js.Namespace, Name: name}
		err := r.client.Get(ctx, key, claim, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("reading PersistentVolumeClaim %s: %w", key, err)
		}
		if err == nil {
			existing[name] = claim
		}
	}
	return existing, nil
}

func claimMetadata() *metav1.PartialObjectMetadata {
	claim := &metav1.PartialObjectMetadata{}
	claim.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
	return claim
}
