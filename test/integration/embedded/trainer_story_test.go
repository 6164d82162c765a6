/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"fmt"
	"os"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

var _ = Describe("TrainJobs of the Kubeflow Trainer", Ordered, func() {
	BeforeAll(func(ctx SpecContext) {
		program, source := os.Getenv(trainerManagerEnv), os.Getenv(trainerSourceEnv)
		if program == "" || source == "" {
			Skip(fmt.Sprintf("%s and %s are not set; run: make test-trainer", trainerManagerEnv, trainerSourceEnv))
		}
		startTrainer(ctx, shown.plane, program, source)
		shown.runsWith(ctx, "environment: Torch, progress: {stallSeconds: 60}")
		DeferCleanup(func(ctx SpecContext) { shown.runsWith(ctx, "") })
		torch := example("runtime.yaml")
		plain := torch.DeepCopy()
		plain.SetName("plain-in-place")
		unstructured.RemoveNestedField(plain.Object, "spec", "mlPolicy", "torch")
		for _, runtime := range []*unstructured.Unstructured{torch, plain} {
			Eventually(func() error { return client.IgnoreAlreadyExists(stories.API().Create(ctx, runtime)) }).Should(Succeed())
		}
	})

	It("P121 P125: restart in place and end Complete, whatever fails on the way", func(ctx SpecContext) {
		group, job := trains(ctx, "torch-in-place")
		before := group.RunsAt(1)
		Expect(before.Reads("rendezvous")).To(HaveEach(""), "the Trainer sets PET_ variables, so nothing is added to them")

		job.does("a node exits with 1")
		group.Tell(order.Exit(1), before.Worker(2))
		second := group.RunsAt(2)
		second.IsInPlaceOf(before)

		job.does("the container of a node is killed")
		group.Tell(syscall.SIGKILL, second.Worker(3))
		third := group.RunsAt(3)
		third.IsInPodsOf(second)

		job.does("the Pod of rank 0 is deleted")
		deletes(ctx, 0, third.Pods[0])
		fourth := group.RunsAt(4)
		fourth.Replaces(third, 0)
		group.Charged(3)

		job.does("the TrainJob is suspended")
		suspends(ctx, group, true)
		group.IsSuspended()
		Eventually(func() bool { return job.says("Suspended") }).Should(BeTrue())
		job.does("the TrainJob is resumed")
		suspends(ctx, group, false)
		resumed := group.RunsEventually()
		resumed.IsAllNew(fourth)

		job.does("all nodes exit with 0")
		group.Tell(order.Done, resumed.Workers()...)
		group.Completes()
		Eventually(func() bool { return job.says("Complete") }).Should(BeTrue())
		Expect(job.says("Failed")).To(BeFalse(), job.table())
	}, SpecTimeout(specTime))

	It("P121 P122 P125: find the variables of Torch that the configuration of JobSet asks for, where their runtime sets none, and have its deadlines", func(ctx SpecContext) {
		group, job := trains(ctx, "plain-in-place")
		first := group.RunsAt(1)
		js := &jobset.JobSet{}
		Expect(stories.API().Get(ctx, client.ObjectKey{Namespace: group.Namespace(), Name: group.Name()}, js)).To(Succeed())
		Expect(js.Spec.FailurePolicy.InPlaceRestart.Progress).To(HaveValue(HaveField("StallSeconds", HaveValue(BeEquivalentTo(60)))))
		uid := first.Pods[0].Labels[jobset.JobSetUIDKey]
		Expect(first.Reads("rendezvous")).To(HaveEach(uid + "-1"))
		Expect(first.Reads("master")).To(HaveEach(first.Pods[0].Status.PodIP))

		job.does("the Pod of rank 0 is deleted")
		deletes(ctx, 0, first.Pods[0])
		second := group.RunsAt(2)
		Expect(second.Reads("rendezvous")).To(HaveEach(uid + "-2"))
		Expect(second.Reads("master")).To(HaveEach(second.Pods[0].Status.PodIP))

		group.Tell(order.Done, second.Workers()...)
		group.Completes()
		Eventually(func() bool { return job.says("Complete") }).Should(BeTrue())
		Expect(job.says("Failed")).To(BeFalse(), job.table())
	}, SpecTimeout(specTime))
})

// suspends sets spec.suspend of the TrainJob of a group.
func suspends(ctx SpecContext, group *stories.Group, suspended bool) {
	GinkgoHelper()
	job := &unstructured.Unstructured{}
	job.SetGroupVersionKind(trainJobs)
	job.SetNamespace(group.Namespace())
	job.SetName(group.Name())
	patch := fmt.Sprintf(`{"spec":{"suspend":%t}}`, suspended)
	Expect(stories.API().Patch(ctx, job, client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
}
