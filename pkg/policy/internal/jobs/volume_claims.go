/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// leavingClaimInterval is how often to look whether a claim that is being deleted is gone.
const leavingClaimInterval = time.Second

// CreateClaims creates the PersistentVolumeClaims that are missing. Those that
// exist are left alone, whoever made them.
func CreateClaims(v *view.View, _ pass.Result) pass.Result {
	var r pass.Result
	exists := func(name string) bool { return v.Claims[name] != nil }
	if !slices.ContainsFunc(children.ClaimNames(v.JobSet), func(name string) bool { return !exists(name) }) {
		return r
	}
	for _, claim := range children.Claims(v.JobSet) {
		if !exists(claim.Name) {
			r.Writes.Do(pass.Op{Kind: pass.CreateClaim, Claim: claim})
		}
	}
	return r
}

// LeavingClaims returns the claims that have to go before they can be created again: Jobs
// that mounted them now would keep them from going, and never start.
func LeavingClaims(v *view.View) sets.Set[string] {
	if len(v.Claims) == 0 {
		return nil
	}
	leaving := sets.New[string]()
	for _, name := range children.ClaimNames(v.JobSet) {
		existing := v.Claims[name]
		if existing != nil && (existing.DeletionTimestamp != nil || ofEarlierJobSet(existing, v.JobSet)) {
			leaving.Insert(name)
		}
	}
	return leaving
}

// heldBy returns those of the claims for which Jobs of a ReplicatedJob have to wait, because they mount them. A group starts
// together: if some of its Jobs came earlier, it would restart once more, and the others would be late.
func heldBy(v *view.View, leaving sets.Set[string], rjob *jobset.ReplicatedJob) sets.Set[string] {
	if v.InPlace || len(leaving) == 0 {
		return leaving
	}
	held, spec := sets.New[string](), &rjob.Template.Spec.Template.Spec
	for i := range spec.Volumes {
		if claim := spec.Volumes[i].PersistentVolumeClaim; claim != nil && leaving.Has(claim.ClaimName) {
			held.Insert(claim.ClaimName)
		}
	}
	for volume := range workerpod.Mounted(spec) {
		if name := placement.ClaimName(volume, v.JobSet.Name); leaving.Has(name) {
			held.Insert(name)
		}
	}
	return held
}

// awaitClaims says once which claims Jobs wait for, and looks again: claims that go wake nobody.
func awaitClaims(claims sets.Set[string]) pass.Result {
	r := pass.RequeueAfter(leavingClaimInterval)
	r.Reports.Once = []pass.Event{pass.Normal(constants.PVCTerminatingReason, UntilGone(claims)).Event}
	return r
}

// UntilGone says that Jobs wait for claims.
func UntilGone(claims sets.Set[string]) string {
	return fmt.Sprintf("Jobs wait until these PersistentVolumeClaims, which are being deleted or belong to a deleted JobSet, are gone: %s", view.FirstOf(sets.List(claims)))
}

// ofEarlierJobSet reports whether an object belongs to a JobSet of the same name that
// is gone: the garbage collector is about to delete it.
func ofEarlierJobSet(obj metav1.Object, js *jobset.JobSet) bool {
	owner := metav1.GetControllerOfNoCopy(obj)
	return owner != nil && owner.Kind == jobset.Kind && owner.APIVersion == jobset.GroupVersion.String() &&
		owner.Name == js.Name && owner.UID != js.UID
}
