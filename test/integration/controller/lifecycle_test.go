/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"crypto/sha1" //nolint:gosec // the job key is one, and no secret
	"fmt"
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("A JobSet", func() {
	It("C357 O272 O273 O275 O312 O313: gets its Jobs, counts them in descending order of names and completes with the last one", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())

		w.JobController.Starts(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3}, jobset.ReplicatedJobStatus{Active: 1})
		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		w.JobController.Completes(jobs[:3]...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 1, Ready: 1, Succeeded: 2}, jobset.ReplicatedJobStatus{Succeeded: 1})
		w.HasNo(js, jobset.JobSetCompleted)
		w.JobController.Completes(jobs[3])

		w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 3}, jobset.ReplicatedJobStatus{Succeeded: 1})
		w.TellsUser(js, corev1.EventTypeNormal, "AllJobsCompleted", "jobset completed successfully")
	})

	It("C60 C65 C66 C67 C68 C69 C70 C71 C73-C80: owns its Jobs and says on them, and on their Pods, where they belong", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Labels, js.Annotations = map[string]string{"mine": "only"}, map[string]string{"mine": "only"}
		b := &js.Spec.ReplicatedJobs[1]
		b.GroupName = "workers"
		b.Template.Name, b.Template.Finalizers = "ignored", []string{"example.com/ignored"}
		b.Template.Labels, b.Template.Annotations = map[string]string{"job": "label"}, map[string]string{"job": "annotation"}
		PodTemplate(js, 1).Labels, PodTemplate(js, 1).Annotations = map[string]string{"pod": "label"}, map[string]string{"pod": "annotation"}
		js = w.Create(js)
		w.HasJobs(js, 4)

		job := w.Job(js, "b", 2)

		keys := func(more ...string) map[string]string {
			all := map[string]string{
				"jobset.sigs.k8s.io/jobset-name":            "js",
				"jobset.sigs.k8s.io/jobset-uid":             string(js.UID),
				"jobset.sigs.k8s.io/replicatedjob-name":     "b",
				"jobset.sigs.k8s.io/replicatedjob-replicas": "3",
				"jobset.sigs.k8s.io/global-replicas":        "4",
				"jobset.sigs.k8s.io/job-index":              "2",
				"jobset.sigs.k8s.io/job-global-index":       "3",
				"jobset.sigs.k8s.io/job-key":                fmt.Sprintf("%x", sha1.Sum([]byte(w.Namespace+"/js-b-2"))),
				"jobset.sigs.k8s.io/group-name":             "workers",
				"jobset.sigs.k8s.io/group-replicas":         "3",
				"jobset.sigs.k8s.io/job-group-index":        "2",
				"jobset.sigs.k8s.io/restart-attempt":        "0",
			}
			for i := 0; i < len(more); i += 2 {
				all[more[i]] = more[i+1]
			}
			return all
		}
		Expect(job.Finalizers).To(BeEmpty())
		Expect(job.OwnerReferences).To(Equal([]metav1.OwnerReference{*metav1.NewControllerRef(js, jobset.GroupVersion.WithKind("JobSet"))}))
		// What the API server adds to the labels of a Job is not ours.
		ours := func(labels map[string]string) map[string]string {
			maps.DeleteFunc(labels, func(key, _ string) bool {
				return strings.HasPrefix(key, "batch.kubernetes.io/") || key == "controller-uid" || key == "job-name"
			})
			return labels
		}
		Expect(ours(job.Labels)).To(Equal(keys("job", "label")))
		Expect(job.Annotations).To(Equal(keys("job", "annotation", "jobset.sigs.k8s.io/template-entries", `["labels/pod","annotations/pod"]`)))
		Expect(ours(job.Spec.Template.Labels)).To(Equal(keys("pod", "label")))
		Expect(job.Spec.Template.Annotations).To(Equal(keys("pod", "annotation")))
		Expect(job.Spec.Template.Spec.Subdomain).To(Equal("js"))
	})

	It("C358 O274: ignores a Job of a JobSet of the same name but another UID", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())
		foreign := jobs[0].DeepCopy()
		foreign.ObjectMeta = metav1.ObjectMeta{
			Namespace: w.Namespace, Name: "js-elsewhere-0",
			Labels:          map[string]string{jobset.ReplicatedJobNameKey: "elsewhere", "jobset.sigs.k8s.io/restart-attempt": "zero"},
			OwnerReferences: jobs[0].OwnerReferences,
		}
		foreign.OwnerReferences[0].UID = "22222222-2222-2222-2222-222222222222"
		foreign.Spec.Selector, foreign.Spec.ManualSelector = nil, nil
		foreign.Spec.Template.Labels = nil
		Expect(w.Client.Create(ctx, foreign)).To(Succeed())
		w.JobController.Fails(foreign, "BackoffLimitExceeded", "")

		w.JobController.Completes(jobs...)

		w.Finishes(js, jobset.JobSetCompleted, "")
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 3}, jobset.ReplicatedJobStatus{Succeeded: 1})
	})

	It("C122 C363 O280 O315: without a failure policy fails with the first Job, and keeps that one", func(ctx SpecContext) {
		w := newWorld(ctx)
		js, jobs := w.CreateWithJobs(AB())

		w.JobController.Fails(jobs[2], "BackoffLimitExceeded", "")

		w.Finishes(js, jobset.JobSetFailed, "FailedJobs")
		w.TellsUser(js, corev1.EventTypeWarning, "FailedJobs", "(first failed job: js-b-1)")
		w.Deleting(js, 3)
		Expect(Now(w, jobs[2]).DeletionTimestamp).To(BeNil())
	})

	It("C18: that is being deleted is left alone", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Finalizers = []string{"example.com/hold"}
		js, jobs := w.CreateWithJobs(js)
		Expect(w.Client.Delete(ctx, js)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { w.Context = ctx; Change(w, js, func(js *jobset.JobSet) { js.Finalizers = nil }) })

		w.JobController.Fails(jobs[0], "BackoffLimitExceeded", "")

		w.StaysUntouched(js)
		w.HasNo(js, jobset.JobSetFailed)
		Expect(w.Jobs(js)).To(HaveLen(4))
	})
})
