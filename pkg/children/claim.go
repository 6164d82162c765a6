/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Claims builds the PersistentVolumeClaims that all Jobs of a JobSet share, in
// the order of the spec. Those to be deleted with the JobSet belong to it;
// those to be retained have no owner.
func Claims(js *jobset.JobSet) []*corev1.PersistentVolumeClaim {
	var claims []*corev1.PersistentVolumeClaim
	for i := range js.Spec.VolumeClaimPolicies {
		policy := &js.Spec.VolumeClaimPolicies[i]
		for j := range policy.Templates {
			template := &policy.Templates[j]
			claim := &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{
					Name:        placement.ClaimName(template.Name, js.Name),
					Namespace:   js.Namespace,
					Labels:      merged(template.Labels, map[string]string{jobset.JobSetNameKey: js.Name}),
					Annotations: template.Annotations,
				},
				Spec: *template.Spec.DeepCopy(),
			}
			if deletedWithJobSet(policy) {
				claim.OwnerReferences = []metav1.OwnerReference{OwnerReference(js)}
			}
			claims = append(claims, claim)
		}
	}
	return claims
}

// ClaimNames returns the names of the claims that Claims builds, in the same order.
func ClaimNames(js *jobset.JobSet) []string {
	var names []string
	for i := range js.Spec.VolumeClaimPolicies {
		for j := range js.Spec.VolumeClaimPolicies[i].Templates {
			names = append(names, placement.ClaimName(js.Spec.VolumeClaimPolicies[i].Templates[j].Name, js.Name))
		}
	}
	return names
}

// deletedWithJobSet reports whether the claim goes with the JobSet. Without a policy it stays: data is deleted only on request.
func deletedWithJobSet(policy *jobset.VolumeClaimPolicy) bool {
	retention := policy.RetentionPolicy
	return retention != nil && ptr.Deref(retention.WhenDeleted, jobset.RetentionPolicyDelete) == jobset.RetentionPolicyDelete
}

// claimPlaces are the places of the templates of claims in the spec, by name.
func claimPlaces(js *jobset.JobSet) map[string]int {
	places := map[string]int{}
	for i := range js.Spec.VolumeClaimPolicies {
		for j := range js.Spec.VolumeClaimPolicies[i].Templates {
			if name := js.Spec.VolumeClaimPolicies[i].Templates[j].Name; places[name] == 0 {
				places[name] = len(places) + 1
			}
		}
	}
	return places
}

// mountClaims adds a volume for each claim that a container of the Pod mounts by the name of its template, in the order of
// the templates. There may be thousands of them, so only those are looked at that are mounted (C382).
func (b *Builder) mountClaims(pod *corev1.PodSpec) {
	if len(b.claims) == 0 {
		return
	}
	mounted := workerpod.Mounted(pod)
	for i := range pod.Volumes {
		mounted.Delete(pod.Volumes[i].Name)
	}
	names := slices.DeleteFunc(mounted.UnsortedList(), func(name string) bool { return b.claims[name] == 0 })
	slices.SortFunc(names, func(x, y string) int { return cmp.Compare(b.claims[x], b.claims[y]) })
	for _, name := range names {
		pod.Volumes = append(pod.Volumes, corev1.Volume{
			Name: name,
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
				ClaimName: placement.ClaimName(name, b.jobSet.Name),
			}},
		})
	}
}
