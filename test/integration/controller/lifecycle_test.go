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
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("A JobSet", func() {
	It("C357: gets its Jobs, counts them in descending order of names and completes with the last one", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		jobs := w.HasJobs(js, 4)

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

	It("C60 C66 C68: owns its Jobs and says on them, and on their Pods, where they belong", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		w.HasJobs(js, 4)

		job := w.Job(js, "b", 2)

		Expect(job.OwnerReferences).To(ConsistOf(*metav1.NewControllerRef(js, jobset.GroupVersion.WithKind("JobSet"))))
		keys := And(
			HaveKeyWithValue("jobset.sigs.k8s.io/jobset-name", "js"),
			HaveKeyWithValue("jobset.sigs.k8s.io/jobset-uid", string(js.UID)),
			HaveKeyWithValue("jobset.sigs.k8s.io/replicatedjob-name", "b"),
			HaveKeyWithValue("jobset.sigs.k8s.io/job-index", "2"),
			HaveKeyWithValue("jobset.sigs.k8s.io/job-global-index", "3"),
			HaveKeyWithValue("jobset.sigs.k8s.io/global-replicas", "4"),
			HaveKeyWithValue("jobset.sigs.k8s.io/restart-attempt", "0"),
		)
		Expect(job.Labels).To(keys)
		Expect(job.Annotations).To(keys)
		Expect(job.Spec.Template.Labels).To(keys)
		Expect(job.Spec.Template.Annotations).To(keys)
		Expect(job.Spec.Template.Spec.Subdomain).To(Equal("js"))
	})

	It("C81: publishes the address of its coordinator on every Job", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "a"}
		js = w.Create(js)

		for _, job := range w.HasJobs(js, 4) {
			Expect(job.Labels).To(HaveKeyWithValue(jobset.CoordinatorKey, "js-a-0-0.js"))
			Expect(job.Annotations).To(HaveKeyWithValue(jobset.CoordinatorKey, "js-a-0-0.js"))
		}
	})

	It("C358: ignores a Job of a JobSet of the same name but another UID", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		jobs := w.HasJobs(js, 4)
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

	DescribeTable("C116 C118: completes by its success policy",
		func(ctx SpecContext, operator jobset.Operator, targets []string, before, last []string) {
			w := newWorld(ctx)
			js := AB()
			js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: operator, TargetReplicatedJobs: targets}
			js = w.Create(js)
			jobs := map[string]*batchv1.Job{}
			for _, job := range w.HasJobs(js, 4) {
				jobs[job.Name] = job
			}
			for _, name := range before {
				w.JobController.Completes(jobs[name])
			}
			if len(before) > 0 {
				w.HasNo(js, jobset.JobSetCompleted)
			}
			for _, name := range last {
				w.JobController.Completes(jobs[name])
			}
			w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
		},
		Entry("all of all", jobset.OperatorAll, nil, []string{"js-a-0", "js-b-0", "js-b-1"}, []string{"js-b-2"}),
		Entry("all of b", jobset.OperatorAll, []string{"b"}, []string{"js-a-0", "js-b-0", "js-b-2"}, []string{"js-b-1"}),
		Entry("any of b", jobset.OperatorAny, []string{"b"}, []string{"js-a-0"}, []string{"js-b-1"}),
		Entry("any of all", jobset.OperatorAny, nil, nil, []string{"js-a-0"}),
	)

	It("C363: that completed by Any stops the other Jobs in the foreground and keeps the completed one", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAny}
		js = w.Create(js)
		jobs := w.HasJobs(js, 4)

		w.JobController.Completes(jobs[1])

		w.Finishes(js, jobset.JobSetCompleted, "")
		for _, job := range w.Deleting(js, 3) {
			Expect(job.Finalizers).To(ContainElement(metav1.FinalizerDeleteDependents))
		}
		Expect(Now(w, jobs[1]).DeletionTimestamp).To(BeNil())
		w.JobController.CollectsAll(js, 3)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 1}, jobset.ReplicatedJobStatus{})
	})

	It("C363 C122: without a failure policy fails with the first Job, and keeps that one", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		jobs := w.HasJobs(js, 4)

		w.JobController.Fails(jobs[2], "BackoffLimitExceeded", "")

		w.Finishes(js, jobset.JobSetFailed, "FailedJobs")
		w.TellsUser(js, corev1.EventTypeWarning, "FailedJobs", "(first failed job: js-b-1)")
		w.Deleting(js, 3)
		Expect(Now(w, jobs[2]).DeletionTimestamp).To(BeNil())
	})

	It("C366: of another controller gets no Jobs, and its status is left alone", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.ManagedBy, js.Spec.Suspend = ptr.To("example.com/other"), ptr.To(true)
		js = w.Create(js)
		js.Status.Restarts = 7
		Expect(w.Client.Status().Update(ctx, js)).To(Succeed())

		w.Resume(js)

		w.StaysUntouched(js)
		Expect(w.AllJobs(js)).To(BeEmpty())
		w.HasCounted(js, Counters{Restarts: 7})
	})

	It("C18: that is being deleted is left alone", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Finalizers = []string{"example.com/hold"}
		js = w.Create(js)
		jobs := w.HasJobs(js, 4)
		Expect(w.Client.Delete(ctx, js)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { w.Context = ctx; Change(w, js, func(js *jobset.JobSet) { js.Finalizers = nil }) })

		w.JobController.Fails(jobs[0], "BackoffLimitExceeded", "")

		w.StaysUntouched(js)
		w.HasNo(js, jobset.JobSetFailed)
		Expect(w.Jobs(js)).To(HaveLen(4))
	})

	It("C314: says so while Jobs of an earlier JobSet have its names, and gets its own when they are gone", func(ctx SpecContext) {
		w := newWorld(ctx)
		earlier := w.Create(AB())
		leftovers := w.HasJobs(earlier, 4)
		Expect(w.Client.Delete(ctx, earlier)).To(Succeed())

		js := w.Create(AB())
		w.TellsUser(js, corev1.EventTypeWarning, "JobCreationFailed", "already exists")
		for _, job := range leftovers {
			Expect(w.Client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		}

		w.HasJobs(js, 4)
	})

	It("C314: takes no offence at a Job of its own that the cache does not show yet", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		jobs := w.HasJobs(js, 4)

		w.StartManager(WhoseJobCacheLacks("js-a-0"))
		w.JobController.Completes(jobs[1])

		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 1}, jobset.ReplicatedJobStatus{})
		Expect(w.Events(js, "JobCreationFailed")).To(BeEmpty())
	})

	It("C367: is deleted in the foreground when its time to live is over, and only then", func(ctx SpecContext) {
		w := newWorld(ctx)
		mortal, eternal := AB(), AB()
		eternal.Name, mortal.Spec.TTLSecondsAfterFinished = "eternal", ptr.To[int32](2)
		mortal, eternal = w.Create(mortal), w.Create(eternal)
		for _, js := range []*jobset.JobSet{mortal, eternal} {
			w.JobController.Fails(w.HasJobs(js, 4)[0], "BackoffLimitExceeded", "")
			w.Finishes(js, jobset.JobSetFailed, "")
		}
		ended := w.Has(mortal, jobset.JobSetFailed, metav1.ConditionTrue, "").LastTransitionTime

		Eventually(func() *metav1.Time { return Now(w, mortal).DeletionTimestamp }).ShouldNot(BeNil())
		Expect(Now(w, mortal).DeletionTimestamp.Sub(ended.Time)).To(BeNumerically(">=", 2*time.Second))
		Expect(Now(w, mortal).Finalizers).To(ContainElement(metav1.FinalizerDeleteDependents))
		Expect(Now(w, eternal).DeletionTimestamp).To(BeNil())
	})

	It("C370: tells once, in a series that grows, that its Jobs cannot be created", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		PodTemplate(js, 0).Spec.Containers[0].Image = ""
		js = w.Create(js)

		var told []eventsv1.Event
		Eventually(func(g Gomega) {
			told = w.Events(js, "JobCreationFailed")
			g.Expect(told).To(HaveLen(1))
			g.Expect(told[0].Series).NotTo(BeNil())
			g.Expect(told[0].Series.Count).To(BeNumerically(">", 1))
		}).Should(Succeed())
		Expect(told[0].Type).To(Equal(corev1.EventTypeWarning))
		Expect(told[0].ReportingController).To(Equal("jobset"))
		Expect(told[0].Note).To(ContainSubstring(`job "js-a-0" creation failed with error`))
	})
})

var _ = Describe("The headless Service", func() {
	service := func(w *World, name string) func() error {
		return func() error {
			return w.Client.Get(w.Context, client.ObjectKey{Namespace: w.Namespace, Name: name}, &corev1.Service{})
		}
	}

	It("C368: is recreated when somebody deletes it", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		Eventually(service(w, "js")).Should(Succeed())
		first := Now(w, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "js"}})
		Expect(metav1.IsControlledBy(first, js)).To(BeTrue())
		Expect(first.Spec.ClusterIP).To(Equal(corev1.ClusterIPNone))
		Expect(first.Spec.PublishNotReadyAddresses).To(BeTrue())
		Expect(first.Spec.Selector).To(Equal(map[string]string{jobset.JobSetNameKey: "js"}))

		Expect(w.Client.Delete(ctx, first)).To(Succeed())

		Eventually(func(g Gomega) {
			g.Expect(service(w, "js")()).To(Succeed())
			g.Expect(Now(w, first).UID).NotTo(Equal(first.UID))
		}).Should(Succeed())
	})

	It("C368: of a JobSet with generateName is named as the JobSet came to be", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Name, js.GenerateName = "", "generated-"
		js = w.Create(js)

		Expect(js.Name).To(HavePrefix("generated-"))
		Eventually(service(w, js.Name)).Should(Succeed())
		Expect(w.HasJobs(js, 4)[0].Spec.Template.Spec.Subdomain).To(Equal(js.Name))
	})

	It("C94: of somebody else under that name is left alone", func(ctx SpecContext) {
		w := newWorld(ctx)
		theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "shared"},
			Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"theirs": "yes"}}}
		Expect(w.Client.Create(ctx, theirs)).To(Succeed())
		js := AB()
		js.Spec.Network = &jobset.Network{Subdomain: "shared"}
		js = w.Create(js)

		w.HasJobs(js, 4)

		Expect(Now(w, theirs).Spec.Selector).To(Equal(map[string]string{"theirs": "yes"}))
		Expect(Now(w, theirs).OwnerReferences).To(BeEmpty())
	})

	It("C91: is not made without DNS host names", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(false)}
		js = w.Create(js)

		Expect(w.HasJobs(js, 4)[0].Spec.Template.Spec.Subdomain).To(BeEmpty())
		var services corev1.ServiceList
		Expect(w.Client.List(ctx, &services, client.InNamespace(w.Namespace))).To(Succeed())
		Expect(services.Items).To(BeEmpty())
	})
})
