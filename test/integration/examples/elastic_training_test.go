/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package examples

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
)

const trainingJob, tolerantJob = "examples/elastic-training/jobset.yaml", "examples/elastic-training/fault-tolerant.yaml"

// trainingExample is one of the training jobs of the elastic deep learning design.
func trainingExample(path string) *jobset.JobSet {
	GinkgoHelper()
	js := typed(jobSetAt(path))
	schemaDefaults(js) // a typed client writes what the manifest leaves out
	return js
}

var _ = Describe("The training job of the elastic deep learning design", func() {
	// starts lets the roles start, and returns the Job of the trainers.
	starts := func(w *framework.World, js *jobset.JobSet) *batchv1.Job {
		GinkgoHelper()
		for i, role := range []string{"master", "pserver", "trainer"} {
			w.HasJobs(js, i+1)
			w.JobController.Readies(w.Job(js, role, 0))
		}
		return w.Job(js, "trainer", 0)
	}

	for _, path := range []string{trainingJob, tolerantJob} {
		It("P110: starts its roles in order, trainers at their minimum, and releases the servers at the end: "+path, func(ctx SpecContext) {
			w := cluster.NewWorld(ctx)
			w.StartManager(framework.WithGates(allOn))
			js := w.Create(trainingExample(path))
			trainer := starts(w, js)
			Expect(trainer.Spec.Parallelism).To(HaveValue(BeEquivalentTo(2)))
			Expect(w.Job(js, "pserver", 0).Spec.Parallelism).To(HaveValue(BeEquivalentTo(2)))

			framework.Change(w, js, func(js *jobset.JobSet) {
				size := &js.Spec.ReplicatedJobs[2].Template.Spec
				size.Parallelism, size.Completions = ptr.To[int32](6), ptr.To[int32](6)
			})
			Eventually(func() *int32 { return framework.Now(w, trainer).Spec.Parallelism }).Should(HaveValue(BeEquivalentTo(6)))
			w.JobController.Completes(framework.Now(w, trainer))

			w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
			w.Deleting(js, 2)
		})
	}

	It("P110: fails with a trainer that failed, which the condition says", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		w.StartManager(framework.WithGates(allOn))
		js := w.Create(trainingExample(trainingJob))

		w.JobController.Fails(starts(w, js), "BackoffLimitExceeded", "Job has reached the specified backoff limit")

		w.Finishes(js, jobset.JobSetFailed, "FailedJobs")
	})

	It("P110: has the numbers of the design", func() {
		js := trainingExample(trainingJob)
		list := func(cpu, memory string) corev1.ResourceList {
			return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
		}
		Expect(js.Spec.SuccessPolicy).To(HaveValue(Equal(jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: []string{"trainer"}})))
		wanted := []struct {
			name             string
			bounds           *jobset.ElasticBounds
			requests, limits corev1.ResourceList
		}{
			{"master", nil, list("500m", "600Mi"), list("800m", "1Gi")},
			{"pserver", &jobset.ElasticBounds{MinInstances: 2, MaxInstances: 2}, list("500m", "600Mi"), list("800m", "1Gi")},
			{"trainer", &jobset.ElasticBounds{MinInstances: 2, MaxInstances: 6}, list("200m", "200Mi"), list("200m", "200Mi")},
		}
		Expect(js.Spec.ReplicatedJobs).To(HaveLen(len(wanted)))
		for i, want := range wanted {
			role := js.Spec.ReplicatedJobs[i]
			c := role.Template.Spec.Template.Spec.Containers[0]
			Expect(role.Name).To(Equal(want.name))
			Expect(role.Elastic).To(Equal(want.bounds), want.name)
			Expect(c.Image).To(Equal("paddlepaddle/paddlecloud-job"))
			Expect(c.Resources.Requests).To(BeComparableTo(want.requests), want.name)
			Expect(c.Resources.Limits).To(BeComparableTo(want.limits), want.name)
			Expect(c.Env).To(ContainElements(
				corev1.EnvVar{Name: "PADDLE_INIT_PORT", Value: "7164"}, corev1.EnvVar{Name: "PADDLE_INIT_PORTS_NUM", Value: "1"},
				corev1.EnvVar{Name: "PADDLE_INIT_PORTS_NUM_FOR_SPARSE", Value: "1"}, corev1.EnvVar{Name: "PADDLE_INIT_NUM_PASSES", Value: "10"}))
			Expect(c.Ports[0].ContainerPort).To(BeEquivalentTo(7164))
			Expect(c.VolumeMounts).To(ConsistOf(HaveField("MountPath", "/home/work/namespace/")))
		}
		trainer := js.Spec.ReplicatedJobs[2].Template.Spec.Template.Spec.Containers[0]
		Expect(trainer.Command).To(Equal([]string{"python", "train.py"}))
		Expect(trainer.WorkingDir).To(Equal("/home/job-1/"))
		Expect(trainingExample(tolerantJob).Spec.SuccessPolicy.Operator).To(Equal(jobset.OperatorAny))
	})
})
