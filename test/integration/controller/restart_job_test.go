/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

const (
	attemptKey    = "jobset.sigs.k8s.io/restart-attempt"
	jobAttemptKey = "jobset.sigs.k8s.io/job-restart-attempt"
	exceeded      = "BackoffLimitExceeded"
)

// restartsJobs is a manager with gate RestartJob.
func restartsJobs() ManagerOption { return WithGates(gates.Set{RestartJob: true}) }

// alone is AB with a failure policy that restarts failed Jobs alone.
func alone(action jobset.FailurePolicyAction, maxRestarts int32) *jobset.JobSet {
	return with(AB(), jobset.FailurePolicy{MaxRestarts: maxRestarts, Rules: []jobset.FailurePolicyRule{{Name: "alone", Action: action}}})
}

// jobRestarts are the counters of one ReplicatedJob.
type jobRestarts struct{ All, Counted []int32 }

func jobRestartsOf(js *jobset.JobSet, name string) jobRestarts {
	for _, status := range js.Status.ReplicatedJobsStatus {
		if status.Name == name {
			return jobRestarts{status.JobRestarts, status.JobRestartsCountTowardsMax}
		}
	}
	return jobRestarts{}
}

// countsRestarts waits until the Jobs of a ReplicatedJob have been restarted alone this often.
func countsRestarts(w *World, js *jobset.JobSet, name string, wanted jobRestarts) {
	GinkgoHelper()
	Eventually(func() jobRestarts { return jobRestartsOf(Now(w, js), name) }).Should(Equal(wanted))
}

// restartsAlone fails a Job, lets the old one go, and waits for a new one.
func restartsAlone(w *World, js *jobset.JobSet, name string, index int) {
	GinkgoHelper()
	old := w.Job(js, name, index)
	w.JobController.Fails(old, exceeded, "")
	w.JobController.Collects(old)
	Eventually(func() error {
		return w.Client.Get(w.Context, client.ObjectKeyFromObject(old), &batchv1.Job{})
	}).Should(Succeed())
}

func applying(action jobset.FailurePolicyAction, job string) string {
	return "applying " + string(action) + " failure policy action (first failed job: " + job + ")"
}

var _ = Describe("The restart of a single Job", func() {
	It("C72 C99 C133 C136 C206 C319 C361 O82 O294: replaces that Job and no other, and shows in its counters", func(ctx SpecContext) {
		w := newWorld(ctx, restartsJobs())
		js, jobs := w.CreateWithJobs(alone(jobset.RestartJob, 3))
		before := uids(jobs)
		for _, job := range jobs {
			keys := And(HaveKeyWithValue(attemptKey, "0"), HaveKeyWithValue(jobAttemptKey, "0"))
			Expect(job.Labels).To(keys)
			Expect(job.Annotations).To(keys)
			Expect(job.Spec.Template.Labels).To(keys)
			Expect(job.Spec.Template.Annotations).To(keys)
		}
		w.JobController.Readies(jobs...)

		w.JobController.Fails(jobs[2], exceeded, "")

		deleting := w.Deleting(js, 1)
		Expect(names(deleting)).To(Equal([]string{"js-b-1"}))
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 2, Ready: 2, JobRestarts: []int32{0, 1, 0}, JobRestartsCountTowardsMax: []int32{0, 1, 0}},
			jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		w.JobController.Collects(deleting...)
		jobs = w.HasJobs(js, 4)
		Expect(label(jobs, jobAttemptKey)).To(Equal(map[string]string{"js-a-0": "0", "js-b-0": "0", "js-b-1": "1", "js-b-2": "0"}))
		Expect(label(jobs, attemptKey)).To(Equal(map[string]string{"js-a-0": "0", "js-b-0": "0", "js-b-1": "0", "js-b-2": "0"}))
		after := uids(jobs)
		Expect(after["js-b-1"]).NotTo(Equal(before["js-b-1"]))
		delete(before, "js-b-1")
		delete(after, "js-b-1")
		Expect(after).To(Equal(before))

		w.JobController.Completes(jobs...)
		w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
		w.HasConditions(js, isCompleted)
		w.HasEvents(js, Warning("RestartJobFailurePolicyAction", applying(jobset.RestartJob, "js-b-1")), eventComplete)
		w.HasCounted(js, Counters{})
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Succeeded: 3, JobRestarts: []int32{0, 1, 0}, JobRestartsCountTowardsMax: []int32{0, 1, 0}},
			jobset.ReplicatedJobStatus{Succeeded: 1})
	})

	It("C134 C207 C361 O295: that ignores maxRestarts has no limit and no second list", func(ctx SpecContext) {
		w := newWorld(ctx, restartsJobs())
		js := w.Create(alone(jobset.RestartJobAndIgnoreMaxRestarts, 0))
		w.HasJobs(js, 4)

		for range 3 {
			restartsAlone(w, js, "a", 0)
		}

		countsRestarts(w, js, "a", jobRestarts{All: []int32{3}})
		told := Warning("RestartJobAndIgnoreMaxRestartsFailurePolicyAction", applying(jobset.RestartJobAndIgnoreMaxRestarts, "js-a-0"))
		w.HasEvents(js, told, told, told)
		Expect(w.Conditions(js)).To(BeEmpty())
		w.HasCounted(js, Counters{})
	})

	It("C133 C202: draws on one budget for all Jobs, and fails the JobSet when it is spent", func(ctx SpecContext) {
		w := newWorld(ctx, restartsJobs())
		js := w.Create(alone(jobset.RestartJob, 2))
		w.HasJobs(js, 4)
		restartsAlone(w, js, "b", 1)
		restartsAlone(w, js, "a", 0)

		w.JobController.Fails(w.Job(js, "b", 2), exceeded, "")

		const message = "jobset failed due to reaching max number of restarts (first failed job: js-b-2)"
		w.HasConditions(js, True(jobset.JobSetFailed, "ReachedMaxRestarts", message))
		w.HasEvents(js, Warning("RestartJobFailurePolicyAction", applying(jobset.RestartJob, "js-b-1")),
			Warning("RestartJobFailurePolicyAction", applying(jobset.RestartJob, "js-a-0")), Warning("ReachedMaxRestarts", message))
		countsRestarts(w, js, "a", jobRestarts{[]int32{1}, []int32{1}})
		countsRestarts(w, js, "b", jobRestarts{[]int32{0, 1, 0}, []int32{0, 1, 0}})
	})

	It("C131 C142: shares its budget with restarts of the whole JobSet, which keep its counters", func(ctx SpecContext) {
		w := newWorld(ctx, restartsJobs())
		js := with(AB(), jobset.FailurePolicy{MaxRestarts: 2, Rules: []jobset.FailurePolicyRule{
			{Name: "alone", Action: jobset.RestartJob, TargetReplicatedJobs: []string{"a"}},
		}})
		js = w.Create(js)
		w.HasJobs(js, 4)
		restartsAlone(w, js, "a", 0)

		w.JobController.Fails(w.Job(js, "b", 0), exceeded, "")
		w.Counts(js, Counters{Restarts: 1, CountTowardsMax: 1})
		w.JobController.CollectsAll(js, 4)
		jobs := w.HasJobs(js, 4)

		Expect(label(jobs, attemptKey)).To(Equal(map[string]string{"js-a-0": "1", "js-b-0": "1", "js-b-1": "1", "js-b-2": "1"}))
		Expect(label(jobs, jobAttemptKey)).To(Equal(map[string]string{"js-a-0": "1", "js-b-0": "0", "js-b-1": "0", "js-b-2": "0"}))
		countsRestarts(w, js, "a", jobRestarts{[]int32{1}, []int32{1}})
		w.JobController.Fails(jobs[1], exceeded, "")
		w.Finishes(js, jobset.JobSetFailed, "ReachedMaxRestarts")
		w.HasCounted(js, Counters{Restarts: 1, CountTowardsMax: 1})
	})

	It("C128 C143 C332: of two that failed at the same time goes by name, one in each pass", func(ctx SpecContext) {
		w := newWorld(ctx, restartsJobs())
		js, jobs := w.CreateWithJobs(alone(jobset.RestartJob, 5))
		w.Manager.Stop()
		at := metav1.Now()
		w.JobController.FailsAt(jobs[3], at, exceeded, "")
		w.JobController.FailsAt(jobs[1], at, exceeded, "")

		w.StartManager(restartsJobs())

		countsRestarts(w, js, "b", jobRestarts{[]int32{1, 0, 1}, []int32{1, 0, 1}})
		var written []jobRestarts
		for _, write := range w.Manager.Made(AJobSetStatus()) {
			restarts := jobRestartsOf(write.Object.(*jobset.JobSet), "b")
			if len(written) == 0 || len(restarts.All) > 0 && written[len(written)-1].All[2] != restarts.All[2] {
				written = append(written, restarts)
			}
		}
		Expect(written).To(Equal([]jobRestarts{{[]int32{1, 0, 0}, []int32{1, 0, 0}}, {[]int32{1, 0, 1}, []int32{1, 0, 1}}}))
		w.JobController.CollectsAll(js, 2)
		Expect(label(w.HasJobs(js, 4), jobAttemptKey)).To(Equal(map[string]string{"js-a-0": "0", "js-b-0": "1", "js-b-1": "0", "js-b-2": "1"}))
		w.HasEvents(js, Warning("RestartJobFailurePolicyAction", applying(jobset.RestartJob, "js-b-0")),
			Warning("RestartJobFailurePolicyAction", applying(jobset.RestartJob, "js-b-2")))
	})

	It("C146: is charged once although the manager stopped before its effect, and its first write was refused", func(ctx SpecContext) {
		w := newWorld(ctx, restartsJobs())
		js, jobs := w.CreateWithJobs(alone(jobset.RestartJob, 5))
		restarted := AJobSetStatus(func(s *jobset.JobSetStatus) bool {
			return len(jobRestartsOf(&jobset.JobSet{Status: *s}, "a").All) > 0
		})
		w.Manager.RefuseOnce(restarted)
		w.Manager.CrashAfter(restarted)
		w.JobController.Fails(jobs[0], exceeded, "")
		w.Manager.WaitForCrash()

		w.StartManager(restartsJobs())
		w.JobController.CollectsAll(js, 1)

		Expect(label(w.HasJobs(js, 4), jobAttemptKey)).To(HaveKeyWithValue("js-a-0", "1"))
		countsRestarts(w, js, "a", jobRestarts{[]int32{1}, []int32{1}})
	})

	It("C97 C327: finds its Job although somebody removed the labels", func(ctx SpecContext) {
		w := newWorld(ctx, restartsJobs())
		js, jobs := w.CreateWithJobs(alone(jobset.RestartJob, 5))
		// One must stay: the API server gives a Job without labels those of its Pods.
		Change(w, jobs[2], func(job *batchv1.Job) { job.Labels = map[string]string{"kept": "by-somebody"} })

		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		w.JobController.Fails(jobs[2], exceeded, "")

		countsRestarts(w, js, "b", jobRestarts{[]int32{0, 1, 0}, []int32{0, 1, 0}})
		Expect(names(w.Deleting(js, 1))).To(Equal([]string{"js-b-1"}))
		w.HasEvents(js, Warning("RestartJobFailurePolicyAction", applying(jobset.RestartJob, "js-b-1")))
	})
})

var _ = Describe("The feature gate RestartJob", func() {
	It("C99 C328: coming on, counts Jobs that know nothing of it as never restarted", func(ctx SpecContext) {
		w := newWorld(ctx, WithGates(gates.Set{}))
		js := w.Create(alone(jobset.RestartJob, 5))
		for _, job := range w.HasJobs(js, 4) {
			Expect(job.Labels).NotTo(HaveKey(jobAttemptKey))
		}
		w.StartManager(restartsJobs())

		restartsAlone(w, js, "a", 0)

		jobs := w.HasJobs(js, 4)
		Expect(label(jobs, jobAttemptKey)).To(Equal(map[string]string{"js-a-0": "1", "js-b-0": "", "js-b-1": "", "js-b-2": ""}))
		w.JobController.Readies(jobs...)
		w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3},
			jobset.ReplicatedJobStatus{Active: 1, Ready: 1, JobRestarts: []int32{1}, JobRestartsCountTowardsMax: []int32{1}})
		Expect(uids(w.Jobs(js))).To(Equal(uids(jobs)))
		w.HasEvents(js, Warning("RestartJobFailurePolicyAction", applying(jobset.RestartJob, "js-a-0")))
	})

	DescribeTable("C29 C111 C135 C329: going off, restarts the whole JobSet instead and keeps what was counted,",
		func(ctx SpecContext, action, instead jobset.FailurePolicyAction, event string, counted []int32, counters Counters) {
			w := newWorld(ctx, restartsJobs())
			js := w.Create(alone(action, 5))
			w.HasJobs(js, 4)
			restartsAlone(w, js, "a", 0)
			w.TellsUser(js, "Warning", string(action)+"FailurePolicyAction", "") // its events are gone with a manager

			w.StartManager(WithGates(gates.Set{}))
			w.JobController.Readies(w.Jobs(js)...)
			ofA := jobset.ReplicatedJobStatus{Active: 1, Ready: 1, JobRestarts: []int32{1}, JobRestartsCountTowardsMax: counted}
			w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, ofA)
			w.JobController.Fails(w.Job(js, "b", 2), exceeded, "")
			w.Counts(js, counters)
			w.HasConditions(js, True(jobset.JobSetRestarting, "FailurePolicy_alone", applying(instead, "js-b-2")))
			w.HasEvents(js, Warning(string(action)+"FailurePolicyAction", applying(action, "js-a-0")),
				Warning("FailurePolicy_alone", applying(instead, "js-b-2")), Warning(event, applying(instead, "js-b-2")))
			w.JobController.CollectsAll(js, 4)

			jobs := w.HasJobs(js, 4)
			Expect(attempts(w, js)).To(Equal(map[string]int{"1": 4}))
			countsRestarts(w, js, "a", jobRestarts{[]int32{1}, counted})
			w.StartManager(restartsJobs())
			w.JobController.Readies(jobs...)
			w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, ofA)
			Expect(uids(w.Jobs(js))).To(Equal(uids(jobs)), "the gate is back, and no Job is taken for an old one")
		},
		Entry("RestartJob", jobset.RestartJob, jobset.RestartJobSet, "RestartJobSetFailurePolicyAction",
			[]int32{1}, Counters{Restarts: 1, CountTowardsMax: 1}),
		Entry("RestartJobAndIgnoreMaxRestarts", jobset.RestartJobAndIgnoreMaxRestarts, jobset.RestartJobSetAndIgnoreMaxRestarts,
			"RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction", nil, Counters{Restarts: 1}),
	)

	DescribeTable("C132 C204 C205 C208 C356 C361: changes nothing about restarts of the whole JobSet,",
		func(ctx SpecContext, restartJob bool, action jobset.FailurePolicyAction, counted int32) {
			w := newWorld(ctx, WithGates(gates.Set{RestartJob: restartJob}))
			js := w.Create(alone(action, counted))
			var told []Event

			for restart := range int32(3) {
				if counted > 0 && restart == counted {
					break
				}
				w.JobController.Fails(w.HasJobs(js, 4)[0], exceeded, "")
				w.Counts(js, Counters{Restarts: restart + 1, CountTowardsMax: min(restart+1, counted)})
				w.JobController.CollectsAll(js, 4)
				w.JobController.Readies(w.HasJobs(js, 4)...)
				w.HasConditions(js, isRestarted)
				told = append(told, Warning("FailurePolicy_alone", applying(action, "js-a-0")),
					Warning(string(action)+"FailurePolicyAction", applying(action, "js-a-0")), eventReady)
			}

			w.HasEvents(js, told...)
			w.CountsJobs(js, jobset.ReplicatedJobStatus{Active: 3, Ready: 3}, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})
		},
		Entry("O291: off and counted", false, jobset.RestartJobSet, int32(1)),
		Entry("O293: on and counted", true, jobset.RestartJobSet, int32(1)),
		Entry("O298: off and not counted", false, jobset.RestartJobSetAndIgnoreMaxRestarts, int32(0)),
		Entry("O299: on and not counted", true, jobset.RestartJobSetAndIgnoreMaxRestarts, int32(0)),
	)
})
