/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// author sends manifests of testdata as they are written, and notes the warnings.
type author struct {
	*User
	context context.Context
}

func (w author) creates(manifest string) (*jobset.JobSet, error) {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join("testdata", manifest))
	Expect(err).NotTo(HaveOccurred())
	js := &jobset.JobSet{}
	Expect(yaml.UnmarshalStrict(text, js)).To(Succeed())
	js.Namespace, js.Spec.ReplicatedJobs[0].Replicas = w.Space, max(1, js.Spec.ReplicatedJobs[0].Replicas)
	return js, w.Create(w.context, js)
}

var _ = Describe("A manifest that users wrote", func() {
	var (
		w *World
		u author
	)
	BeforeEach(func(ctx SpecContext) {
		// The context of a BeforeEach ends before the spec.
		w = newWorld(context.WithoutCancel(ctx), WithGates(AllGatesOn))
		u = author{cluster.NewUser(ctx), context.WithoutCancel(ctx)}
		u.Space = w.Namespace
	})

	It("C334a: moves to nodes of another kind with nothing of the first: moved-to-other-nodes.yaml", func() {
		js, err := u.creates("moved-to-other-nodes.yaml")
		Expect(err).NotTo(HaveOccurred())
		job := w.HasJobs(js, 1)[0]
		admit := func(flavor string, more func(*corev1.PodSpec)) {
			Change(w, js, func(js *jobset.JobSet) {
				js.Spec.Suspend = ptr.To(false)
				pods := &PodTemplate(js, 0).Spec
				pods.NodeSelector = map[string]string{flavor: "yes"}
				more(pods)
			})
			w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "")
			Eventually(func() *bool { return Now(w, job).Spec.Suspend }).Should(HaveValue(BeFalse())) // with ExecutionAttemptsTracking in the next pass
		}
		admit("flavor-a", func(pods *corev1.PodSpec) {
			pods.Tolerations = []corev1.Toleration{{Key: "flavor-a", Operator: corev1.TolerationOpExists}}
			pods.SchedulingGates = []corev1.PodSchedulingGate{{Name: "queue.example.com/flavor-a"}}
		})
		w.JobController.Readies(Now(w, job))
		Change(w, js, evict)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		w.JobController.Suspends(Now(w, job))
		admit("flavor-b", func(*corev1.PodSpec) {})

		pods := Now(w, job).Spec.Template.Spec
		Expect(pods.NodeSelector).To(Equal(map[string]string{"flavor-b": "yes"}))
		Expect(pods.Tolerations).To(BeEmpty())
		Expect(pods.SchedulingGates).To(BeEmpty())
	})

	It("W13a: is refused if no Job could be created of it: own-selector.yaml", func() {
		_, err := u.creates("own-selector.yaml")

		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(And(ContainSubstring("spec.replicatedJobs[0].template.spec.selector"), ContainSubstring("remove it"))))
	})

	It("C94a: is told that it has no host names: fixed-subdomain.yaml", func() {
		first, err := u.creates("fixed-subdomain.yaml")
		Expect(err).NotTo(HaveOccurred())
		w.HasJobs(first, 1)
		second, err := u.creates("fixed-subdomain.yaml")
		Expect(err).NotTo(HaveOccurred())
		w.HasJobs(second, 1)

		w.Records(second, 1, "HostNamesMissing")
		w.Records(first, 0, "HostNamesMissing")
	})

	It("W6a: is warned that it is not placed exclusively: misspelt-placement.yaml", func() {
		_, err := u.creates("misspelt-placement.yaml")

		Expect(err).NotTo(HaveOccurred())
		Expect(u.Warnings).To(ConsistOf(And(ContainSubstring("metadata.annotations[jobset.sigs.k8s.io/exclusive-topology]"), ContainSubstring(jobset.ExclusiveKey))))
	})

	It("W20a: may be applied again: least.yaml", func() {
		apply := func() { cluster.Kubectl("apply", "-n", w.Namespace, "-f", filepath.Join("testdata", "least.yaml")) }
		apply()
		js := &jobset.JobSet{}
		Expect(w.Client.Get(w.Context, client.ObjectKey{Namespace: w.Namespace, Name: "least"}, js)).To(Succeed())
		w.HasJobs(js, 1)
		apply()
		Expect(Now(w, js).Generation).To(Equal(js.Generation))
	})

	It("P60a: gets an agent beside a sidecar that is none: helper-with-name.yaml", func() {
		js, err := u.creates("helper-with-name.yaml")
		Expect(err).NotTo(HaveOccurred())

		var names []string
		for _, c := range w.HasJobs(js, 1)[0].Spec.Template.Spec.InitContainers {
			names = append(names, c.Name)
		}
		Expect(names).To(ContainElements("metrics", "jobset-agent"))
		Expect(js.Spec.FailurePolicy.InPlaceRestart.Mode).To(Equal(jobset.ProcessMode))
		Expect(u.Warnings).To(BeEmpty())
	})
})
