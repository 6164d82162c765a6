/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"io"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
				pod.Containers[0].Resources.Limits = corev1.ResourceList{gpu: resource.MustParse("1")}
			})
			round := t.RunsAt(1)
			t.trains(round, 0)
			saved := 0
			// planned is a stop that somebody wants, and what follows it.
			planned := func(what string, stop func(), next func() *stories.Round) {
				GinkgoHelper()
				By("being " + what)
				logs := t.follow(round)
				stop()
				saved = t.saved(logs, saved, what)
				if next != nil {
					round = next()
					t.trains(round, saved)
				}
			}

			for _, size := range []int32{ranks - 1, ranks} {
				planned(fmt.Sprintf("resized to %d", size), func() { t.Resize(size) }, t.RunsEventually)
			}
			sick := round.Pods[1].Spec.NodeName
			planned("moved off a node", func() { t.mark(ctx, sick, `"EVICT"`) }, t.RunsEventually)
			for _, pod := range round.Pods {
				Expect(pod.Spec.NodeName).NotTo(Equal(sick), "node of Pod %s", pod.Name)
			}
			t.mark(ctx, sick, "null")
			planned("suspended", func() { t.Suspend(true); t.IsSuspended() }, func() *stories.Round { t.Suspend(false); return t.RunsEventually() })
			t.Charged(0)
			planned("deleted", func() { Expect(stories.API().Delete(ctx, t.Stored())).To(Succeed()) }, nil)
		}, SpecTimeout(3*specTime))
	}
})

// mark says how the GPUs of a node are, until the end of the spec.
func (t *training) mark(ctx SpecContext, node, health string) {
	GinkgoHelper()
	labelNode(ctx, node, gpuHealth, health)
	if health != "null" {
		DeferCleanup(func(ctx SpecContext) { labelNode(ctx, node, gpuHealth, "null") })
	}
}

// trains waits until a round goes on from a step, and has made some more.
func (t *training) trains(round *stories.Round, from int) {
	GinkgoHelper()
	epoch := round.Pods[0].Annotations[jobset.EpochKey]
	t.eventually(func(expect Gomega) {
		all, err := lines(t.ctx, round.Pods[0])
		expect.Expect(err).NotTo(HaveOccurred())
		loaded, step := last(all, "loaded"), last(all, "step")
		expect.Expect([]string{loaded.Epoch, step.Epoch}).To(HaveEach(epoch), "epoch of the last lines of rank 0")
		expect.Expect(loaded.Step).To(Equal(from), "step that was loaded")
		expect.Expect(step.Step).To(BeNumerically(">=", from+5), "last step of rank 0")
		expect.Expect(loaded.Twice).To(BeZero(), "steps computed twice")
	})
}

// follow reads what the ranks of a round say from now on, until the Pod of each is gone or the spec is over.
func (t *training) follow(round *stories.Round) []*rankLog {
	var logs []*rankLog
	for _, pod := range round.Pods {
		l := &rankLog{pod: pod.Name}
		logs = append(logs, l)
		stream, err := live.client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: "worker", Follow: true}).Stream(t.ctx)
		Expect(err).NotTo(HaveOccurred())
		go func() {
			defer func() { _ = stream.Close() }()
			_, _ = io.Copy(l, stream)
		}()
	}
	return logs
}

// rankLog is what a rank has said.
type rankLog struct {
	pod  string
	mu   sync.Mutex
	text strings.Builder
}

func (l *rankLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// saved is the last step above one that the rank has saved, 0 if there is none.
func (l *rankLog) saved(above int) (step int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range parse(l.text.String()) {
		if s.Msg == "saved" && s.Step > above {
			step = s.Step
		}
	}
	return step
}

// saved waits until all ranks have said that they saved a step above one, the same, and returns it.
func (t *training) saved(logs []*rankLog, above int, what string) (step int) {
	GinkgoHelper()
	for _, l := range logs {
		t.eventually(func(expect Gomega) {
			expect.Expect(l.saved(above)).NotTo(BeZero(), "step that the rank in Pod %s saved", l.pod)
		})
		if step == 0 {
			step = l.saved(above)
		}
		Expect(l.saved(above)).To(Equal(step), "step that the rank in Pod %s saved", l.pod)
	}
	AddReportEntry("all ranks saved", fmt.Sprintf("step %d, %d ranks, when they were %s", step, len(logs), what))
	return step
}
