/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/workerpod"
	testcluster "sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/ownagent"
)

var _ = Describe("Pod Security restricted", func() {
	profile := &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	restricted := func() *corev1.SecurityContext {
		return &corev1.SecurityContext{
			RunAsNonRoot: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
	}
	prepare := func(spec corev1.PodSpec) corev1.PodSpec {
		return ownagent.Pod(&corev1.PodTemplateSpec{Spec: spec}, "", workerpod.Options{AgentImage: "agent"}).Spec
	}
	inject := func(spec corev1.PodSpec) corev1.PodSpec {
		return workerpod.Inject(&batchv1.Job{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: spec}}}, nil, workerpod.Injection{Image: "agent"}, workerpod.Place{}).Spec
	}
	BeforeEach(func() { needs(testcluster.RestartAllContainers, "RestartAllContainers") })

	// create asks for the Pod that is made of a worker, in a namespace that enforces.
	create := func(ctx SpecContext, spec corev1.PodSpec) error {
		u := newRestrictedUser(ctx)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: u.Space, Name: "worker"}, Spec: spec}
		return u.Client.Create(ctx, pod, client.DryRunAll)
	}
	brought, added := Entry("P42: that its author brings", prepare), Entry("P54: that is added", inject)

	DescribeTable("admits the agent where the Pod has a seccomp profile for all", func(ctx SpecContext, made func(corev1.PodSpec) corev1.PodSpec) {
		Expect(create(ctx, made(corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{SeccompProfile: profile},
			Containers:      []corev1.Container{{Name: "worker", Image: "worker", SecurityContext: restricted()}},
		}))).To(Succeed())
	}, brought, added)

	DescribeTable("admits the agent where each worker has its own", func(ctx SpecContext, made func(corev1.PodSpec) corev1.PodSpec) {
		worker := corev1.Container{Name: "worker", Image: "worker", SecurityContext: restricted()}
		worker.SecurityContext.SeccompProfile = profile
		Expect(create(ctx, made(corev1.PodSpec{Containers: []corev1.Container{worker}}))).To(Succeed())
	}, brought, added)

	DescribeTable("refuses a Pod in which nobody has one, as it would without the agent", func(ctx SpecContext, made func(corev1.PodSpec) corev1.PodSpec) {
		err := create(ctx, made(corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", Image: "worker", SecurityContext: restricted()}}}))
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("seccompProfile")))
	}, brought, added)
})
