/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
)

func expression(key string, operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: values}
}

func term(expressions ...metav1.LabelSelectorRequirement) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{
		TopologyKey:       rack,
		NamespaceSelector: &metav1.LabelSelector{},
		LabelSelector:     &metav1.LabelSelector{MatchExpressions: expressions},
	}
}

// leaderAffinity is all the affinity of a leader with a Job key and the priorities it is not to meet.
func leaderAffinity(jobKey string, priorities ...string) *corev1.Affinity {
	others := []metav1.LabelSelectorRequirement{
		expression(jobset.JobKey, metav1.LabelSelectorOpExists),
		expression(jobset.JobKey, metav1.LabelSelectorOpNotIn, jobKey),
	}
	if len(priorities) > 0 {
		others = append(others, expression(placement.PriorityKey, metav1.LabelSelectorOpIn, priorities...))
	}
	return &corev1.Affinity{
		PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			term(expression(jobset.JobKey, metav1.LabelSelectorOpIn, jobKey)),
		}},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			term(others...),
		}},
	}
}

// patchOf is what the mutating webhook would do to a Pod.
func patchOf(pod *corev1.Pod) string {
	GinkgoHelper()
	response := ask(mutatePath, admissionv1.Create, pod)
	Expect(response.Allowed).To(BeTrue(), "%v", response.Result)
	if response.Patch == nil {
		return "[]"
	}
	Expect(response.PatchType).To(HaveValue(Equal(admissionv1.PatchTypeJSONPatch)))
	return string(response.Patch)
}

var _ = Describe("A new Pod", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("W100 C189: that belongs to no JobSet, by annotation, is left alone", func() {
		pod := w.starts(w.pod(newJob(0), 0, withoutAnnotation(jobset.JobSetNameKey)))

		Expect(pod.Labels).NotTo(HaveKey(placement.PriorityKey))
		Expect(pod.Spec.Affinity).To(BeNil())
		Expect(patchOf(pod)).To(Equal("[]"))
	})

	It("W101 C189 C311: on a node reserved beforehand is not placed by affinity; with Q3 it has the priority that repels other leaders", func() {
		reserved := annotated(jobset.NodeSelectorStrategyKey, "false") // any value
		leader := w.starts(w.pod(newJob(0), 0, reserved))
		follower := w.starts(w.pod(newJob(0), 1, reserved))

		for _, pod := range []*corev1.Pod{leader, follower} {
			Expect(pod.Labels).To(HaveKeyWithValue(placement.PriorityKey, "0"))
			Expect(pod.Spec.Affinity).To(BeNil())
			Expect(pod.Spec.NodeSelector).To(BeNil())
		}
	})

	It("W102 W104 C190: gets its priority as a label, in place of any there, and nothing else if it is not placed exclusively", func() {
		pod := w.pod(newJob(0), 0, withoutAnnotation(jobset.ExclusiveKey))
		pod.Spec.PriorityClassName = "system-cluster-critical"
		pod.Labels[placement.PriorityKey] = "mine"

		admitted := w.starts(pod)

		Expect(admitted.Labels).To(HaveKeyWithValue(placement.PriorityKey, "2000000000"))
		Expect(admitted.Labels).To(HaveLen(len(pod.Labels)))
		Expect(admitted.Spec.Affinity).To(BeNil())
		Expect(admitted.Spec.NodeSelector).To(BeNil())
	})

	It("W102: gets labels if it has none", func() {
		pod := w.pod(newJob(0), 0, withoutAnnotation(jobset.ExclusiveKey))
		pod.Labels, pod.Spec.Priority = nil, ptr.To[int32](5)

		Expect(patchOf(pod)).To(MatchJSON(`[
			{"op":"add","path":"/metadata/labels","value":{}},
			{"op":"add","path":"/metadata/labels/jobset.sigs.k8s.io~1priority","value":"5"}]`))
	})

	DescribeTable("Q1: with a negative priority gets a label that the API server takes",
		func(priority int32, label string) {
			class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}, Value: priority}
			Expect(w.Client.Create(w.Context, class)).To(Succeed())
			pod := w.pod(newJob(0), 0)
			pod.Spec.PriorityClassName = class.Name
			// The API server hears of the class a little later.
			w.becomes(pod, func(g Gomega, admitted *corev1.Pod) {
				g.Expect(admitted.Labels).To(HaveKeyWithValue(placement.PriorityKey, label))
				g.Expect(admitted.Spec.Affinity).To(Equal(leaderAffinity(pod.Labels[jobset.JobKey], label)))
			})
		},
		Entry("a small one", int32(-7), "n7"),
		Entry("the lowest there is", int32(math.MinInt32), "n2147483648"),
	)
})

var _ = Describe("A new leader", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("W105 W106 C87 C191: goes to its own Job, and away from other Jobs of its priority", func() {
		leader := w.starts(w.pod(newJob(0), 0))

		Expect(leader.Spec.Affinity).To(Equal(leaderAffinity(placement.JobKey(w.Namespace, "js-w-0"), "0")))
		Expect(leader.Spec.NodeSelector).To(BeNil())
	})

	It("W107: keeps the affinity and the node selector of the user", func() {
		mine := corev1.PodAffinityTerm{TopologyKey: "mine", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}
		preferred := []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: mine}}
		node := &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "gpu", Operator: corev1.NodeSelectorOpExists}}}},
		}}
		pod := w.pod(newJob(0), 0, selecting(rack, "mine"))
		pod.Spec.Affinity = &corev1.Affinity{
			NodeAffinity:    node,
			PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{mine}},
			PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred},
		}

		leader := w.starts(pod)

		want := leaderAffinity(pod.Labels[jobset.JobKey], "0")
		want.NodeAffinity = node
		want.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(
			[]corev1.PodAffinityTerm{mine}, want.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		want.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = preferred
		Expect(leader.Spec.Affinity).To(Equal(want))
		Expect(leader.Spec.NodeSelector).To(Equal(map[string]string{rack: "mine"}))
	})

	It("W107: that was given the terms already gets them again", func() {
		once := w.starts(w.pod(newJob(0), 0))
		again := w.pod(newJob(0), 0)
		again.Spec.Affinity = once.Spec.Affinity

		Expect(w.starts(again).Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution).To(HaveLen(2))
	})
})

var _ = Describe("A new follower", func() {
	var (
		w *world
		j job
	)
	BeforeEach(func() { w, j = newWorld(), newJob(0) })

	It("W108: without a leader gets its priority and passes this webhook", func() {
		follower := w.pod(j, 1)
		follower.Spec.Priority = ptr.To[int32](0)

		Expect(patchOf(follower)).To(MatchJSON(`[{"op":"add","path":"/metadata/labels/jobset.sigs.k8s.io~1priority","value":"0"}]`))
	})

	It("W109: whose leader is not scheduled is not changed", func() {
		w.starts(w.pod(j, 0))
		w.isRefused(w.pod(j, 1, selecting(rack, "mine")), "vpod.kb.io",
			"leader pod not yet scheduled, not creating follower pod"+transient) // so the leader is known

		Expect(patchOf(w.pod(j, 1))).To(Equal("[]"))
	})

	It("W110 Q30: whose leader is on a node that does not exist is refused, for now", func() {
		leader := w.starts(w.pod(j, 0, on("nowhere")))

		w.isRefused(w.pod(j, 1), "mpod.kb.io",
			`reading the node of leader pod "`+leader.Name+`": nodes "nowhere" not found`+transient)
	})

	It("W111: whose leader is on a node without the label is refused", func() {
		w.starts(w.pod(j, 0, on(w.node("bare", ""))))

		w.isRefused(w.pod(j, 1), "mpod.kb.io", "node does not have topology label: "+rack)
	})

	It("W112 C192: selects the domain of its leader, beside what it selects already", func() {
		leader := w.starts(w.pod(j, 0))
		w.binds(w.node("a", "rack-1"), leader)
		// It is refused until admission knows the domain. One that selects a rack itself is not.
		Expect(w.starts(w.pod(j, 2)).Spec.NodeSelector).To(Equal(map[string]string{rack: "rack-1"}))

		follower := w.starts(w.pod(j, 1, selecting(rack, "mine"), selecting("disk", "fast")))

		Expect(follower.Spec.NodeSelector).To(Equal(map[string]string{rack: "rack-1", "disk": "fast"}))
		Expect(follower.Spec.Affinity).To(BeNil())
		Expect(follower.Labels).To(HaveKeyWithValue(placement.PriorityKey, "0"))
	})

	It("Q29: is recognised by its annotations, so that one without an index follows", func() {
		w.starts(w.pod(j, 0, on(w.node("a", "rack-1"))))

		Expect(w.starts(w.pod(j, 1, withoutAnnotation("batch.kubernetes.io/job-completion-index"))).Spec.NodeSelector).
			To(Equal(map[string]string{rack: "rack-1"}))
	})
})
