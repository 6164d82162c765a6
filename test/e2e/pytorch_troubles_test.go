/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
)

// pytorch is the label of stories that need the image with PyTorch.
const pytorch = "pytorch"

// struck is how far trainings are when something happens to them: between two checkpoints.
const struck = 25

// That nothing is lost: each of these ends with the weights of a training that nothing happened to, bit for bit.
var _ = Describe("a training with PyTorch ends with the same weights as one that nothing happened to", Serial, Ordered, ContinueOnFailure, Label(pytorch), func() {
	var undisturbed outcome
	BeforeAll(func(ctx SpecContext) {
		t := train(ctx, quick)
		undisturbed = t.finishes(t.RunsAt(1), "none", time.Time{})
		Expect(undisturbed).To(And(HaveField("Restarts", BeZero()), HaveField("Twice", BeZero())), "an undisturbed training")
	}, NodeTimeout(specTime))

	// same waits for the end of a training that went on in a round.
	same := func(t *training, round *stories.Round, trouble string, at time.Time) {
		GinkgoHelper()
		o := t.finishes(round, trouble, at)
		Expect(o.Checksum).To(Equal(undisturbed.Checksum), "checksum of the weights")
	}

	It("P123: when a rank exits with 1", func(ctx SpecContext) {
		p := quick
		p.failAt = struck
		t := train(ctx, p)
		before := t.RunsAt(1)
		after := t.RunsAt(2)
		after.IsInPlaceOf(before)
		t.Charged(1)
		same(t, after, "a rank exits with 1", t.lastStep(after.Pods[0], 1))
	}, SpecTimeout(specTime))

	DescribeTable("P123: when", func(ctx SpecContext, trouble string, strike func(*training, *stories.Round) time.Time) {
		t := train(ctx, quick)
		before := t.RunsAt(1)
		t.reaches(before, struck)
		at := strike(t, before)
		after := t.RunsAt(2)
		after.IsInPlaceOf(before)
		t.Charged(1)
		same(t, after, trouble, at)
	},
		Entry("a rank is killed", SpecTimeout(specTime), "SIGKILL of a rank", func(t *training, round *stories.Round) time.Time {
			return t.kill(round.Pods[2])
		}),
		Entry("torchrun is killed", SpecTimeout(specTime), "SIGKILL of torchrun", func(t *training, round *stories.Round) time.Time {
			at, pod := time.Now(), round.Pods[1]
			shell(t.ctx, pod, fmt.Sprintf("kill -9 $(busybox sed -n 's/^PPid:[[:space:]]*//p' /proc/%d/status)", t.rank(pod)))
			return at
		}),
		Entry("three ranks are killed at once", SpecTimeout(specTime), "SIGKILL of three ranks at once", func(t *training, round *stories.Round) time.Time {
			return t.kill(round.Pods[1:]...)
		}),
	)

	It("P122 P123: when the Pod of rank 0 is deleted", func(ctx SpecContext) {
		t := train(ctx, quick)
		before := t.RunsAt(1)
		t.reaches(before, struck)
		at := time.Now()
		Expect(stories.API().Delete(ctx, before.Pods[0].DeepCopy())).To(Succeed())
		after := t.RunsAt(2)
		after.Replaces(before, 0)
		t.Charged(1)
		t.rejoins("with a cache of 30 s", "the address that torchrun is told", after, at)
		same(t, after, "the Pod of rank 0 is deleted", at)
	}, SpecTimeout(specTime))

	It("P123: when it is suspended and resumed", func(ctx SpecContext) {
		t := train(ctx, quick)
		before := t.RunsAt(1)
		t.reaches(before, struck)
		t.Suspend(true)
		t.IsSuspended()
		at := time.Now()
		t.Suspend(false)
		after := t.RunsEventually()
		after.IsAllNew(before)
		same(t, after, "suspended, and resumed", at)
	}, SpecTimeout(specTime))

	It("P123: when the manager is killed while the group assembles", func(ctx SpecContext) {
		t := train(ctx, quick)
		before := t.RunsAt(1)
		t.reaches(before, struck)
		t.Tell(syscall.SIGSTOP, before.Agent(3)) // so that the group does not come together before
		at := t.kill(before.Pods[0])
		t.Breaks(1)
		t.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, "restart in place") // or it is lost with the manager
		manager, err := live.managerPod(ctx)
		Expect(err).NotTo(HaveOccurred())
		// Not by deletion: for a second it would go on, lift the group, and take the event of that with it.
		t.Tell(syscall.SIGKILL, stories.Container{Pod: manager, Name: "manager"})
		t.Tell(syscall.SIGCONT, before.Agent(3))
		after := t.RunsAt(2)
		after.IsInPlaceOf(before)
		t.Charged(1)
		same(t, after, "the manager is killed while the group assembles", at)
	}, SpecTimeout(specTime))

	It("P123: when the node of rank 0 is lost, and comes back with the old rank 0", Label("node-loss"), func(ctx SpecContext) {
		// A checkpoint of each step, so that an old rank 0 that goes on has something to save.
		t := train(ctx, pace{stepSeconds: 1, saveEvery: 1}, leaveLostNodesSoon)
		before := t.RunsAt(1)
		node := before.Pods[0].Spec.NodeName
		skipUnlessContainer(ctx, node)
		moveManagerOff(ctx, node)
		t.reaches(before, 10)
		at := time.Now()
		docker(ctx, "pause", node)
		DeferCleanup(func(ctx SpecContext) { bringBack(ctx, node) })
		t.Breaks(1)
		taint(ctx, node, true)
		after := t.RunsAt(2)
		t.reaches(after, struck)
		bringBack(ctx, node)
		t.RunsAt(2).IsUntouched(after)

		By("being restarted after that")
		t.kill(after.Pods[3])
		again := t.RunsAt(3)
		again.IsInPlaceOf(after)
		t.Charged(2)
		same(t, again, "the node of rank 0 is lost, and comes back; then SIGKILL of a rank", at)
	}, SpecTimeout(specTime))
})

// lastStep is when rank 0 did its last step in an epoch.
func (t *training) lastStep(pod *corev1.Pod, epoch int32) (at time.Time) {
	GinkgoHelper()
	all, err := lines(t.ctx, pod)
	Expect(err).NotTo(HaveOccurred())
	at = last(slices.DeleteFunc(all, func(s said) bool { return s.Epoch != fmt.Sprint(epoch) }), "step").Time
	Expect(at).NotTo(BeZero(), "steps of epoch %d", epoch)
	return at
}

// moveManagerOff replaces the manager by one on another node.
func moveManagerOff(ctx context.Context, node string) {
	GinkgoHelper()
	manager, err := live.managerPod(ctx)
	Expect(err).NotTo(HaveOccurred())
	if manager.Spec.NodeName != node {
		return
	}
	cordon := func(on bool) {
		_, err := live.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, on), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	cordon(true)
	defer cordon(false)
	Expect(live.client.CoreV1().Pods(managerNamespace).Delete(ctx, manager.Name, metav1.DeleteOptions{})).To(Succeed())
	Eventually(func(expect Gomega) {
		now, err := live.managerPod(ctx)
		expect.Expect(err).NotTo(HaveOccurred())
		expect.Expect(now.Spec.NodeName).NotTo(Equal(node))
	}).WithContext(ctx).WithTimeout(patience).WithPolling(tick).Should(Succeed())
	_, err = run(ctx, live.kubectl, "rollout", "status", "--namespace", managerNamespace, "deployment/"+managerName, "--timeout=180s")
	Expect(err).NotTo(HaveOccurred())
}
