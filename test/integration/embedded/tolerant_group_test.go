/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
)

var _ = Describe("A group with faultTolerance that does not assemble", func() {
	// 22 s: four periods and a pause, which are whole seconds.
	It("P80 P82 P84: is reset after a pause, and fails when its resets are used up", func(ctx SpecContext) {
		shown.runsWith(ctx, "preparationGracePeriod: 0s") // or its init container is waited for (P48a)
		DeferCleanup(func(ctx SpecContext) { shown.runsWith(ctx, "") })
		group := stories.Create(ctx, stories.Shape{Process: true, MaxRestarts: 1, Change: func(js *jobset.JobSet) {
			js.Spec.FaultTolerance = &jobset.FaultTolerance{WarmupGracePeriodSeconds: ptr.To[int32](3), RetryPauseSeconds: ptr.To[int32](1)}
			pod := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
			pod.InitContainers = []corev1.Container{{Name: "never-done", Image: stories.WorkerImage}}
		}})

		group.Told(corev1.EventTypeWarning, constants.WorkersMissingReason, "2 of 2 workers have not reported epoch 1 within 3s")
		group.Told(corev1.EventTypeWarning, constants.ActionReason(jobset.RestartJobSet), "2 of 2 workers have not reported epoch 1 within 6s")
		group.Told(corev1.EventTypeNormal, constants.RetryPauseReason, "after a pause of 1s (1 of 1 restarts used)")
		group.Has(jobset.JobSetFailed, metav1.ConditionTrue, constants.ReachedMaxRestartsReason)
		status := group.Status()
		Expect([]int32{status.Restarts, status.RestartsCountTowardsMax, status.InPlaceRestarts}).To(Equal([]int32{1, 1, 0}), "restarts")
		group.ReleasesQuota()
	}, SpecTimeout(specTime))

	// 22 s: two periods that must pass without a reset.
	It("P48 P80: waits for a node as long as it takes, and is not reset", func(ctx SpecContext) {
		const period = 10
		shape := stories.Accelerated(2, 2)
		sized := shape.Change
		shape.Change = func(js *jobset.JobSet) {
			sized(js)
			js.Spec.FaultTolerance = &jobset.FaultTolerance{WarmupGracePeriodSeconds: ptr.To[int32](period)}
		}
		group := stories.Create(ctx, shape)
		Eventually(func() time.Duration {
			if since := group.Status().AssemblingSince; since != nil {
				return time.Since(since.Time)
			}
			return 0
		}).WithContext(ctx).WithTimeout(patience).Should(BeNumerically(">", 2*period*time.Second), "the time since when the group assembles")

		runNode("comes-late", "2")
		group.RunsAt(1)
		group.Charged(0)
	}, SpecTimeout(specTime))
})
