/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/worker/order"
)

// BypassLabel selects the stories of bypasses.
const BypassLabel = "bypass"

// bypasses: in-place restart is switched off for a JobSet, and on again.
func bypasses() {
	It("P34b P24a: run together when it is on again, and none beside others that still save their state", Label(BypassLabel), Contract, func(ctx SpecContext) {
		const saves = 12 * time.Second
		group := Create(ctx, Shape{Process: true, Workers: 3, Change: func(js *jobset.JobSet) {
			pod := podOf(js)
			pod.SchedulingGates = []corev1.PodSchedulingGate{{Name: gateOfStory}}
			pod.Containers[0].Env = []corev1.EnvVar{{Name: "WORKER_TERM_DELAY", Value: saves.String()}}
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{StopGracePeriodSeconds: ptr.To[int32](60)}
		}})
		group.eventually(group.live).Should(HaveLen(3))
		pods := group.live()
		for _, pod := range pods[:2] {
			group.placed(pod)
			group.Reports(pod, 1)
		}

		By("switching it off while two of three wait")
		group.Disable(true)
		started, err := []time.Time{}, error(nil)
		group.eventually(func() error { started, err = group.starts(pods[:2], workerName); return err }).Should(Succeed())

		By("switching it on again")
		group.Disable(false)
		on := time.Now()
		group.placed(pods[2])
		together := group.RunsAt(2)
		for i, at := range together.Started {
			Expect(at).To(BeTemporally(">=", on.Add(saves-time.Second)), "the worker in place %d started while others saved their state", i)
		}
		log, err := cluster.Log(ctx, together.Worker(2))
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(log, `"msg":"start"`)).To(Equal(1), "starts of the worker that came last")
		for i, at := range started {
			Expect(together.Started[i]).To(BeTemporally(">", at))
		}
		group.Charged(0)
	}, SpecTimeout(specTime))

	It("P131a: are not taken for hung while it is off", Label(BypassLabel), func(ctx SpecContext) {
		const limit = 5
		group := Create(ctx, Shape{Process: true, Change: func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Progress: &jobset.ProgressPolicy{StallSeconds: ptr.To[int32](limit)}}
		}})
		before := group.RunsAt(1)
		group.Disable(true)
		group.eventually(logOf(ctx, before.Worker(1))).Should(ContainSubstring("is not watched any longer"))
		group.Tell(order.Hang, before.Worker(1))
		Consistently(func() ([]time.Time, error) { return group.starts(before.Pods, workerName) }, 3*limit*time.Second, time.Second).Should(Equal(before.Started))

		group.Disable(false)
		group.RunsAt(3).IsInPlaceOf(before)
		group.Charged(0)
	}, SpecTimeout(specTime))
}

// Disable sets or removes the annotation that disables in-place restart, and waits until the agents were told.
func (g *Group) Disable(off bool) {
	GinkgoHelper()
	g.change(func(js *jobset.JobSet) {
		if !off {
			delete(js.Annotations, jobset.DisableInPlaceRestartKey)
			return
		}
		metav1.SetMetaDataAnnotation(&js.ObjectMeta, jobset.DisableInPlaceRestartKey, "true")
	})
	if off {
		g.Has(jobset.JobSetInPlaceRestartDisabled, metav1.ConditionTrue, constants.DisabledByAnnotationReason)
	} else {
		g.Has(jobset.JobSetInPlaceRestartDisabled, metav1.ConditionFalse, constants.AnnotationRemovedReason)
	}
}

// placed takes the scheduling gate off a Pod.
func (g *Group) placed(pod *corev1.Pod) {
	GinkgoHelper()
	ungated := pod.DeepCopy()
	ungated.Spec.SchedulingGates = nil
	Expect(api.Patch(g.ctx, ungated, client.MergeFrom(pod))).To(Succeed())
}
