/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// queue plays Kueue for one JobSet with faultTolerance. Kueue reads the conditions Completed and Failed, spec.suspend, and
// whether a ReplicatedJob has active Jobs: when none has, it takes back the quota of a JobSet that it suspended. Other
// queues read the condition ResourcesDeployed. Both must agree.
type queue struct {
	*World
	js *jobset.JobSet
}

// admits the JobSet to a pool, and waits until all its Jobs may run there.
func (q queue) admits(pool string) []*batchv1.Job {
	GinkgoHelper()
	Change(q.World, q.js, func(js *jobset.JobSet) { assign(js, pool) })
	q.Has(q.js, jobset.JobSetResourcesDeployed, metav1.ConditionTrue, "ResourcesInUse")
	q.Has(q.js, jobset.JobSetSuspended, metav1.ConditionFalse, "ResumeJobs")
	sleeps(q.World, q.js)
	jobs := q.HasJobs(q.js, 4)
	for _, job := range jobs {
		Expect(job.Spec.Template.Spec.NodeSelector).To(Equal(map[string]string{"pool": pool}), "Job %s", job.Name)
		Expect(job.Spec.Template.Labels).To(HaveKey("kueue.x-k8s.io/podset"), "Job %s", job.Name)
	}
	return jobs
}

// preempts the JobSet.
func (q queue) preempts() {
	GinkgoHelper()
	Change(q.World, q.js, evict)
	q.Has(q.js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
}

// keepsQuota claims that the quota may not be given away yet.
func (q queue) keepsQuota() {
	GinkgoHelper()
	q.Settles(q.js)
	q.Has(q.js, jobset.JobSetResourcesDeployed, metav1.ConditionTrue, "ResourcesInUse")
	if Now(q.World, q.js).Spec.Suspend != nil && *Now(q.World, q.js).Spec.Suspend {
		Expect(q.active()).To(BeTrue(), "Kueue sees a JobSet that is not active, and gives its quota away")
	}
}

// active reports what Kueue takes for a JobSet that uses its quota.
func (q queue) active() bool {
	return slices.ContainsFunc(Now(q.World, q.js).Status.ReplicatedJobsStatus, func(r jobset.ReplicatedJobStatus) bool { return r.Active > 0 })
}

// getsQuota waits until it may, and claims that no Pod runs.
func (q queue) getsQuota() {
	GinkgoHelper()
	q.Has(q.js, jobset.JobSetResourcesDeployed, metav1.ConditionFalse, "ResourcesReleased")
	Expect(q.active()).To(BeFalse(), "Kueue waits for active Jobs")
	for _, job := range q.AllJobs(q.js) {
		running := slices.DeleteFunc(q.Pods(job), func(pod *corev1.Pod) bool { return pod.Status.Phase != corev1.PodRunning })
		Expect(running).To(BeEmpty(), "Pods of Job %s", job.Name)
	}
}

// fails a Job, and lets the Jobs go that are deleted for it.
func (q queue) fails(job *batchv1.Job) {
	GinkgoHelper()
	q.JobController.Fails(job, exceeded, "")
	q.Has(q.js, jobset.JobSetRestarting, metav1.ConditionTrue, "DefaultFailurePolicy")
	q.JobController.CollectsAll(q.js, 4)
}

var _ = Describe("A JobSet with faultTolerance in a queue", func() {
	const anHour = 3600

	DescribeTable("P84 P86 P129a: holds its quota while Pods live and while it pauses, and loses neither charge nor time when it is preempted",
		func(ctx SpecContext, shape func() *jobset.JobSet) {
			w := newWorld(ctx, tolerates())
			q := queue{w, w.Create(suspended(tolerant(shape(), anHour)))}
			w.HasJobs(q.js, 4)
			w.Has(q.js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
			w.HasNo(q.js, jobset.JobSetResourcesDeployed)

			By("admission")
			jobs := q.admits("gold")
			pods := w.JobController.MakesPods(jobs...)
			w.JobController.Starts(jobs...)

			By("preemption while it runs")
			q.preempts()
			last := pods[3]
			w.Kubelet.Removes(pods[:3]...)
			q.keepsQuota()
			Expect(Now(w, last).Status.Phase).To(Equal(corev1.PodRunning))
			w.JobController.Suspends(w.Jobs(q.js)...)
			q.getsQuota()

			By("preemption in the pause after a reset")
			q.fails(q.admits("silver")[0])
			gone(w, q.js)
			q.keepsQuota()
			Expect(w.AllJobs(q.js)).To(BeEmpty())
			q.preempts()
			w.HasJobs(q.js, 4)
			sleeps(w, q.js, "js-a-0", "js-b-0", "js-b-1", "js-b-2")
			q.getsQuota()

			By("the next admission, which waits for no pause")
			jobs = q.admits("bronze")
			Expect(attempts(w, q.js)).To(Equal(map[string]int{"1": 4}))
			w.HasCounted(q.js, Counters{Restarts: 1, CountTowardsMax: 1})

			By("completion")
			w.JobController.Completes(jobs...)
			w.Finishes(q.js, jobset.JobSetCompleted, "")
			q.getsQuota()
			w.HasCounted(q.js, Counters{Restarts: 1, CountTowardsMax: 1})
		},
		Entry("without a failure policy", AB),
		Entry("with strategy Recreate", func() *jobset.JobSet { return with(AB(), jobset.FailurePolicy{MaxRestarts: 2}) }),
		Entry("with strategy BlockingRecreate", func() *jobset.JobSet {
			return with(AB(), jobset.FailurePolicy{MaxRestarts: 2, RestartStrategy: jobset.BlockingRecreate})
		}),
		Entry("with strategy InPlaceRestart", func() *jobset.JobSet { return InPlace(AB(), 2) }),
	)

	It("P86: says that it uses resources before any Job may run, at each admission", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		q := queue{w, w.Create(suspended(tolerant(AB(), anHour)))}
		w.HasJobs(q.js, 4)
		q.admits("gold")
		q.preempts()
		w.JobController.Suspends(w.Jobs(q.js)...)
		q.getsQuota()
		q.admits("gold")

		var order []string
		for _, write := range w.Manager.Made(AnyWrite) {
			switch object := write.Object.(type) {
			case *jobset.JobSet:
				for _, c := range object.Status.Conditions {
					if c.Type == string(jobset.JobSetResourcesDeployed) {
						order = append(order, "deployed "+string(c.Status))
					}
				}
			case *batchv1.Job:
				if write.Verb == "patch" && !write.Status && object.Spec.Suspend != nil && !*object.Spec.Suspend {
					order = append(order, "resume")
				}
			}
		}
		Expect(slices.Compact(order)).To(Equal([]string{"deployed True", "resume", "deployed True", "deployed False", "deployed True", "resume", "deployed True"}))
	})

	It("P82 P84 P86 P129a: is preempted while the Jobs of a reset still go, and keeps its quota until they are gone", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		q := queue{w, w.Create(suspended(tolerant(AB(), anHour)))}
		w.HasJobs(q.js, 4)
		jobs := q.admits("gold")
		pods := w.JobController.MakesPods(jobs...)
		w.JobController.Fails(jobs[0], exceeded, "")
		deleting := w.Deleting(q.js, 4)
		q.preempts()
		w.JobController.Collects(deleting[:3]...)
		q.keepsQuota()
		Expect(Now(w, pods[3]).Status.Phase).To(Equal(corev1.PodRunning))
		w.JobController.Collects(deleting[3])
		w.HasJobs(q.js, 4)
		q.getsQuota()
		w.HasCounted(q.js, Counters{Restarts: 1, CountTowardsMax: 1})
	})

	It("P86 P87 P129a: fails, and counts as active while its Pods are kept for debugging, which Kueue does not wait for", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := suspended(tolerant(AB(), anHour))
		js.Spec.FaultTolerance.RetryLimit, js.Spec.FaultTolerance.DeletionOnFailureGracePeriodSeconds = ptr.To[int32](0), ptr.To[int32](anHour)
		q := queue{w, w.Create(js)}
		w.HasJobs(q.js, 4)
		jobs := q.admits("gold")
		pods := w.JobController.MakesPods(jobs...)
		w.JobController.Starts(jobs...)
		w.Kubelet.Removes(pods[0])
		w.JobController.Fails(jobs[0], exceeded, "")
		w.Has(q.js, jobset.JobSetFailed, metav1.ConditionTrue, "ReachedMaxRestarts") // Kueue gives its quota away
		q.keepsQuota()
		Expect(q.active()).To(BeTrue(), "Pods are kept")

		By("ending the time for debugging")
		Change(w, q.js, func(js *jobset.JobSet) { js.Spec.FaultTolerance.DeletionOnFailureGracePeriodSeconds = ptr.To[int32](0) })
		w.JobController.CollectsAll(q.js, 3)
		q.getsQuota()
	})

	It("P80: has no Pods to wait for while it is suspended, and its time again when it is admitted again", func(ctx SpecContext) {
		w := newWorld(ctx, tolerates())
		js := suspended(tolerant(AB(), anHour))
		f := js.Spec.FaultTolerance
		f.AdmissionGracePeriodSeconds, f.FailureGracePeriodSeconds = ptr.To[int32](1), ptr.To[int32](anHour)
		q := queue{w, w.Create(js)}
		w.HasJobs(q.js, 4)
		w.JobController.Starts(q.admits("gold")...)
		w.Has(q.js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsMissing")

		q.preempts()
		w.Has(q.js, jobset.JobSetUnhealthy, metav1.ConditionFalse, "NotWatched")
		w.JobController.Suspends(w.Jobs(q.js)...)
		q.getsQuota()
		first := w.Job(q.js, "a", 0).Status.StartTime

		jobs := q.admits("silver")
		Expect(w.Job(q.js, "a", 0).Status.StartTime).To(BeNil(), "the start of the first admission, %s, counts no more", first)
		w.JobController.Starts(jobs...)
		w.Has(q.js, jobset.JobSetUnhealthy, metav1.ConditionTrue, "PodsMissing")
		w.HasCounted(q.js, Counters{})
	})
})
