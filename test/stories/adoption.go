/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/worker/order"
)

// adoption: what a user has to write, and what becomes of it.
func adoption() {
	It("P50 P51 P56 P60: start again in the same Pods, in a namespace that nothing prepared, and leave nothing behind", Label("two-workers"), Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{Process: true})
		before := group.RunsAt(1)
		Expect(group.kinds()).To(And(
			HaveKeyWithValue("JobSet", 1), HaveKeyWithValue("Job", 1), HaveKeyWithValue("Pod", 2), HaveKeyWithValue("Service", 1),
			HaveKeyWithValue("Role", 1), HaveKeyWithValue("RoleBinding", 1), HaveKeyWithValue("ServiceAccount", 1)))
		group.Tell(order.Exit(1), before.Worker(0))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
		group.LeavesNothing()
	}, SpecTimeout(specTime))

	DescribeTable("P54 P55 P56: keep their account without a token and their QoS class, where Pod Security is restricted", Label("two-workers"), func(ctx SpecContext, process bool) {
		group := Create(ctx, Shape{
			Process:         process,
			Account:         "trainer",
			NamespaceLabels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
			Change:          strict,
		})
		before := group.RunsAt(1)
		for _, pod := range before.Pods {
			Expect(pod.Status.QOSClass).To(Equal(corev1.PodQOSGuaranteed), "QoS class of Pod %s", pod.Name)
			Expect(pod.Spec.ServiceAccountName).To(Equal("trainer"))
			Expect(pod.Spec.Containers[0].VolumeMounts).NotTo(ContainElement(HaveField("MountPath", workerpod.TokenPath)), "what the worker of Pod %s mounts", pod.Name)
		}
		group.Tell(order.Exit(1), before.Worker(1))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
	},
		Entry("in process mode", SpecTimeout(specTime), true),
		Entry("in container mode", SpecTimeout(specTime), false),
	)

	It("P42 P50: start again in the same Pods with an agent that their manifest brings, to which nothing is added", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{OwnAgent: true})
		before := group.RunsAt(1)
		for _, pod := range before.Pods {
			Expect(pod.Spec.InitContainers).To(HaveLen(1))
			Expect(pod.Spec.Volumes).NotTo(ContainElement(HaveField("Name", workerpod.TokenVolumeName)))
		}
		Expect(group.kinds()).To(And(Not(HaveKey("Role")), HaveKeyWithValue("RoleBinding", 1)), "what the namespace was prepared with")
		group.Tell(syscall.SIGKILL, before.Worker(0))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
	}, SpecTimeout(specTime))
}

// strict is a Pod that may do nothing, and whose nodes keep all that it asks for.
func strict(js *jobset.JobSet) {
	pod := podOf(js)
	pod.AutomountServiceAccountToken = ptr.To(false)
	pod.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot:   ptr.To(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	worker := &pod.Containers[0]
	worker.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		ReadOnlyRootFilesystem:   ptr.To(true),
	}
	worker.Resources.Limits = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
	}
}

// kinds counts the objects of the namespace but events.
func (s *fixture) kinds() map[string]int {
	GinkgoHelper()
	objects, err := s.objects()
	Expect(err).NotTo(HaveOccurred())
	count := map[string]int{}
	for _, object := range objects {
		kind, _, _ := strings.Cut(object, " ")
		count[kind]++
	}
	return count
}
