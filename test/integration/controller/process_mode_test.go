/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

func exitWith(code int, epoch int32) protocol.WorkerExit {
	return protocol.WorkerExit{Container: "worker", Epoch: epoch, Exit: protocol.Exit{Code: code, Time: time.Now()}}
}

var _ = Describe("A group whose processes restart", func() {
	It("P61 P75: has a supervisor in each worker, and an agent that nothing waits for", func(ctx SpecContext) {
		w := newWorld(ctx)
		train := w.Create(oneLine(2, 10))

		pod := w.HasJobs(train, 1)[0].Spec.Template.Spec

		Expect(pod.InitContainers).To(HaveExactElements(
			And(HaveField("Name", workerpod.DefaultAgentName), HaveField("Lifecycle.PostStart.Exec.Command", ContainElement("install")), HaveField("StartupProbe", BeNil()), HaveField("RestartPolicyRules", BeEmpty()))))
		Expect(pod.Containers[0].Command).To(HaveExactElements(HavePrefix(protocol.Dir), "--", "train"))
		Expect(PodTemplate(Now(w, train), 0).Spec.Containers[0].Command).To(HaveExactElements("train"), "the stored JobSet stays")
	})

	It("P122: tells where rank 0 is with the epoch, and only that", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.HeldGroup(oneLine(3, 10))
		address := func() string { return Now(w, train).Status.ReplicatedJobsStatus[0].Address }
		w.Agents.ReportAt("10.9.9.9", 1, pods[1])
		w.Agents.Report(1, pods[2])
		w.StaysAt(train, 0, 0)
		w.Agents.ReportAt("10.1.2.3", 1, pods[0])
		w.Reaches(train, 0, 1)
		Expect(address()).To(Equal("10.1.2.3"), "of the Pod with index 0, whoever else tells one")
		Expect(Now(w, train).Status.ReplicatedJobsStatus[0].SyncedWorkers).To(BeEquivalentTo(3))

		w.Agents.ReportAt("not.an.address", 2, pods[0])
		w.Reaches(train, 1, 1)
		Expect(address()).To(Equal("10.1.2.3"), "that of the epoch, as long as the group assembles")
		w.Agents.Report(2, pods[1], pods[2])
		w.Reaches(train, 1, 2)
		Expect(address()).To(BeEmpty(), "what is no address is not handed on")
	})

	It("P66: names the worker that failed first, though the manager that leads has not seen it", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(oneLine(2, 10))
		w.Manager.Stop()
		w.Agents.Tell(2, pods[1], exitWith(42, 1))

		w.StartManager()

		w.Reaches(train, 1, 1)
		told := w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "exited with code 42")
		Expect(told.Note).To(And(ContainSubstring(pods[1].Name), ContainSubstring("container worker"), ContainSubstring("node-1")))
		restarting := w.Has(train, jobset.JobSetRestarting, metav1.ConditionTrue, "InPlaceRestart")
		Expect(restarting.Message).To(Equal(told.Note))
	})

	It("P66: believes nothing that it cannot read, and nothing of another epoch", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(oneLine(3, 10))
		Change(w, Now(w, pods[0]), func(pod *corev1.Pod) { pod.Annotations[jobset.WorkerExitKey] = `{"epoch":"1"}` })
		w.Agents.Tell(0, pods[1], exitWith(41, 7))

		w.Agents.Report(2, pods[2])

		w.Reaches(train, 1, 1)
		told := w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", pods[2].Name)
		Expect(told.Note).NotTo(ContainSubstring("exited with"))
	})

	It("P66 P22: looks at nothing because of the exit alone", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(oneLine(2, 10))
		w.Agents.Tell(0, pods[1], exitWith(42, 1))
		w.MakesNoPass(train, func() {
			for code := range 100 {
				w.Agents.Tell(0, pods[1], exitWith(100+code, 1))
			}
		})

		w.Agents.Report(2, pods[0])

		told := w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "")
		Expect(told.Note).To(ContainSubstring("code 42"), "what came first was kept")
	})

	It("P70: tells why a Pod had to be replaced", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(oneLine(2, 10))
		leaves := exitWith(1, 1)
		leaves.Leave = "container worker cannot be stopped"
		w.Agents.Tell(0, pods[0], leaves)
		w.Kubelet.SeesFail(pods[0], protocol.ExitLeave)

		w.TellsUser(train, corev1.EventTypeWarning, "WorkerReplaced", pods[0].Name+" on node node-0 cannot restart in place and is replaced: container worker cannot be stopped")
		w.Agents.Report(2, w.JobController.Replaces(pods[0]))
		w.Reaches(train, 1, 1)
		w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "could not restart in place (container worker cannot be stopped)")
		w.Records(train, 1, "WorkerReplaced")
	})
})

var _ = Describe("A group that fails again and again", func() {
	It("P71: waits longer each time, over a restart of the manager, and says until when", func(ctx SpecContext) {
		pauses := WithDeadlines(policy.Deadlines{Assembly: time.Hour, QuickFailurePause: time.Minute})
		w := newWorld(ctx, pauses)
		train, pods := w.RunningGroup(Training(2, 10))
		w.GroupRestarts(train, 1, pods) // at once
		Expect(Now(w, train).Status.QuickFailures).To(BeEquivalentTo(1))
		w.GroupRestarts(train, 2, pods) // after a second
		w.Agents.Report(4, pods[0])
		w.Reaches(train, 3, 3)

		const pause = 2 * time.Second
		Expect(Now(w, train).Status.QuickFailures).To(BeEquivalentTo(3))
		restarting := w.Has(train, jobset.JobSetRestarting, metav1.ConditionTrue, "InPlaceRestart")
		until := restarting.LastTransitionTime.Add(pause).UTC().Format(time.RFC3339)
		Expect(restarting.Message).To(HaveSuffix(", not before %s: 3 epochs in a row failed within a minute", until))
		w.StartManager(pauses)
		w.Agents.Report(4, pods[1]) // not before all this was seen, which may take longer than the pause

		w.Reaches(train, 3, 4)
		status := Now(w, train).Status
		Expect(status.LastSyncTime.Sub(restarting.LastTransitionTime.Time)).To(BeNumerically(">=", pause))
		Expect(status.QuickFailures).To(BeEquivalentTo(3), "whether this epoch runs longer is seen at its end")
		Expect(apimeta.IsStatusConditionFalse(status.Conditions, string(jobset.JobSetRestarting))).To(BeTrue())
		w.HasCounted(train, Counters{InPlace: 3})
	})

	It("P71: does not wait where pauses are off", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		for synced := range int32(4) {
			w.GroupRestarts(train, synced+1, pods)
		}
		status := Now(w, train).Status
		Expect(status.QuickFailures).To(BeZero())
		w.HasCounted(train, Counters{InPlace: 4})
	})
})
