/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/jobset/test/stories"
)

var _ = Describe("an elastic training with PyTorch", Serial, Label(pytorch), func() {
	It("P102 P123: goes on from its checkpoint with three ranks, and with four again, and not from what an old rank 0 saves late", func(ctx SpecContext) {
		t := train(ctx, pace{stepSeconds: 0.3, saveEvery: 5})
		four := t.RunsAt(1)
		t.reaches(four, 25)
		t.Resize(3)
		three := t.RunsAt(2)
		t.reaches(three, 40)
		t.Resize(ranks)
		again := t.RunsAt(3)
		t.reaches(again, 57) // so that 55 is saved
		t.Charged(0)

		By("a rank 0 of three ranks that saves step 79, with other weights than the last, and the failure of a rank")
		shell(ctx, again.Pods[1], fmt.Sprintf("cd /checkpoints; busybox mkdir -p start-000002; "+
			"busybox cp $(busybox ls start-000003/step-*.pt | busybox head -n 1) start-000002/step-000000079.pt; kill -9 %d", t.rank(again.Pods[1])))
		last := t.RunsAt(4)
		last.IsInPlaceOf(again)
		t.Charged(1)
		t.finishes(last, "four ranks, three, four again; then SIGKILL of a rank", time.Time{})
		t.trainedWith(last, map[int32]int{1: 4, 2: 3, 3: 4, 4: 4})
	}, SpecTimeout(specTime))
})

// trainedWith expects that many ranks in each epoch and no step of an epoch after the start of the next one, that each
// epoch went on from the last checkpoint of the one before, with weights that had learned.
func (t *training) trainedWith(round *stories.Round, sizes map[int32]int) {
	GinkgoHelper()
	var connected, stepped [5]time.Time // the first of an epoch, the last of an epoch
	var saved [5]int                    // the last checkpoint of an epoch
	var untrained float64               // the loss of the first step
	for i, pod := range round.Pods {
		all, err := lines(t.ctx, pod)
		Expect(err).NotTo(HaveOccurred())
		for _, s := range all {
			epoch, err := strconv.Atoi(s.Epoch)
			Expect(err).NotTo(HaveOccurred(), "epoch of %+v", s)
			switch s.Msg {
			case "connected":
				Expect(s.Size).To(Equal(sizes[int32(epoch)]), "ranks of epoch %d in Pod %s", epoch, pod.Name)
				if connected[epoch].IsZero() || s.Time.Before(connected[epoch]) {
					connected[epoch] = s.Time
				}
			case "loaded":
				if i == 0 {
					Expect(s.Step).To(BeNumerically(">=", saved[epoch-1]), "checkpoint that epoch %d went on from", epoch)
				}
			case "step":
				stepped[epoch] = s.Time
				saved[epoch] = (s.Step - 1) / 5 * 5 // that of this step may not be whole
				if s.Step == 1 {
					untrained = s.Loss
				}
				if epoch > 1 {
					Expect(s.Loss).To(BeNumerically("<", untrained/10), "loss of step %d in epoch %d", s.Step, epoch)
				}
			}
		}
	}
	for epoch := 2; epoch <= len(sizes); epoch++ {
		Expect(connected[epoch]).To(BeTemporally(">", stepped[epoch-1]), "start of epoch %d after the last step of the one before", epoch)
	}
}
