/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
)

var _ = Describe("Validation", func() {
	var (
		w *world
		j job
	)
	BeforeEach(func() { w, j = newWorld(), newJob(0) })

	It("W118: takes Pods that are not placed by affinity", func() {
		w.starts(w.pod(j, 1, withoutAnnotation(jobset.JobSetNameKey)))
		w.starts(w.pod(j, 1, annotated(jobset.NodeSelectorStrategyKey, "true")))
		w.starts(w.pod(j, 1, withoutAnnotation(jobset.ExclusiveKey)))
	})

	It("W119 C193: takes leaders, however many and of whatever shape", func() {
		w.starts(w.pod(j, 0))
		w.starts(w.pod(j, 0, ownedByNobody, withoutLabel(jobset.JobIndexKey)))
	})

	It("W120 C193: refuses a follower without a node selector, and says why there is none", func() {
		follower := w.pod(j, 1)
		w.isRefused(follower, "vpod.kb.io", "follower pod node selector not set: expected 1 leader pod (js-w-0-0), but got 0"+transient)

		leader := w.starts(w.pod(j, 0))
		w.isRefused(follower, "vpod.kb.io",
			"follower pod node selector not set: leader pod not yet scheduled, not creating follower pod"+transient)

		// The leader was scheduled after mutation: the next attempt will do.
		w.binds(w.node("a", "rack-1"), leader)
		w.becomes(follower, func(Gomega, *corev1.Pod) {})
		response := ask(validatePath, admissionv1.Create, follower)
		Expect(response.Allowed).To(BeFalse())
		Expect(response.Result.Message).To(Equal(
			`follower pod node selector not set: leader pod "` + leader.Name + `" was scheduled just now` + transient))
	})

	It("W121 C193: refuses a follower that selects no domain, but does not check which one", func() {
		other := w.pod(j, 1, selecting("disk", "fast"))
		w.isRefused(other, "vpod.kb.io", "follower pod node selector for topology domain not found. missing selector: "+rack+
			": expected 1 leader pod (js-w-0-0), but got 0"+transient)

		w.starts(w.pod(j, 0, on(w.node("a", "rack-1"))))
		w.becomes(other, func(Gomega, *corev1.Pod) {}) // the leader is known
		Expect(ask(validatePath, admissionv1.Create, w.pod(j, 1, selecting(rack, "wrong"))).Allowed).To(BeTrue())
	})

	It("W122 C193: refuses a follower whose leader is not found", func() {
		w.isRefused(w.pod(j, 1, selecting(rack, "mine")), "vpod.kb.io", noLeader(0))
	})

	It("W123 C193: refuses a follower whose leader is not scheduled", func() {
		w.starts(w.pod(j, 0))
		w.isRefused(w.pod(j, 1, selecting(rack, "mine")), "vpod.kb.io",
			"leader pod not yet scheduled, not creating follower pod"+transient)
	})

	It("W124: takes all other followers", func() {
		w.starts(w.pod(j, 0, on(w.node("a", "rack-1"))))
		w.starts(w.pod(j, 1))
	})

	It("W125: does not look at updates and deletions", func() {
		leader := w.starts(w.pod(j, 0, on(w.node("a", "rack-1"))))
		follower := w.starts(w.pod(j, 1))
		w.removes(leader)
		w.isRefused(w.pod(j, 2), "vpod.kb.io", "follower pod node selector not set: "+noLeader(0))

		w.patches(follower, `{"metadata":{"labels":{"changed":"yes"}}}`)
		w.deletes(follower)
		for _, operation := range []admissionv1.Operation{admissionv1.Update, admissionv1.Delete} {
			for _, path := range []string{mutatePath, validatePath} {
				response := ask(path, operation, w.pod(j, 2))
				Expect(response.Allowed).To(BeTrue(), "%s to %s", operation, path)
				Expect(response.Patch).To(BeNil())
			}
		}
	})
})

var _ = Describe("The configuration of the webhooks of Pods", func() {
	It("W128: does not send Pods without the label", func(ctx SpecContext) {
		w := newWorld()
		pod := w.pod(newJob(0), 1, withoutLabel(jobset.JobSetNameKey))
		Expect(w.Client.Create(ctx, pod)).To(Succeed())

		Expect(pod.Labels).NotTo(HaveKey(placement.PriorityKey))
	})

	It("W134 C310: needs no rights but those shipped for the manager", func(ctx SpecContext) {
		w := newWorld()
		as, err := client.New(managersConfig, client.Options{Scheme: w.Scheme})
		Expect(err).NotTo(HaveOccurred())
		Expect(as.List(ctx, &corev1.PodList{}, client.Limit(1))).To(Succeed())
		Expect(as.List(ctx, &corev1.NodeList{}, client.Limit(1))).To(Succeed())
		pod := w.starts(w.pod(newJob(0), 0))
		Expect(as.Status().Patch(ctx, pod.DeepCopy(), client.RawPatch("application/strategic-merge-patch+json",
			[]byte(`{"status":{"conditions":[{"type":"DisruptionTarget","status":"True"}]}}`)))).To(Succeed())
		Expect(as.Delete(ctx, pod.DeepCopy())).To(Succeed())
		Expect(as.Create(ctx, w.pod(newJob(0), 0))).To(MatchError(ContainSubstring("forbidden")))
	})
})
