/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package incidents

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

var _ = Describe("A group whose Pods are prepared for long", func() {
	// 55 s: the weights take 25 minutes, which is longer than both periods of P24.
	It("P48a: waits for them, and deletes and charges nothing", func(ctx SpecContext) {
		i := begin(ctx, "jobset-agent")
		startNode(i.namespace+"-a", i.namespace, containers)
		startNode(i.namespace+"-b", i.namespace, containers)
		i.trains(10, corev1.Container{Name: "weights", Image: workerImage, Command: []string{"sleep", "50"}})
		uids := func(pods []*corev1.Pod) (all []types.UID) {
			for _, pod := range pods {
				all = append(all, pod.UID)
			}
			return all
		}
		var created []types.UID
		Eventually(func(g Gomega) {
			created = uids(i.pods())
			g.Expect(created).To(HaveLen(2))
		}).WithContext(ctx).Should(Succeed())

		Expect(uids(i.runsAt(1))).To(ConsistOf(created), "the Pods that were there first")
		status := i.now().Status
		Expect(status.Restarts + status.RestartsCountTowardsMax + status.InPlaceRestarts).To(BeZero())
	}, SpecTimeout(4*time.Minute))
})
