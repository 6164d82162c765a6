/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
)

// leavingClaimInterval is how often to look whether a claim of that name is gone at last.
const leavingClaimInterval = time.Second

// createClaims plans the PersistentVolumeClaims that are missing. Those that
// exist are left alone, whoever made them.
func (d *decision) createClaims() {
	if len(d.in.JobSet.Spec.VolumeClaimPolicies) == 0 {
		return
	}
	for _, claim := range children.Claims(d.in.JobSet) {
		if d.in.Claims[claim.Name] == nil {
			d.plan.CreateClaims = append(d.plan.CreateClaims, claim)
		}
	}
}

// claimLeaving tells whether a claim has to go before it can be made anew: Jobs
// that mounted it now would keep it from going, and never start.
func (d *decision) claimLeaving() bool {
	if len(d.in.Claims) == 0 {
		return false
	}
	for _, claim := range children.Claims(d.in.JobSet) {
		existing := d.in.Claims[claim.Name]
		if existing != nil && (existing.DeletionTimestamp != nil || ofEarlierJobSet(existing, d.in.JobSet)) {
			return true
		}
	}
	return false
}

// ofEarlierJobSet tells whether an object belongs to a JobSet of the same name that
// is gone: the garbage collector is about to delete it.
func ofEarlierJobSet(obj metav1.Object, js *jobset.JobSet) bool {
	owner := metav1.GetControllerOfNoCopy(obj)
	return owner != nil && owner.Kind == jobset.Kind && owner.APIVersion == jobset.GroupVersion.String() &&
		owner.Name == js.Name && owner.UID != js.UID
}
