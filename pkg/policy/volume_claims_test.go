/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func existing(changes ...func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	claim := &metav1.PartialObjectMetadata{}
	for _, change := range changes {
		change(claim)
	}
	return claim
}

func ownedBy(name, uid string) func(*metav1.PartialObjectMetadata) {
	return func(claim *metav1.PartialObjectMetadata) {
		owner := builders.MakeJobSet(name, "ns").UID(uid).Obj()
		claim.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, jobset.GroupVersion.WithKind(jobset.Kind))}
	}
}

func terminating(claim *metav1.PartialObjectMetadata) {
	claim.DeletionTimestamp = ptr.To(metav1.NewTime(past))
}

const waitsForData = "Jobs wait until these PersistentVolumeClaims, which are being deleted or belong to a deleted JobSet, are gone: data-js"

func waitsForClaim(w *summary) {
	w.RequeueAfter = time.Second
	w.Once = []Event{{Type: "Normal", Reason: "PVCTerminating", Message: waitsForData}}
}

// mounts lets Pods mount claims.
func mounts(volumes ...string) func(*batchv1.JobSpec) {
	container := corev1.Container{Name: "main"}
	for _, volume := range volumes {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volume})
	}
	return func(spec *batchv1.JobSpec) { spec.Template.Spec.Containers = []corev1.Container{container} }
}

// TestAGroupThatWaitsForAClaimSaysSo: no worker is at fault if a Job cannot be created.
func TestAGroupThatWaitsForAClaimSaysSo(t *testing.T) {
	t.Parallel()
	lacksAJob := func(in *Input) {
		in.JobSet.Spec.ReplicatedJobs[0].Replicas = 2
		in.JobSet.Spec.VolumeClaimPolicies = builders.MakeJobSet("js", "ns").Claims(jobset.RetentionPolicyDelete, "data").Obj().Spec.VolumeClaimPolicies
		in.Claims = map[string]*metav1.PartialObjectMetadata{"data-js": existing(terminating)}
	}
	for name, in := range map[string]Input{
		"C181, P24: after a failure": inPlace(1, 1, "2 2", sinceAgo(20*time.Minute, restartingInPlace, lacksAJob)),
		"C181, P101a: by intention":  inPlace(1, 1, "2 2", sinceAgo(20*time.Minute, lacksAJob)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := fmt.Sprint(decideOnce(t, in).Events)
			if !strings.Contains(events, "within 20m0s: "+waitsForData) {
				t.Errorf("events %s, want one with %q", events, waitsForData)
			}
		})
	}
}

func TestVolumeClaims(t *testing.T) {
	t.Parallel()
	type claims = map[string]*metav1.PartialObjectMetadata
	w := func() *builders.JobSetWrapper {
		return builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").JobSpec(mounts("data", "models", "cache"))).
			Claims(jobset.RetentionPolicyDelete, "data").Claims(jobset.RetentionPolicyRetain, "models", "cache")
	}
	at := func(w *builders.JobSetWrapper, existing claims) Input {
		return Input{JobSet: w.Obj(), Claims: existing, Now: now}
	}
	running := at(w(), claims{"data-js": existing(terminating), "models-js": existing(), "cache-js": existing()})
	running.Jobs = append(running.Jobs, builders.MakeJob(running.JobSet, "a", 0).Obj())
	leaving := claims{"data-js": existing(terminating), "models-js": existing(), "cache-js": existing()}
	beside := builders.MakeReplicatedJob("b")
	borrows := builders.MakeReplicatedJob("b").JobSpec(func(spec *batchv1.JobSpec) {
		spec.Template.Spec.Volumes = []corev1.Volume{{Name: "x", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-js"}}}}
	})
	group := at(w().ReplicatedJob(beside).FailurePolicy(jobset.InPlaceRestart, 3), leaving)
	group.Gates = gateOn
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"C44, C178: all are created, and the Jobs in the same pass": {at(w(), nil), func(w *summary) {
			w.Claims, w.Creates = []string{"data-js", "models-js", "cache-js"}, [][]string{{"js-a-0"}}
		}},
		"C177, C340: what exists is not created again":               {at(w(), claims{"data-js": existing(ownedBy("js", "js-uid")), "models-js": existing(), "cache-js": existing()}), creates([]string{"js-a-0"})},
		"C181, C94: a claim of another owner is left alone and used": {at(w(), claims{"data-js": existing(ownedBy("other", "o")), "models-js": existing(), "cache-js": existing()}), creates([]string{"js-a-0"})},
		"C182, C369: suspended JobSets get theirs too": {at(w().Suspend(true), nil), func(w *summary) {
			w.Claims, w.Creates = []string{"data-js", "models-js", "cache-js"}, [][]string{{"js-a-0"}}
			isSuspended(w)
		}},
		"Q9: a claim that is being deleted has to go first":              {at(w(), leaving), waitsForClaim},
		"C181: Jobs that do not mount it are created":                    {at(w().ReplicatedJob(beside), leaving), func(w *summary) { waitsForClaim(w); w.Creates = [][]string{{"js-b-0"}} }},
		"C181: but those that mount it by a volume of their own are not": {at(w().ReplicatedJob(borrows), leaving), waitsForClaim},
		"C181: of a group that restarts in place none is":                {group, waitsForClaim},
		"Q9: a claim of an earlier JobSet of that name has to go first":  {at(w(), claims{"data-js": existing(ownedBy("js", "older")), "models-js": existing(), "cache-js": existing()}), waitsForClaim},
		"Q9: a claim deleted under running Jobs does not hold them back": {running, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}
