/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OpenNodes waits for two nodes or more that Pods without tolerations may run on, and returns their names.
func OpenNodes(ctx context.Context) []string {
	GinkgoHelper()
	var names []string
	Eventually(func(g Gomega) {
		var list corev1.NodeList
		g.Expect(api.List(ctx, &list)).To(Succeed())
		names = nil
		for i := range list.Items {
			tainted := slices.ContainsFunc(list.Items[i].Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
			if !tainted {
				names = append(names, list.Items[i].Name)
			}
		}
		g.Expect(len(names)).To(BeNumerically(">=", 2), "nodes without taints")
	}).WithContext(ctx).WithTimeout(patience).WithPolling(tick).Should(Succeed())
	slices.Sort(names)
	return names
}

// Advertise says how much of an extended resource a node has, as a device plugin does; the kubelet keeps it.
func Advertise(ctx context.Context, name string, resource corev1.ResourceName, count int) {
	GinkgoHelper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	patch := fmt.Appendf(nil, `{"status":{"capacity":{%[1]q:"%[2]d"},"allocatable":{%[1]q:"%[2]d"}}}`, resource, count)
	Expect(api.Status().Patch(ctx, node, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}
