/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
)

// leavingClaimInterval is how often to look whether a claim that is being deleted is gone.
const leavingClaimInterval = time.Second

// createClaims creates the PersistentVolumeClaims that are missing. Those that
// exist are left alone, whoever made them.
func createClaims(v *view, _ result) result {
	var r result
	exists := func(name string) bool { return v.Claims[name] != nil }
	if !slices.ContainsFunc(children.ClaimNames(v.JobSet), func(name string) bool { return !exists(name) }) {
		return r
	}
	for _, claim := range children.Claims(v.JobSet) {
		if !exists(claim.Name) {
			r.writes.CreateClaims = append(r.writes.CreateClaims, claim)
		}
	}
	return r
}

// claimLeaving reports whether a claim has to go before it can be created again: Jobs
// that mounted it now would keep it from going, and never start.
func (v *view) claimLeaving() bool {
	if len(v.Claims) == 0 {
		return false
	}
	return slices.ContainsFunc(children.ClaimNames(v.JobSet), func(name string) bool {
		existing := v.Claims[name]
		return existing != nil && (existing.DeletionTimestamp != nil || ofEarlierJobSet(existing, v.JobSet))
	})
}

// ofEarlierJobSet reports whether an object belongs to a JobSet of the same name that
// is gone: the garbage collector is about to delete it.
func ofEarlierJobSet(obj metav1.Object, js *jobset.JobSet) bool {
	owner := metav1.GetControllerOfNoCopy(obj)
	return owner != nil && owner.Kind == jobset.Kind && owner.APIVersion == jobset.GroupVersion.String() &&
		owner.Name == js.Name && owner.UID != js.UID
}
