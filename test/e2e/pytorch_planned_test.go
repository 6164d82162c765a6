/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

const (
	gpu       = "nvidia.com/gpu"
	gpuHealth = "autopilot.ibm.com/gpuhealth"
)

// That a stop which somebody wants costs no step: all ranks save the same one, and go on from it.
var _ = Describe("a training with PyTorch saves one step on all ranks", Serial, Label(pytorch, "planned-stops"), func() {
	for _, way := range []string{processWay, torchrunWay} {
		It("P142 P69a: before it is resized, moved off a node, suspended and deleted, "+way, func(ctx SpecContext) {
			for _, node := range stories.OpenNodes(ctx) {
				stories.Advertise(ctx, node, gpu, 64)
			}
			// It saves only when it is told to end.
			t := train(ctx, pace{stepSeconds: 0.2, saveEvery: 100_000}, goesOn, func(js *jobset.JobSet) {
				startsBy(js, way)
				js.Spec.FaultTolerance = &jobset.FaultTolerance{}
				pod := podOf(js)
				pod.TerminationGracePeriodSeconds = ptr.To[int64](60)
				pod.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
				pod.Containers[0].Resources.Limits = corev1.ResourceList{gpu: resource.MustParse("1")}
			})
			round := t.RunsAt(1)
			saved := t.trains(round, 0)

			By("shrinking, and growing again")
			for _, size := range []int32{ranks - 1, ranks} {
				before := round
				t.Resize(size)
				round = t.RunsEventually()
				saved = t.trains(round, t.saved(before, saved))
			}

			By("moving off a node")
			before, sick := round, round.Pods[1].Spec.NodeName
			t.mark(ctx, sick, `"EVICT"`)
			round = t.RunsEventually()
			for _, pod := range round.Pods {
				Expect(pod.Spec.NodeName).NotTo(Equal(sick), "node of Pod %s", pod.Name)
			}
			saved = t.trains(round, t.saved(before, saved))
			t.mark(ctx, sick, "null")

			By("being suspended")
			before = round
			t.Suspend(true)
			t.IsSuspended()
			t.Suspend(false)
			round = t.RunsEventually()
			saved = t.trains(round, t.saved(before, saved))
			t.Charged(0)

			By("being deleted")
			Expect(stories.API().Delete(ctx, t.Stored())).To(Succeed())
			t.saved(round, saved)
		}, SpecTimeout(3*specTime))
	}
})

// mark says how the GPUs of a node are, until the end of the spec.
func (t *training) mark(ctx SpecContext, node, health string) {
	GinkgoHelper()
	label := func(ctx SpecContext, value string) {
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, gpuHealth, value)
		_, err := live.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	label(ctx, health)
	if health != "null" {
		DeferCleanup(func(ctx SpecContext) { label(ctx, "null") })
	}
}

// trains waits until a round goes on from a step, and has made some more. It returns that step.
func (t *training) trains(round *stories.Round, from int) int {
	GinkgoHelper()
	epoch := round.Pods[0].Annotations[jobset.EpochKey]
	t.eventually(func(expect Gomega) {
		all, err := lines(t.ctx, round.Pods[0])
		expect.Expect(err).NotTo(HaveOccurred())
		loaded, step := last(all, "loaded"), last(all, "step")
		expect.Expect([]string{loaded.Epoch, step.Epoch}).To(HaveEach(epoch), "epoch of the last lines of rank 0")
		expect.Expect(loaded.Step).To(Equal(from), "step that was loaded")
		expect.Expect(step.Step).To(BeNumerically(">=", from+5), "last step of rank 0")
		expect.Expect(step.Twice).To(BeZero(), "steps computed twice")
	})
	return from
}

// saved waits until all ranks of a round have said that they saved a step above one, and returns it.
func (t *training) saved(round *stories.Round, above int) (step int) {
	GinkgoHelper()
	began := time.Now()
	for i, pod := range round.Pods {
		var found said
		t.eventually(func(expect Gomega) {
			all := parse(t.LastWords(pod))
			if len(all) == 0 {
				all, _ = lines(t.ctx, pod) // it still runs, or was started again
			}
			found = said{}
			for _, s := range all {
				if s.Msg == "saved" && s.Step > above {
					found = s
				}
			}
			expect.Expect(found.Step).NotTo(BeZero(), "what the rank in Pod %s saved", pod.Name)
		})
		if i == 0 {
			step = found.Step
		}
		Expect(found.Step).To(Equal(step), "step that the rank in Pod %s saved", pod.Name)
	}
	AddReportEntry("all ranks saved", fmt.Sprintf("step %d, %d ranks, seen after %.1f s", step, len(round.Pods), time.Since(began).Seconds()))
	return step
}
