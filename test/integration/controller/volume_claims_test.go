/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// claimPolicy asks for claims of 1 Gi, deleted or kept with the JobSet.
func claimPolicy(whenDeleted jobset.RetentionPolicyType, templates ...string) jobset.VolumeClaimPolicy {
	policy := jobset.VolumeClaimPolicy{RetentionPolicy: &jobset.VolumeRetentionPolicy{WhenDeleted: &whenDeleted}}
	for _, name := range templates {
		policy.Templates = append(policy.Templates, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": "fast"}, Annotations: map[string]string{"backup": "daily"}},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		})
	}
	return policy
}

// withClaims makes the workers of all ReplicatedJobs but a mount these claims.
func withClaims(js *jobset.JobSet, policies ...jobset.VolumeClaimPolicy) *jobset.JobSet {
	js.Spec.VolumeClaimPolicies = policies
	for _, policy := range policies {
		for _, template := range policy.Templates {
			for i := 1; i < len(js.Spec.ReplicatedJobs); i++ {
				worker := &PodTemplate(js, i).Spec.Containers[0]
				worker.VolumeMounts = append(worker.VolumeMounts, corev1.VolumeMount{Name: template.Name, MountPath: "/" + template.Name})
			}
		}
	}
	return js
}

// claims of a namespace that are not being deleted, by name.
func claims(w *World) map[string]corev1.PersistentVolumeClaim {
	GinkgoHelper()
	var list corev1.PersistentVolumeClaimList
	Expect(w.Client.List(w.Context, &list, client.InNamespace(w.Namespace))).To(Succeed())
	live := map[string]corev1.PersistentVolumeClaim{}
	for _, claim := range list.Items {
		if claim.DeletionTimestamp == nil {
			live[claim.Name] = claim
		}
	}
	return live
}

func claimUIDs(w *World) map[string]types.UID {
	GinkgoHelper()
	all := map[string]types.UID{}
	for name, claim := range claims(w) {
		all[name] = claim.UID
	}
	return all
}

// isReplaced removes a JobSet with its Jobs and those claims, as the garbage
// collector does, and creates another one. A manager that still knew the first
// would make its Jobs and claims once more, so it is another manager that goes on.
func isReplaced(w *World, first, second *jobset.JobSet, claims ...corev1.PersistentVolumeClaim) *jobset.JobSet {
	GinkgoHelper()
	w.Manager.Stop()
	Expect(w.Client.Delete(w.Context, first)).To(Succeed())
	for _, job := range w.AllJobs(first) {
		Expect(w.Client.Delete(w.Context, job, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
	}
	for i := range claims {
		removeClaim(w, &claims[i])
	}
	second = w.Create(second)
	w.StartManager()
	return second
}

var createClaim = Of[*corev1.PersistentVolumeClaim]("create")

var _ = Describe("The claims of a JobSet", func() {
	const (
		deleted = jobset.RetentionPolicyDelete
		kept    = jobset.RetentionPolicyRetain
	)

	It("C89 C178 C179 C369 O310: are made as their templates say, owned if they are to go with the JobSet, and mounted", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(withClaims(AB(), claimPolicy(deleted, "scratch"), claimPolicy(kept, "models")))
		w.HasJobs(js, 4)

		made := claims(w)
		Expect(made).To(HaveLen(2))
		for name, owners := range map[string][]metav1.OwnerReference{
			"scratch-js": {*metav1.NewControllerRef(js, jobset.GroupVersion.WithKind("JobSet"))},
			"models-js":  nil,
		} {
			claim := made[name]
			Expect(claim.OwnerReferences).To(Equal(owners), name)
			Expect(claim.Labels).To(Equal(map[string]string{"tier": "fast", jobset.JobSetNameKey: "js"}), name)
			Expect(claim.Annotations).To(Equal(map[string]string{"backup": "daily"}), name)
			Expect(claim.Spec.AccessModes).To(Equal([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}), name)
			Expect(claim.Spec.Resources.Requests.Storage().String()).To(Equal("1Gi"), name)
		}
		Expect(w.Job(js, "a", 0).Spec.Template.Spec.Volumes).To(BeEmpty(), "a mounts nothing")
		var volumes []string
		for _, volume := range w.Job(js, "b", 0).Spec.Template.Spec.Volumes {
			volumes = append(volumes, volume.Name+" is "+volume.PersistentVolumeClaim.ClaimName)
		}
		Expect(volumes).To(Equal([]string{"scratch is scratch-js", "models is models-js"}))
		w.Records(js, 0, "")
	})

	It("C50 C182 C369 O311: are made while it is suspended", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(suspended(withClaims(AB(), claimPolicy(deleted, "scratch"))))
		w.HasConditions(js, isSuspended)

		Expect(claims(w)).To(HaveKey("scratch-js"))
		sleeps(w, js, "js-a-0", "js-b-0", "js-b-1", "js-b-2")
	})

	It("C177 C340: are asked for once: a manager that finds them sends no request", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(withClaims(with(AB(), jobset.FailurePolicy{MaxRestarts: 1}), claimPolicy(deleted, "scratch"), claimPolicy(kept, "models")))
		Expect(w.Manager.Made(createClaim)).To(HaveLen(2))

		w.StartManager()
		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		w.JobController.Fails(jobs[0], exceeded, "")
		w.JobController.CollectsAll(js, 4)
		w.JobController.Completes(w.HasJobs(js, 4)...)
		w.Finishes(js, jobset.JobSetCompleted, "")

		Expect(w.Manager.Tried(createClaim)).To(BeEmpty())
	})

	It("C177: that are missing are asked for, and only those", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(withClaims(AB(), claimPolicy(kept, "models", "data")))
		before := claimUIDs(w)
		w.Manager.Stop()
		data := claims(w)["data-js"]
		removeClaim(w, &data)

		w.StartManager()
		Eventually(func() map[string]types.UID { return claimUIDs(w) }).Should(And(
			HaveLen(2), HaveKeyWithValue("models-js", before["models-js"]), HaveKeyWithValue("data-js", Not(Equal(before["data-js"])))))

		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		for _, write := range w.Manager.Made(createClaim) {
			Expect(write.Object.GetName()).To(Equal("data-js"))
		}
	})

	It("C181 O310: that were kept serve the next JobSet of the name, unchanged", func(ctx SpecContext) {
		w := newWorld(ctx)
		shape := func() *jobset.JobSet {
			return withClaims(AB(), claimPolicy(deleted, "scratch"), claimPolicy(kept, "models"))
		}
		first := w.Create(shape())
		w.HasJobs(first, 4)
		before := claims(w)

		js := isReplaced(w, first, shape(), before["scratch-js"])

		w.JobController.Completes(w.HasJobs(js, 4)...)
		w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
		after := claims(w)
		Expect(after["models-js"]).To(Equal(before["models-js"]))
		Expect(after["scratch-js"].UID).NotTo(Equal(before["scratch-js"].UID))
		Expect(metav1.IsControlledBy(ptr.To(after["scratch-js"]), js)).To(BeTrue())
	})

	It("C181 Q9: that an earlier JobSet of the name owns, and that then are on their way out, are waited for", func(ctx SpecContext) {
		w := newWorld(ctx)
		first := w.Create(withClaims(AB(), claimPolicy(deleted, "scratch")))
		w.HasJobs(first, 4)
		old := claims(w)["scratch-js"]

		js := isReplaced(w, first, withClaims(AB(), claimPolicy(deleted, "scratch")))
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{})
		hasOnly(w, js, "js-a-0")
		Expect(w.Client.Delete(ctx, &old)).To(Succeed())
		Expect(Now(w, &old).DeletionTimestamp).NotTo(BeNil(), "Pods could still use it")
		hasOnly(w, js, "js-a-0")
		releaseClaim(w, &old)

		w.HasJobs(js, 4)
		Expect(metav1.IsControlledBy(ptr.To(claims(w)["scratch-js"]), js)).To(BeTrue())
		w.HasEvents(js, Normal("PVCTerminating",
			"Jobs wait until these PersistentVolumeClaims, which are being deleted or belong to a deleted JobSet, are gone: scratch-js"))
	})

	It("C24 C46 C180 C216: that cannot be made are told of, and no Job comes before them", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		writes := &Writes{}
		writes.RefuseOnce(Named("scratch-js", createClaim))
		w.StartManager(WithWrites(writes))

		js := w.Create(withClaims(AB(), claimPolicy(deleted, "scratch", "spare"), claimPolicy(kept, "models")))

		w.HasJobs(js, 4)
		w.HasEvents(js, Warning("PVCCreationFailed",
			"creating PersistentVolumeClaim "+w.Namespace+"/scratch-js: this write was refused by the test"))
		var order []string
		for _, write := range w.Manager.Made(AnyWrite) {
			if createClaim(write) || AJob("create")(write) {
				order = append(order, write.String())
			}
		}
		claim, job := "create PersistentVolumeClaim", "create Job"
		Expect(order).To(Equal([]string{claim, claim, claim, job, job, job, job}))
		last := w.Manager.Made(createClaim)[2].Object.GetName()
		Expect(last).To(Equal("scratch-js"), "the others were tried all the same")
	})

	It("C178: of a JobSet with generateName are named as it came to be", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := withClaims(AB(), claimPolicy(deleted, "scratch"))
		js.Name, js.GenerateName = "", "generated-"
		js = w.Create(js)

		w.HasJobs(js, 4)

		Expect(claims(w)).To(HaveKey("scratch-" + js.Name))
	})
})

// removeClaim deletes a claim, which no Pod uses.
func removeClaim(w *World, claim *corev1.PersistentVolumeClaim) {
	GinkgoHelper()
	Expect(w.Client.Delete(w.Context, claim)).To(Succeed())
	releaseClaim(w, claim)
}

// releaseClaim lets a claim go that is being deleted.
func releaseClaim(w *World, claim *corev1.PersistentVolumeClaim) {
	GinkgoHelper()
	Change(w, claim, func(claim *corev1.PersistentVolumeClaim) { claim.Finalizers = nil })
}
