/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/process"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// ofAnother keeps the Job controller away: its Pods would be a load on the API server, not on the manager.
const ofAnother = "example.com/nobody"

// hostile is a JobSet that takes part in in-place restart, and which no Job controller touches.
func hostile(namespace, name string, change func(*jobset.JobSet, *batchv1.JobSpec)) *jobset.JobSet {
	js := &jobset.JobSet{}
	js.Namespace, js.Name = namespace, name
	js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart, MaxRestarts: 100}
	job := batchv1.JobSpec{ManagedBy: ptr.To(ofAnother), Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", Image: stories.WorkerImage, Command: []string{"worker"}}}},
	}}
	js.Spec.ReplicatedJobs = []jobset.ReplicatedJob{{Name: "w", Replicas: 1, Template: batchv1.JobTemplateSpec{Spec: job}}}
	change(js, &js.Spec.ReplicatedJobs[0].Template.Spec)
	return js
}

// hostileObjects are those of the attack matrix that are stored, whoever let them in.
func hostileObjects(namespace string) []*jobset.JobSet {
	return []*jobset.JobSet{
		// The most Pods that the API server takes in an indexed Job, and an index for each number there is.
		hostile(namespace, "completions", func(js *jobset.JobSet, job *batchv1.JobSpec) {
			job.Parallelism, job.Completions = ptr.To[int32](100_000), ptr.To[int32](math.MaxInt32)
			job.CompletionMode = ptr.To(batchv1.IndexedCompletion)
			js.Spec.FaultTolerance = &jobset.FaultTolerance{WarmupGracePeriodSeconds: ptr.To[int32](1)} // says soon who is missing
		}),
		hostile(namespace, "replicas", func(js *jobset.JobSet, _ *batchv1.JobSpec) {
			second := *js.Spec.ReplicatedJobs[0].DeepCopy()
			second.Name, second.Replicas = "second", math.MaxInt32
			second.DependsOn = []jobset.DependsOn{{Name: "w", Status: jobset.DependencyComplete}}
			js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, second)
		}),
		hostile(namespace, "instances", func(js *jobset.JobSet, job *batchv1.JobSpec) {
			js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 1, MaxInstances: math.MaxInt32}
			job.Parallelism = ptr.To[int32](100_000)
			ask(job, stories.Accelerator)
		}),
		hostile(namespace, "names", func(js *jobset.JobSet, job *batchv1.JobSpec) {
			js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 1, MaxInstances: 9}
			ask(job, stories.Accelerator)
			for i := range 10_000 {
				ask(job, corev1.ResourceName(fmt.Sprintf("example.com/r%d", i)))
			}
		}),
	}
}

func ask(job *batchv1.JobSpec, name corev1.ResourceName) {
	container := &job.Template.Spec.Containers[0]
	if container.Resources.Limits == nil {
		container.Resources.Limits = corev1.ResourceList{}
	}
	container.Resources.Limits[name] = resource.MustParse("1")
}

var _ = Describe("A manager with JobSets that no admission would let in", Serial, func() {
	// The largest objects that an API server stores, one after the other.
	It("C381 C385 C386: restarts the group of another namespace in five seconds, and stays small", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true})
		round := group.RunsAt(1)
		const restarts = 3 // beside each
		manager := shown.run.PID()
		before, err := process.PeakResident(manager)
		Expect(err).NotTo(HaveOccurred())

		admitsAll(ctx)
		namespace := &corev1.Namespace{}
		namespace.GenerateName = "hostile-"
		Expect(stories.API().Create(ctx, namespace)).To(Succeed())
		for _, js := range hostileObjects(namespace.Name) {
			By("storing " + js.Name)
			Eventually(func() error { return stories.API().Create(ctx, js) }).WithContext(ctx).WithTimeout(time.Minute).Should(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(stories.API().Delete(ctx, js)).To(Succeed()) })
			Eventually(func(g Gomega) {
				g.Expect(stories.API().Get(ctx, client.ObjectKeyFromObject(js), js)).To(Succeed())
				g.Expect(js.Status.ReplicatedJobsStatus).NotTo(BeEmpty(), "the manager has looked at it")
				if js.Spec.FaultTolerance != nil {
					g.Expect(notes(ctx, g, js)).To(ContainElement(ContainSubstring("of 2147483647 workers have not reported epoch 1")))
				}
			}).WithContext(ctx).WithTimeout(time.Minute).Should(Succeed())

			var took []time.Duration
			for range restarts {
				told := group.Tell(order.Exit(1), round.Worker(0))
				round = group.RunsAt(round.Epoch + 1)
				took = append(took, time.Since(told))
			}
			slices.Sort(took) // the machine may pause during one, and an object that is in the way is in the way of all
			median := took[restarts/2]
			peak, err := process.PeakResident(manager)
			Expect(err).NotTo(HaveOccurred())
			AddReportEntry(fmt.Sprintf("%s: restarts beside it took %v, the manager's greatest memory is %.0f MiB, %.0f before", js.Name, took, peak/(1<<20), before/(1<<20)))
			Expect(median).To(BeNumerically("<", 5*time.Second), "the median of the restarts beside %s, %v", js.Name, took)
			Expect(peak-before).To(BeNumerically("<", 64<<20), "memory of the manager with %s", js.Name)
		}
		group.Charged(round.Epoch - 1)
		Expect(shown.run.PID()).To(Equal(manager), "the manager that ran before")
		Expect(shown.run.Done()).NotTo(BeClosed())
	}, SpecTimeout(specTime))
})

// notes are those of the events of a JobSet.
func notes(ctx context.Context, g Gomega, js *jobset.JobSet) (all []string) {
	var events eventsv1.EventList
	g.Expect(stories.API().List(ctx, &events, client.InNamespace(js.Namespace))).To(Succeed())
	for i := range events.Items {
		if events.Items[i].Regarding.UID == js.UID {
			all = append(all, events.Items[i].Note)
		}
	}
	return all
}

// admitsAll takes away the webhook that refuses JobSets, until the end of the spec.
func admitsAll(ctx SpecContext) {
	GinkgoHelper()
	var all admissionregistrationv1.ValidatingWebhookConfigurationList
	Expect(stories.API().List(ctx, &all)).To(Succeed())
	Expect(all.Items).NotTo(BeEmpty())
	for i := range all.Items {
		hooks := &all.Items[i]
		Expect(stories.API().Delete(ctx, hooks)).To(Succeed())
		hooks.ResourceVersion, hooks.UID = "", ""
		DeferCleanup(func(ctx SpecContext) { Expect(stories.API().Create(ctx, hooks)).To(Succeed()) })
	}
}
