/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("A JobSet that waits for a Pod that does not end", func() {
	It("C388: names the Pod, its node and when it should have been gone, and says so when it is", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(JobSet("js", Replicated("w", 1, 1)))
		pod := w.JobController.MakesPod(jobs[0], 0)
		w.Kubelet.StartsStopping(pod, 1)

		job := Now(w, jobs[0])
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: exceeded, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Minute)),
		})
		Expect(w.Client.Status().Update(ctx, job)).To(Succeed())

		w.TellsUser(js, corev1.EventTypeWarning, "PodsNotGone", "Job js-w-0 has been failing since ")
		told := w.Has(js, jobset.JobSetJobsBlocked, metav1.ConditionTrue, "PodsNotGone")
		Expect(told.Message).To(ContainSubstring(" and waits for Pods " + pod.Name))
		Expect(told.Message).To(ContainSubstring("should have been gone at " + Now(w, pod).DeletionTimestamp.UTC().Format(time.RFC3339)))

		w.Kubelet.Removes(pod)
		w.JobController.Fails(job, exceeded, "")
		w.Finishes(js, jobset.JobSetFailed, "FailedJobs")
		w.Has(js, jobset.JobSetJobsBlocked, metav1.ConditionFalse, "JobsNotBlocked")
	})
})
