/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("A group restart", func() {
	It("P13: lifts the first time when the last worker reports, and says nothing of a restart", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.HeldGroup(Training(3, 10))

		w.Agents.Report(1, pods[:2]...)
		w.StaysAt(train, 0, 0)
		w.Agents.Report(1, pods[2])

		w.Reaches(train, 0, 1)
		w.HasCounted(train, Counters{})
		w.HasNo(train, jobset.JobSetRestarting)
		w.Records(train, 0, "InPlaceRestartCompleted")
	})

	It("P14 P15: breaks when one worker of the running group reports the next epoch", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(3, 10))

		w.Agents.Report(2, pods[1])

		w.Reaches(train, 1, 1)
		w.HasCounted(train, Counters{InPlace: 1})
		restarting := w.Has(train, jobset.JobSetRestarting, metav1.ConditionTrue, "InPlaceRestart")
		Expect(restarting.Message).To(ContainSubstring(pods[1].Name))
		told := w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", pods[1].Name)
		Expect(told.Note).To(ContainSubstring("epoch 1"))
		Expect(told.Action).To(Equal("Reconciling"))
	})

	It("P13 P22 C303: waits until all are back, then lifts and tells how long it took", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(3, 10))
		w.Agents.Report(2, pods[0])
		w.Reaches(train, 1, 1)

		w.Agents.Report(2, pods[1])
		w.StaysUntouched(train)
		w.Agents.Report(2, pods[2])

		w.Reaches(train, 1, 2)
		w.Has(train, jobset.JobSetRestarting, metav1.ConditionFalse, "WorkersSynced")
		told := w.TellsUser(train, corev1.EventTypeNormal, "InPlaceRestartCompleted", "epoch 2")
		Expect(told.Note).To(MatchRegexp(`3 workers .*\d+\.\d seconds`))
		w.HasCounted(train, Counters{InPlace: 1})
		Expect(w.Manager.EpochWrites(train.Name)).To(HaveLen(3), "first lift, break, lift")
	})

	It("P14: names the worker that failed first and its exit code, as the kubelet shows it for a moment", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))

		w.Kubelet.RestartsInPlace(pods[1], 42)
		w.StaysAt(train, 0, 1)
		w.Agents.Report(2, pods[1])

		w.Reaches(train, 1, 1)
		told := w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "code 42")
		Expect(told.Note).To(And(ContainSubstring(pods[1].Name), ContainSubstring("container worker"), ContainSubstring("node-1")))
	})

	It("P21: tells no old cause of a new restart: what it has not seen, it calls unknown", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		w.Kubelet.RestartsInPlace(pods[0], 42)
		w.GroupRestarts(train, 1, pods)
		w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "code 42")

		w.Agents.Report(3, pods[1])

		told := w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "epoch 2")
		Expect(told.Note).To(And(ContainSubstring(pods[1].Name), Not(ContainSubstring("exited with"))))
	})

	It("P10: spans all Jobs of all ReplicatedJobs", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := InPlace(JobSet("wide", Replicated("driver", 1, 1), Replicated("workers", 2, 2)), 10)
		js, pods := w.HeldGroup(js)
		Expect(pods).To(HaveLen(5))

		w.Agents.Report(1, pods[:4]...)
		w.StaysAt(js, 0, 0)
		w.Agents.Report(1, pods[4])
		w.Reaches(js, 0, 1)

		w.GroupRestarts(js, 1, pods)
		w.HasCounted(js, Counters{InPlace: 1})
	})

	It("P22 C305: makes two epoch writes per group restart, whatever else is going on", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(4, 10))
		job := w.Job(train, "workers", 0)
		const rounds = 3

		for round := range int32(rounds) {
			w.Agents.Report(round+2, pods[round])
			w.JobController.Starts(job)
			w.Reaches(train, round+1, round+1)
			w.JobController.Readies(job)
			w.Agents.Report(round+2, pods...)
			w.Reaches(train, round+1, round+2)
		}

		Expect(w.Manager.EpochWrites(train.Name)).To(HaveLen(1 + 2*rounds))
	})

	It("P22 C305: writes mere counts of Jobs once a second at the most while the group assembles", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		job := w.Job(train, "workers", 0)
		w.Agents.Report(2, pods[0])
		w.Reaches(train, 1, 1)
		begun, before := time.Now(), len(w.Manager.Made(AJobSetStatus()))

		for range 20 {
			w.JobController.Readies(job)
			w.JobController.Starts(job)
		}
		w.JobController.Readies(job)
		w.CountsJobs(train, jobset.ReplicatedJobStatus{Active: 1, Ready: 1})

		writes, seconds := len(w.Manager.Made(AJobSetStatus()))-before, time.Since(begun).Seconds()
		Expect(writes).To(BeNumerically("<=", seconds+1), "in %.1f s", seconds)
	})

	It("P22: is not woken by changes of Pods that it does not read", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))

		w.MakesNoPass(train, func() {
			for color := range 100 {
				Change(w, pods[0], func(pod *corev1.Pod) { pod.Labels["color"] = strconv.Itoa(color) })
			}
		})
	})
})
