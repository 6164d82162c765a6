/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("A JobSet that has finished", func() {
	It("C173 C174 C367 O332: is deleted in the foreground when its time to live is over, and only then", func(ctx SpecContext) {
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
		Expect(w.Deleting(mortal, 3)).To(HaveLen(3))
		Expect(Now(w, eternal).DeletionTimestamp).To(BeNil())
	})

	It("C172 C174: lives from its end, not from when a manager came to look", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.TTLSecondsAfterFinished = ptr.To[int32](3600)
		js = w.Create(js)
		w.JobController.Completes(w.HasJobs(js, 4)...)
		w.HasConditions(js, isCompleted)
		w.StartManager()
		w.Settles(js)
		Expect(Now(w, js).DeletionTimestamp).To(BeNil())
		w.Manager.Stop()
		longAgo := Now(w, js)
		longAgo.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(-time.Hour))
		Expect(w.Client.Status().Update(ctx, longAgo)).To(Succeed())

		w.StartManager()

		Eventually(func() *metav1.Time { return Now(w, js).DeletionTimestamp }).ShouldNot(BeNil())
	})

	It("C175 C217 C338: with a time of zero is told to have completed, then deleted, and not written to again", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.TTLSecondsAfterFinished = ptr.To[int32](0)
		js = w.Create(js)

		w.JobController.Completes(w.HasJobs(js, 4)...)

		Eventually(func() *metav1.Time { return Now(w, js).DeletionTimestamp }).ShouldNot(BeNil())
		w.HasConditions(js, isCompleted)
		w.HasEvents(js, eventComplete)
		var last string
		for _, write := range w.Manager.Made(AnyWrite) {
			last = write.String()
		}
		Expect(last).To(Equal("delete JobSet"))
	})

	It("C38 C105 C115 C337: loses the Jobs of every attempt that have not ended, and counts those that stay", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := with(AB(), jobset.FailurePolicy{MaxRestarts: 1})
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAny, TargetReplicatedJobs: []string{"a"}}
		js = w.Create(js)
		w.JobController.Fails(w.HasJobs(js, 4)[1], exceeded, "")
		old := w.Deleting(js, 4)
		w.JobController.Collects(old[:3]...)
		w.JobController.Completes(w.HasJobs(js, 3)[0])

		w.Finishes(js, jobset.JobSetCompleted, "")
		deleting := w.Deleting(js, 3)
		Expect(label(deleting, attemptKey)).To(Equal(map[string]string{"js-b-0": "1", "js-b-1": "1", "js-b-2": "0"}))
		w.JobController.Collects(deleting...)
		hasOnly(w, js, "js-a-0")
		w.CountsJobs(js, jobset.ReplicatedJobStatus{}, jobset.ReplicatedJobStatus{Succeeded: 1})
	})
})
