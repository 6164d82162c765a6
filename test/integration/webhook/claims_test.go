/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

func retain() *jobset.VolumeRetentionPolicy {
	return &jobset.VolumeRetentionPolicy{WhenDeleted: ptr.To(jobset.RetentionPolicyRetain)}
}

func claimTemplate(name string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

// withClaims is a JobSet whose Job a mounts claims that outlive it.
func withClaims(names ...string) *jobset.JobSet {
	js := AB()
	policy := jobset.VolumeClaimPolicy{RetentionPolicy: retain()}
	for _, name := range names {
		policy.Templates = append(policy.Templates, claimTemplate(name))
		mounts := &PodTemplate(js, 0).Spec.Containers[0].VolumeMounts
		*mounts = append(*mounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
	js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{policy}
	return js
}

// claiming is a manifest with volume claim policies, whose worker mounts data.
func claiming(policies []any) map[string]any {
	spec := bare(map[string]any{"volumeClaimPolicies": policies})
	pod := spec["replicatedJobs"].([]any)[0].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	pod["containers"].([]any)[0].(map[string]any)["volumeMounts"] = []any{map[string]any{"name": "data", "mountPath": "/data"}}
	return spec
}

var _ = Describe("Volume claims", func() {
	const template = "spec.volumeClaimPolicies[0].templates[0]"

	It("W64 W65 W66 W67 W68: are let in where a container mounts them", func(ctx SpecContext) {
		u := newUser(ctx)
		js := withClaims("data", "logs")
		js.Spec.VolumeClaimPolicies = append(js.Spec.VolumeClaimPolicies, jobset.VolumeClaimPolicy{})
		u.admits(js)
		Expect(u.Warnings).To(BeEmpty())
	})

	Context("that exist before their JobSet", func() {
		// exists makes the claim that the template data of the JobSet js asks for.
		exists := func(u *user, change func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
			GinkgoHelper()
			claim := claimTemplate("data-js")
			claim.Namespace = u.Space
			if change != nil {
				change(&claim)
			}
			Expect(u.Client.Create(u.context, &claim)).To(Succeed())
			return &claim
		}
		of := func(owner string) func(*corev1.PersistentVolumeClaim) {
			return func(claim *corev1.PersistentVolumeClaim) {
				claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: jobset.GroupVersion.String(), Kind: jobset.Kind,
					Name: owner, UID: types.UID("7d3a5c1e-0000-4000-8000-000000000001"), Controller: ptr.To(true)}}
			}
		}
		greedy := func() *jobset.JobSet {
			js := withClaims("data")
			js.Spec.VolumeClaimPolicies[0].RetentionPolicy = nil // which becomes Delete
			js.Spec.VolumeClaimPolicies[0].Templates[0].Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
			return js
		}

		It("W69 Q8: are used again, as the API server has filled them in and the binder has bound them", func(ctx SpecContext) {
			u := newUser(ctx)
			exists(u, func(claim *corev1.PersistentVolumeClaim) {
				claim.Spec.VolumeName, claim.Spec.StorageClassName = "pv", ptr.To("standard")
			})
			u.admits(withClaims("data"))
		})

		It("W69 W70: are refused if they are others than those asked for, or would be deleted", func(ctx SpecContext) {
			u := newUser(ctx)
			exists(u, nil)
			ofWebhook(u.refuses(greedy()),
				invalid(template+".spec", "spec does not match existing PVC data-js in namespace "+u.Space),
				invalid("spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted", "retentionPolicy must be retain when PVC exists"))
		})

		It("W69: matter to nobody in another namespace", func(ctx SpecContext) {
			exists(newUser(ctx), nil)
			newUser(ctx).admits(greedy())
		})

		It("Q9: do not count while they are being deleted", func(ctx SpecContext) {
			u := newUser(ctx)
			claim := exists(u, func(claim *corev1.PersistentVolumeClaim) { claim.Finalizers = []string{"example.com/busy"} })
			Expect(u.Client.Delete(ctx, claim)).To(Succeed())
			u.admits(greedy())
		})

		It("Q9: do not count if they belonged to a JobSet of the same name", func(ctx SpecContext) {
			u := newUser(ctx)
			exists(u, of("js"))
			u.admits(greedy())
		})

		It("Q36 W70a: are refused if they belong to another JobSet, which is not named", func(ctx SpecContext) {
			u := newUser(ctx)
			exists(u, of("other"))
			ofWebhook(u.refuses(withClaims("data")), invalid(template+".metadata.name", "PVC data-js in namespace "+u.Space+" belongs to another JobSet: choose another template name"))
		})

		It("W69: are not looked at again on update", func(ctx SpecContext) {
			u := newUser(ctx)
			js := u.admits(greedy())
			exists(u, of("other"))
			Expect(u.changes(js, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) })).To(Succeed())
		})
	})
})
