/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("A worker that is gone", func() {
	It("P14: breaks the group when its Pod was deleted, and its replacement joins the next epoch", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(3, 10))

		w.Kubelet.Removes(pods[1])

		w.Reaches(train, 1, 1)
		w.HasCounted(train, Counters{InPlace: 1})
		w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "train-workers-0")
		replacement := w.JobController.Replaces(pods[1])
		w.Agents.Report(2, pods[0], pods[2])
		w.StaysAt(train, 1, 1)
		w.Agents.Report(2, replacement)
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{InPlace: 1})
	})

	It("P14 P170: that failed counts as lost before the Job controller has replaced its Pod, which is when it accounts for it", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		Expect(w.Job(train, "workers", 0).Spec.BackoffLimitPerIndex).To(HaveValue(BeEquivalentTo(math.MaxInt32)))
		Expect(Now(w, train).Spec.ReplicatedJobs[0].Template.Spec.BackoffLimitPerIndex).To(BeNil(), "it is not stored")

		w.Kubelet.SeesFail(pods[0], 7)

		w.Reaches(train, 1, 1)
		w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "code 7")
		w.Agents.Report(2, pods[1])
		w.StaysAt(train, 1, 1)
		replacement := w.JobController.Replaces(pods[0])
		w.JobController.Accounts(pods[0])
		w.Agents.Report(2, replacement)
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{InPlace: 1})
	})

	It("P14 P170: that failed in a Job of an older version counts as lost once the Job controller has accounted for its Pod", func(ctx SpecContext) {
		w := newWorld(ctx, WhoseJobsLookLike(func(job *batchv1.Job) { job.Spec.BackoffLimitPerIndex = nil }))
		train, pods := w.RunningGroup(Training(2, 10))

		w.Kubelet.SeesFail(pods[0], 7)
		w.StaysAt(train, 0, 1)
		w.JobController.Accounts(pods[0])

		w.Reaches(train, 1, 1)
	})

	It("P10 P170: that failed and may fail its Job counts as lost once the Job controller has seen it and did not fail the Job", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := Training(2, 10)
		js.Spec.ReplicatedJobs[0].Template.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:      batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{3}},
		}}}
		train, pods := w.RunningGroup(js)

		w.Kubelet.SeesFail(pods[0], 7)
		w.StaysAt(train, 0, 1)
		w.JobController.CountsActive(w.Job(train, "workers", 0), 1)

		w.Reaches(train, 1, 1)
		w.HasCounted(train, Counters{InPlace: 1})
	})

	It("P14: may use its grace, and breaks the group at the end of it though nothing happens then", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))

		w.Kubelet.StartsStopping(pods[1], 3600)
		w.StaysAt(train, 0, 1)
		w.Kubelet.StartsStopping(pods[0], 3)

		w.Reaches(train, 1, 1)
		gone := Now(w, pods[0])
		broken := w.Has(train, jobset.JobSetRestarting, metav1.ConditionTrue, "InPlaceRestart").LastTransitionTime
		Expect(broken.Before(gone.DeletionTimestamp)).To(BeFalse(), "broken at %s, grace until %s", broken, gone.DeletionTimestamp)
	})

	It("P14: need not be told by an event: a manager that starts later finds it", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		w.Manager.Stop()
		w.Kubelet.Removes(pods[0])

		w.StartManager()

		w.Reaches(train, 1, 1)
		w.HasCounted(train, Counters{InPlace: 1})
	})

	It("P14: is looked up alone, whatever the size of its Job", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(5, 10))
		var mu sync.Mutex
		var lists []url.Values
		w.StartManager(WhoseRequests(func(request *http.Request) {
			query := request.URL.Query() // those of the cache have a field selector
			if strings.HasSuffix(request.URL.Path, "/namespaces/"+w.Namespace+"/pods") && request.Method == http.MethodGet && !query.Has("fieldSelector") {
				mu.Lock()
				defer mu.Unlock()
				lists = append(lists, query)
			}
		}))

		w.Kubelet.Removes(pods[3])

		w.Reaches(train, 1, 1)
		uid := w.Job(train, "workers", 0).UID
		mu.Lock()
		defer mu.Unlock()
		Expect(lists).NotTo(BeEmpty())
		Expect(lists).To(HaveEach(Equal(url.Values{ // a pass on a status that has just been written is made again
			"labelSelector": {fmt.Sprintf("batch.kubernetes.io/controller-uid=%s,batch.kubernetes.io/job-completion-index in (3)", uid)},
			"limit":         {"100"},
		})))
	})

	It("P14: is not invented by a new leader whose Pod cache has not heard of it", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))

		w.StartManager(WhosePodCacheLacks(pods[1]))
		Change(w, train, func(js *jobset.JobSet) { js.Labels = map[string]string{"look": "again"} })

		w.StaysAt(train, 0, 1)
		w.HasCounted(train, Counters{})
	})

	It("P13: delays the lift while the cache has not heard of its report, and never misleads", func(ctx SpecContext) {
		w := newWorld(ctx, WhosePodsLookLike(func(pod *corev1.Pod) { delete(pod.Annotations, jobset.EpochKey) }))
		train, pods := w.HeldGroup(Training(2, 10))
		w.Agents.Report(1, pods...)
		w.StaysAt(train, 0, 0)

		w.StartManager()

		w.Reaches(train, 0, 1)
	})

	It("P14: of a Job that is about to fail is left to the failure policy, even if only the API server knows", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		w.StartManager(WhoseJobsLookLike(func(job *batchv1.Job) { job.Status.Conditions = nil }))

		w.JobController.WillFail(w.Job(train, "workers", 0), batchv1.JobReasonPodFailurePolicy)
		w.Kubelet.SeesFail(pods[0], 3)
		w.JobController.Accounts(pods[0])

		w.StaysAt(train, 0, 1)
		w.HasCounted(train, Counters{})
	})
})

var _ = Describe("What is not a worker", func() {
	It("P10: an index that ran to its end breaks nothing and is not waited for", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(3, 10))
		job := w.Job(train, "workers", 0)

		w.Kubelet.SeesSucceed(pods[0])
		w.StaysAt(train, 0, 1)
		w.JobController.Accounts(pods[0])
		w.JobController.CountsIndexes(job, "0")
		w.StaysAt(train, 0, 1)
		w.Kubelet.Removes(pods[0])
		w.StaysAt(train, 0, 1)

		w.Kubelet.SeesSucceed(pods[1:]...)
		w.JobController.Completes(job)
		w.Finishes(train, jobset.JobSetCompleted, "AllJobsCompleted")
		w.HasCounted(train, Counters{})
	})

	It("P10 C270: a Pod with our labels that no Job of ours controls is nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		stranger := pods[0].DeepCopy()
		stranger.ObjectMeta = metav1.ObjectMeta{
			Namespace: w.Namespace, Name: "stranger",
			Labels: pods[0].Labels, Annotations: pods[0].Annotations,
		}
		Expect(w.Client.Create(ctx, stranger)).To(Succeed())

		w.Agents.Report(2, stranger)
		w.StaysAt(train, 0, 1)
		w.Kubelet.Removes(stranger)
		w.StaysAt(train, 0, 1)
	})

	It("P10: a Pod of a Job of the same name but another UID is nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		stale := pods[0].DeepCopy()
		stale.ObjectMeta = metav1.ObjectMeta{
			Namespace: w.Namespace, Name: "stale",
			Labels: pods[0].Labels, Annotations: pods[0].Annotations, OwnerReferences: pods[0].OwnerReferences,
		}
		stale.OwnerReferences[0].UID = types.UID("11111111-1111-1111-1111-111111111111")
		Expect(w.Client.Create(ctx, stale)).To(Succeed())

		w.Agents.Report(2, stale)

		w.StaysAt(train, 0, 1)
	})
})

var _ = Describe("An epoch annotation", func() {
	DescribeTable("P12 C271: that is no epoch counts as not reported and is told once",
		func(ctx SpecContext, text string) {
			w := newWorld(ctx)
			train, pods := w.HeldGroup(Training(2, 10))

			w.Agents.ReportText(text, pods[0])
			w.Agents.Report(1, pods[1])

			w.TellsUser(train, corev1.EventTypeWarning, "InvalidEpoch", pods[0].Name)
			w.StaysAt(train, 0, 0)
			w.Agents.Report(1, pods[0])
			w.Reaches(train, 0, 1)
			w.Records(train, 1, "InvalidEpoch")
		},
		Entry("text", "one"),
		Entry("beyond 32 bits", "2147483648"),
	)
})
