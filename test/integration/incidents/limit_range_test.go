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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("A namespace whose containers request more than an agent", func() {
	// 5 s: the API server refuses each Pod.
	It("P54: has no Pods, and the plugin says which minimum the agent misses", func(ctx SpecContext) {
		i := begin(ctx, "jobset-agent")
		startNode(i.namespace+"-a", i.namespace, containers)
		Expect(api.Create(ctx, &corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: "least"},
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypeContainer, Min: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")},
			}}},
		})).To(Succeed())
		i.trains(10)
		i.minute("the Pods are refused", sees{
			event: nothing, condition: nothing, alerts: nil,
			plugin: `NoPod +.*minimum cpu usage per Container is 50m, but request is 10m`,
		})
	}, SpecTimeout(2*time.Minute))
})
