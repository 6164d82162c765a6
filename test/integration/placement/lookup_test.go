/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionv1 "k8s.io/api/admission/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// noLeader is the answer where this many leaders are found, and the follower selects a domain of its own.
func noLeader(found int) string {
	return fmt.Sprintf("expected 1 leader pod (js-w-0-0), but got %d%s", found, transient)
}

var _ = Describe("The leader of a follower", func() {
	var (
		w        *world
		j        job
		node     string
		follower *corev1.Pod
	)
	// rejects the follower, which selects a domain of its own so that the answer is that of the lookup alone.
	rejects := func(message string) {
		GinkgoHelper()
		w.isRefused(follower, "vpod.kb.io", message)
	}
	follows := func() {
		GinkgoHelper()
		w.becomes(follower, func(g Gomega, admitted *corev1.Pod) {
			g.Expect(admitted.Spec.NodeSelector).To(HaveKeyWithValue(rack, "rack-1"))
		})
	}
	BeforeEach(func() {
		w, j = newWorld(), newJob(0)
		node = w.node("a", "rack-1")
		follower = w.pod(j, 1, selecting(rack, "mine"))
	})

	It("W113: is named after the labels of the follower", func() {
		w.starts(w.pod(j, 0, on(node)))
		follows()
		for _, key := range []string{jobset.JobIndexKey, jobset.ReplicatedJobNameKey} {
			withoutLabel(key)(follower) // the first that is missing is named
			rejects("pod missing label: " + key)
		}
		withoutLabel(jobset.JobSetNameKey)(follower) // the API server would not ask for this one
		response := ask(validatePath, admissionv1.Create, follower)
		Expect(response.Allowed).To(BeFalse())
		Expect(response.Result.Message).To(Equal("pod missing label: " + jobset.JobSetNameKey))
	})

	It("W114: is in its namespace, is placed exclusively, and has the name of index 0", func() {
		elsewhere := newWorld()
		elsewhere.starts(elsewhere.pod(j, 0, on(node)))
		w.starts(w.pod(j, 0, on(node), withoutAnnotation(jobset.ExclusiveKey)))
		for _, name := range []string{"js-w-0-0", "js-w-0-0-abcde-x", "js-w-00-0-abcde", "js-w-0-1-abcde"} {
			w.starts(w.pod(j, 0, on(node), func(p *corev1.Pod) { p.Name = name }))
		}
		rejects(noLeader(0))

		w.starts(w.pod(j, 0, on(node)))
		follows()
	})

	It("W115 C192: lives: it is neither deleted nor failed", func() {
		leader := w.starts(w.pod(j, 0, on(node)))
		follows()
		w.deletes(leader)
		rejects(noLeader(0))

		leader = w.starts(w.pod(j, 0, on(node)))
		follows()
		w.ends(leader, corev1.PodFailed)
		rejects(noLeader(0))
	})

	It("W115a: leads on after it has succeeded: its followers go where it ran, then to the other Pods, then to a free domain", func() {
		stored := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: j.name}, Spec: batchv1.JobSpec{
			Suspend: ptr.To(true), CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: ptr.To[int32](5),
			Template: corev1.PodTemplateSpec{Spec: w.pod(j, 0).Spec},
		}}
		Expect(w.Client.Create(w.Context, stored)).To(Succeed())
		j.uid = stored.UID
		leader := w.starts(w.pod(j, 0, on(node)))
		failed := w.starts(w.pod(j, 1))
		Expect(failed.Spec.Affinity).To(BeNil())
		w.ends(leader, corev1.PodSucceeded)

		// The leader is done, and another follower keeps the domain.
		w.becomes(w.pod(j, 1), func(g Gomega, admitted *corev1.Pod) {
			g.Expect(admitted.Spec.NodeSelector).To(HaveKeyWithValue(rack, "rack-1"))
			g.Expect(admitted.Spec.Affinity).To(BeNil())
		})
		// Nobody does: the next one keeps other Jobs out itself.
		w.ends(failed, corev1.PodFailed)
		w.becomes(w.pod(j, 1), func(g Gomega, admitted *corev1.Pod) {
			g.Expect(admitted.Spec.NodeSelector).To(HaveKeyWithValue(rack, "rack-1"))
			g.Expect(admitted.Spec.Affinity).To(Equal(leaderAffinity(admitted.Labels[jobset.JobKey], "0")))
		})
		// Its Pod is gone before the Job has counted it, as far as is known here.
		w.removes(leader)
		w.isRefused(w.pod(j, 1), "vpod.kb.io", "follower pod node selector not set: "+noLeader(0))

		w.patchesStatus(stored, `{"status":{"completedIndexes":"0","succeeded":1}}`)
		free := w.pod(j, 1)
		w.becomes(free, func(g Gomega, admitted *corev1.Pod) {
			g.Expect(admitted.Spec.NodeSelector).To(BeEmpty())
			g.Expect(admitted.Spec.Affinity).To(Equal(leaderAffinity(admitted.Labels[jobset.JobKey], "0")))
		})
		w.binds(w.node("b", "rack-2"), w.starts(free))
		w.becomes(w.pod(j, 2), func(g Gomega, admitted *corev1.Pod) {
			g.Expect(admitted.Spec.NodeSelector).To(HaveKeyWithValue(rack, "rack-2"))
			g.Expect(admitted.Spec.Affinity).To(BeNil())
		})
	})

	It("W116: is the only one", func() {
		first := w.starts(w.pod(j, 0, on(node)))
		follows()
		w.starts(w.pod(j, 0, on(node)))
		rejects(noLeader(2))

		w.removes(first)
		follows()
	})

	It("W117: is of the same Job, and not of an earlier one of that name", func() {
		leader := w.starts(w.pod(j, 0, on(node)))
		follows()

		follower.OwnerReferences[0].UID = "another"
		rejects("follower pod owner UID (another) != leader pod owner UID")

		ownedByNobody(follower)
		rejects("follower pod has no owner reference")

		w.removes(leader)
		leader = w.starts(w.pod(j, 0, on(node), ownedByNobody))
		rejects("follower pod has no owner reference") // is looked at first

		follower = w.pod(j, 1, selecting(rack, "mine"))
		rejects(fmt.Sprintf("leader pod %q has no owner reference", leader.Name))
	})
})
