/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// admitTemplates is what a queueing system writes while a JobSet is suspended.
func admitTemplates(js *jobset.JobSet) {
	for i := range js.Spec.ReplicatedJobs {
		template := PodTemplate(js, i)
		template.Labels = map[string]string{"queue": "gold"}
		template.Annotations = map[string]string{"admitted": "yes"}
		template.Spec.NodeSelector = map[string]string{"pool": "accelerators"}
		template.Spec.Tolerations = []corev1.Toleration{{Key: "reserved", Operator: corev1.TolerationOpExists}}
		template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/topology"}}
	}
}

// beAdmitted holds of a Pod template that has it all, and the controller's own labels still.
func beAdmitted() types.GomegaMatcher {
	return And(
		HaveField("Labels", HaveKeyWithValue("queue", "gold")),
		HaveField("Labels", HaveKeyWithValue(jobset.JobSetNameKey, "js")),
		HaveField("Annotations", HaveKeyWithValue("admitted", "yes")),
		HaveField("Spec.NodeSelector", HaveKeyWithValue("pool", "accelerators")),
		HaveField("Spec.Tolerations", ContainElement(HaveField("Key", "reserved"))),
		HaveField("Spec.SchedulingGates", ConsistOf(corev1.PodSchedulingGate{Name: "example.com/topology"})),
	)
}

var _ = Describe("A suspended JobSet", func() {
	It("C364 O306: gets all its Jobs, suspended, and counts them", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.Suspend = ptr.To(true)
		js = w.Create(js)

		for _, job := range w.HasJobs(js, 4) {
			Expect(job.Spec.Suspend).To(HaveValue(BeTrue()))
		}
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Suspended: 3}, jobset.ReplicatedJobStatus{Suspended: 1})
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
		w.TellsUser(js, corev1.EventTypeNormal, "SuspendedJobs", "jobset is suspended")
	})

	It("C168 C170 C364 O307: hands changed Pod templates to its Jobs at the resume and not before", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.Suspend = ptr.To(true)
		js = w.Create(js)
		jobs := w.HasJobs(js, 4)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")

		Change(w, js, admitTemplates)
		w.Settles(js)
		Expect(Now(w, jobs[0]).Spec.Template.Labels).NotTo(HaveKey("queue"))
		w.Resume(js)

		w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "ResumeJobs")
		for _, job := range w.Jobs(js) {
			Expect(job.Spec.Suspend).To(HaveValue(BeFalse()))
			Expect(job.Spec.Template).To(beAdmitted())
		}
		w.JobController.Completes(w.Jobs(js)...)
		w.Finishes(js, jobset.JobSetCompleted, "")
	})

	It("C167: that ran before gets changed Pod templates too", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		w.JobController.Readies(w.HasJobs(js, 4)...)
		w.Suspend(js)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		w.JobController.Suspends(w.Jobs(js)...)

		Change(w, js, func(js *jobset.JobSet) {
			admitTemplates(js)
			js.Spec.Suspend = ptr.To(false)
		})

		w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "")
		for _, job := range w.Jobs(js) {
			Expect(job.Spec.Suspend).To(HaveValue(BeFalse()))
			Expect(job.Spec.Template).To(beAdmitted())
		}
	})

	It("C167: waits with changed templates until the Job controller has suspended its Jobs", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		jobs := w.HasJobs(js, 4)
		w.JobController.Readies(jobs...)
		w.Suspend(js)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")
		Change(w, js, func(js *jobset.JobSet) {
			admitTemplates(js)
			js.Spec.Suspend = ptr.To(false)
		})
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "")

		for _, job := range jobs {
			if ptr.Deref(Now(w, job).Spec.Suspend, false) {
				w.JobController.Suspends(job)
			}
		}

		w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "")
		for _, job := range w.Jobs(js) {
			Expect(job.Spec.Template).To(beAdmitted())
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

	It("C165: that never was suspended has no such condition", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{})

		Expect(Now(w, js).Status.Conditions).To(BeEmpty())
	})
})
