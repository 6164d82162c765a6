/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"regexp"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

// What the decoys take: each is longer than the limit of five seconds.
const (
	frozenFor = time.Minute
	loadedFor = 20 * time.Second
	loops     = 30
)

// The specs are Serial: they take the manager away, and the time of a node.
var _ = Describe("workers that are slow and do not hang", Serial, Label(stories.HangsLabel, "node-loss", "slow"), func() {
	It("P131 P65: are left alone, however long their first step, an evaluation and a checkpoint take, without a manager, after their "+
		"agent was killed, on a node under load, and on one that stands still", func(ctx SpecContext) {
		_, node := nodeToLose(ctx)
		shape := stories.Training(4, corev1.EnvVar{Name: "WORKER_FIRST_STEP", Value: "15s"},
			corev1.EnvVar{Name: "WORKER_EVALUATION", Value: "12s"}, corev1.EnvVar{Name: "WORKER_CHECKPOINT", Value: "40s"})
		change := shape.Change
		shape.Change = func(js *jobset.JobSet) {
			change(js)
			podOf(js).NodeSelector = map[string]string{corev1.LabelHostname: node}
		}
		group := stories.Create(ctx, shape)
		before := group.RunsAt(1)
		group.TakesSteps(before, time.Time{})

		By("killing an agent during the evaluation, and taking the manager away during the checkpoint")
		group.Tell(syscall.SIGKILL, before.Agent(1))
		Expect(live.stopManager(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(live.startManager(ctx)).To(Succeed()) })
		group.TakesSteps(before, time.Now()) // what is told next is told after the checkpoint
		Expect(live.startManager(ctx)).To(Succeed())

		By(fmt.Sprintf("loading the node with %d loops", loops))
		docker(ctx, "exec", node, "sh", "-c", fmt.Sprintf("for i in $(seq %d); do timeout %.0f sh -c 'while :; do :; done' & done; wait", loops, loadedFor.Seconds()))
		group.TakesSteps(before, time.Now())

		By("letting the node stand still")
		DeferCleanup(func(ctx SpecContext) { bringBack(ctx, node) })
		docker(ctx, "pause", node)
		select {
		case <-time.After(frozenFor):
		case <-ctx.Done():
		}
		bringBack(ctx, node)
		group.TakesSteps(before, time.Now())

		group.RunsAt(1).IsUntouched(before)
		group.Charged(0)
	}, SpecTimeout(2*specTime))
})

// Limits of a training, in seconds: its start includes the import of PyTorch.
const trainingStart, trainingStall, trainingGrace = 120, 6, 3

// waitsIfTold lets a rank wait for a lock once it has told a step, if there is a file that says so.
const waitsIfTold = `busybox sed '/JOBSET_PROGRESS_FILE/a\    os.path.exists("/tmp/hang") and __import__("threading").Semaphore(0).acquire()' /train/train.py >/tmp/train.py
busybox rm -f /tmp/hang
exec torchrun --nproc_per_node 1 /tmp/train.py`

// Others wait in an all-reduce of gloo until the one that hangs is killed or they are, whose limit is over first. Then the
// connections end, and with them all that wait.
var _ = Describe("a training with PyTorch of which one rank does not come to an all-reduce", Serial, Label(pytorch, stories.HangsLabel, "slow"), func() {
	watched := func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart.StopGracePeriodSeconds = ptr.To[int32](trainingGrace)
		js.Spec.FailurePolicy.InPlaceRestart.Progress = &jobset.ProgressPolicy{
			StartSeconds: ptr.To[int32](trainingStart), StallSeconds: ptr.To[int32](trainingStall), DumpSignal: jobset.DumpSignalUSR1, DumpSeconds: ptr.To[int32](1),
		}
		podOf(js).Containers[0].Command = []string{"/bin/sh", "-c", waitsIfTold}
	}
	for _, hang := range []struct {
		name, script string
		standsOut    bool
	}{
		{"since it was stopped by SIGSTOP", "kill -STOP %d", true},
		{"since it waits for a lock", ": %d; : >/tmp/hang", false},
	} {
		It("P131 P133 P134 P135: starts again in its Pods, and is told who it was, if it is one, "+hang.name, func(ctx SpecContext) {
			t := train(ctx, long, goesOn, watched)
			before := t.RunsAt(1)
			t.steps(before)
			victim := before.Pods[2]
			at := time.Now()
			shell(ctx, victim, fmt.Sprintf(hang.script, t.rank(victim)))
			after := t.RunsAt(2)
			after.IsInPlaceOf(before)
			said := t.Says(1)
			stories.ReportHang(stories.Hang{Kind: "PyTorch, " + hang.name, Workers: ranks, Said: said,
				Detect: t.BrokeAt(1).Sub(at.Add(trainingStall * time.Second)), Restart: t.lastStart(before).Sub(t.BrokeAt(1))})
			t.Charged(1)
			Expect(t.logs(before)).To(ContainSubstring(stories.Examined))
			if hang.standsOut {
				Expect(said).To(And(HavePrefix("likely culprit: worker pod %s on node %s: ", victim.Name, victim.Spec.NodeName), ContainSubstring("it has a process in state T")))
			} else {
				Expect(said + ";").To(HavePrefix("no likely culprit;"))
				Expect(t.logs(before)).To(ContainSubstring("(most recent call first):"), "stacks by faulthandler") // one that is stopped writes none
			}
			t.steps(after)
		}, SpecTimeout(specTime))
	}
})

var startedByNow = regexp.MustCompile(`time=(\S+) .*starting the worker of epoch 2"`)

// lastStart is when the last supervisor started epoch 2: the ranks tell their start once torchrun has been imported, seconds later.
func (t *training) lastStart(round *stories.Round) (last time.Time) {
	GinkgoHelper()
	found := startedByNow.FindAllStringSubmatch(t.logs(round), -1)
	Expect(found).To(HaveLen(len(round.Pods)), "starts of epoch 2")
	for _, line := range found {
		at, err := time.Parse(time.RFC3339Nano, line[1])
		Expect(err).NotTo(HaveOccurred())
		if at.After(last) {
			last = at
		}
	}
	return last
}

// logs are what all workers of a round and their supervisors have said.
func (t *training) logs(round *stories.Round) (all string) {
	GinkgoHelper()
	for i := range round.Pods {
		log, err := live.Log(t.ctx, round.Worker(i))
		Expect(err).NotTo(HaveOccurred())
		all += log
	}
	return all
}
