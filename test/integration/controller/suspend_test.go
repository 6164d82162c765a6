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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("A suspended JobSet", func() {
	It("C168 C170 C364 O307: hands changed Pod templates to its Jobs at the resume and not before", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(suspended(AB()))
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")

		Change(w, js, func(js *jobset.JobSet) {
			assign(js, "gold")
			suspended(js)
		})
		w.Settles(js)
		Expect(Now(w, jobs[0]).Spec.Template.Labels).NotTo(HaveKey("kueue.x-k8s.io/podset"))
		w.Resume(js)

		w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "ResumeJobs")
		for _, job := range w.Jobs(js) {
			isAssigned(job, "gold")
		}
		w.JobController.Completes(w.Jobs(js)...)
		w.Finishes(js, jobset.JobSetCompleted, "")
	})

	It("C167: waits with changed templates until the Job controller has suspended its Jobs", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())
		w.JobController.Readies(jobs...)
		w.Suspend(js)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		Change(w, js, func(js *jobset.JobSet) { assign(js, "gold") })
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")

		for _, job := range jobs {
			if ptr.Deref(Now(w, job).Spec.Suspend, false) {
				w.JobController.Suspends(job)
			}
		}

		w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "")
		for _, job := range w.Jobs(js) {
			isAssigned(job, "gold")
		}
	})

	It("C334a: that is admitted to other nodes than before keeps nothing of those in its Jobs, but what others put there", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, _ := w.CreateWithJobs(suspended(AB()))
		admit := func(flavor string) {
			Change(w, js, func(js *jobset.JobSet) {
				js.Spec.Suspend = ptr.To(false)
				for i := range js.Spec.ReplicatedJobs {
					t := PodTemplate(js, i)
					t.Labels, t.Annotations = map[string]string{"label-" + flavor: "x"}, map[string]string{"annotation-" + flavor: "x"}
					t.Spec.NodeSelector = map[string]string{"flavor-" + flavor: "yes"}
					t.Spec.Tolerations = []corev1.Toleration{{Key: "flavor-" + flavor, Operator: corev1.TolerationOpExists}}
					t.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "flavor/" + flavor}}
				}
			})
			w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "")
		}
		// Another controller wants something of the Pods, too.
		for _, job := range w.Jobs(js) {
			Change(w, job, func(job *batchv1.Job) { job.Spec.Template.Spec.NodeSelector = map[string]string{"others": "yes"} })
		}
		w.Settles(js)

		admit("a")
		jobs := w.Jobs(js)
		w.JobController.Readies(jobs...)
		Change(w, js, evict)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		w.JobController.Suspends(jobs...)
		admit("b")

		for _, job := range w.Jobs(js) {
			t := &job.Spec.Template
			Expect(job.Spec.Suspend).To(HaveValue(BeFalse()))
			Expect(t.Spec.NodeSelector).To(Equal(map[string]string{"others": "yes", "flavor-b": "yes"}))
			Expect(t.Spec.Tolerations).To(ConsistOf(HaveField("Key", "flavor-b")))
			Expect(t.Spec.SchedulingGates).To(ConsistOf(HaveField("Name", "flavor/b")))
			Expect(t.Labels).To(And(HaveKey("label-b"), Not(HaveKey("label-a")), HaveKey(jobset.JobSetNameKey),
				HaveKeyWithValue("batch.kubernetes.io/controller-uid", string(job.UID)), HaveKeyWithValue("job-name", job.Name)))
			Expect(t.Annotations).To(And(HaveKey("annotation-b"), Not(HaveKey("annotation-a")), HaveKey(jobset.JobSetNameKey)))
		}
	})

	It("C163 C165 C171 O270 O308: suspends and resumes its Jobs as often as asked, and counts nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		w.HasJobs(js, 4)

		for range 2 {
			w.Suspend(js)
			w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
			for _, job := range w.Jobs(js) {
				Expect(job.Spec.Suspend).To(HaveValue(BeTrue()))
			}
			w.Resume(js)
			w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "ResumeJobs")
			for _, job := range w.Jobs(js) {
				Expect(job.Spec.Suspend).To(HaveValue(BeFalse()))
				Expect(job.Labels).To(HaveKeyWithValue("jobset.sigs.k8s.io/restart-attempt", "0"))
			}
		}
		w.HasCounted(js, Counters{})
	})
})
