/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// Kueue never touches Jobs. It writes spec.suspend and five fields of the Pod
// templates, and reads the conditions and the counts of the status.

// assign is what Kueue writes when it admits a JobSet to a pool of nodes.
func assign(js *jobset.JobSet, pool string) {
	js.Spec.Suspend = ptr.To(false)
	for i := range js.Spec.ReplicatedJobs {
		template := PodTemplate(js, i)
		template.Labels = map[string]string{"kueue.x-k8s.io/podset": js.Spec.ReplicatedJobs[i].Name}
		template.Annotations = map[string]string{"kueue.x-k8s.io/workload": "jobset-js"}
		template.Spec.NodeSelector = map[string]string{"pool": pool}
		template.Spec.Tolerations = []corev1.Toleration{
			{Key: pool, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](60)},
		}
		template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/topology"}}
	}
}

// evict is what Kueue writes to take a JobSet's nodes away: all is as it was before.
func evict(js *jobset.JobSet) {
	js.Spec.Suspend = ptr.To(true)
	for i := range js.Spec.ReplicatedJobs {
		template := PodTemplate(js, i)
		template.Labels, template.Annotations = nil, nil
		template.Spec.NodeSelector, template.Spec.Tolerations, template.Spec.SchedulingGates = nil, nil, nil
	}
}

// isAssigned claims that a Job may run, and has what Kueue wrote when it admitted the JobSet to this pool, nothing of the pool before
// (C334a), and the controller's own labels still.
func isAssigned(job *batchv1.Job, pool string) {
	GinkgoHelper()
	template := &job.Spec.Template
	Expect(job.Spec.Suspend).To(HaveValue(BeFalse()))
	Expect(template.Labels).To(HaveKeyWithValue("kueue.x-k8s.io/podset", job.Labels[jobset.ReplicatedJobNameKey]))
	Expect(template.Labels).To(HaveKeyWithValue(jobset.JobSetNameKey, "js"))
	Expect(template.Annotations).To(HaveKeyWithValue("kueue.x-k8s.io/workload", "jobset-js"))
	Expect(template.Spec.NodeSelector).To(Equal(map[string]string{"pool": pool}))
	Expect(tolerated(template)).To(Equal([]string{pool}))
	Expect(template.Spec.SchedulingGates).To(Equal([]corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/topology"}}))
}

func tolerated(job *corev1.PodTemplateSpec) []string {
	var keys []string
	for _, toleration := range job.Spec.Tolerations {
		keys = append(keys, toleration.Key)
	}
	return keys
}

var _ = Describe("A JobSet in a queue", func() {
	It("C167 C168 C170 C334a C364 O306 O307: is admitted, evicted, and admitted to other nodes", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(suspended(AB()))
		w.HasConditions(js, isSuspended)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Suspended: 3}, jobset.ReplicatedJobStatus{Suspended: 1})

		Change(w, js, func(js *jobset.JobSet) { assign(js, "gold") })
		w.HasConditions(js, isResumed)
		sleeps(w, js)
		for _, job := range w.Jobs(js) {
			isAssigned(job, "gold")
		}
		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})

		Change(w, js, evict)
		w.HasConditions(js, isSuspended)
		w.JobController.Suspends(w.Jobs(js)...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Suspended: 3}, jobset.ReplicatedJobStatus{Suspended: 1})
		for _, job := range w.Jobs(js) {
			Expect(job.Spec.Template.Spec.NodeSelector).To(Equal(map[string]string{"pool": "gold"}), "changes come with the resume")
		}

		Change(w, js, func(js *jobset.JobSet) { assign(js, "silver") })
		w.HasConditions(js, isResumed)
		sleeps(w, js)
		for _, job := range w.Jobs(js) {
			isAssigned(job, "silver")
		}
		Expect(uids(w.Jobs(js))).To(Equal(uids(jobs)))
		w.HasEvents(js, eventSuspend, eventResume, eventSuspend, eventResume)
		w.HasCounted(js, Counters{})
		w.JobController.Completes(w.Jobs(js)...)
		w.HasConditions(js, isResumed, isCompleted)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 3}, jobset.ReplicatedJobStatus{Succeeded: 1})
	})

	It("C333 C335: that is admitted twice to the same nodes has all of it once, and the controller's own labels still", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(suspended(AB()))
		w.HasConditions(js, isSuspended)
		for range 2 {
			Change(w, js, func(js *jobset.JobSet) {
				assign(js, "gold")
				PodTemplate(js, 1).Labels[jobset.JobSetNameKey] = "theirs"
			})
			w.HasConditions(js, isResumed)
			w.Suspend(js)
			w.HasConditions(js, isSuspended)
		}

		w.Resume(js)

		w.HasConditions(js, isResumed)
		sleeps(w, js)
		template := w.Job(js, "b", 0).Spec.Template
		Expect(tolerated(&template)).To(Equal([]string{"gold"}))
		Expect(template.Spec.SchedulingGates).To(HaveLen(1))
		Expect(template.Labels).To(HaveKeyWithValue(jobset.JobSetNameKey, "js"))
	})

	It("C144 C168: that restarts makes its new Jobs for the nodes it was admitted to", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(suspended(with(AB(), jobset.FailurePolicy{MaxRestarts: 1})))
		w.HasConditions(js, isSuspended)
		Change(w, js, func(js *jobset.JobSet) { assign(js, "gold") })
		w.HasConditions(js, isResumed)

		w.JobController.Fails(w.Job(js, "a", 0), exceeded, "")
		w.JobController.CollectsAll(js, 4)

		for _, job := range w.HasJobs(js, 4) {
			Expect(job.Labels).To(HaveKeyWithValue(attemptKey, "1"))
			Expect(job.Spec.Template.Spec.NodeSelector).To(Equal(map[string]string{"pool": "gold"}))
			Expect(job.Spec.Suspend).To(HaveValue(BeFalse()))
		}
	})

	It("C164 C171: that restarts while it is suspended makes its new Jobs suspended", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(with(AB(), jobset.FailurePolicy{MaxRestarts: 1}))
		w.JobController.Fails(w.HasJobs(js, 4)[0], exceeded, "")
		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.Suspend(js)
		w.JobController.CollectsAll(js, 4)

		w.HasJobs(js, 4)

		sleeps(w, js, "js-a-0", "js-b-0", "js-b-1", "js-b-2")
		Expect(attempts(w, js)).To(Equal(map[string]int{"1": 4}))
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Suspended: 3}, jobset.ReplicatedJobStatus{Suspended: 1})
	})
})
