/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// NeedsLeases reports whether agents of these Pods report in Leases: those of large groups do (P150).
func NeedsLeases(pods []corev1.Pod) bool {
	return slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return workerpod.ReportsInLease(&pod.Spec) })
}

// AddReports puts into Pods of a JobSet what their Leases report, as the controller does (P157).
func AddReports(js *jobset.JobSet, pods []corev1.Pod, leases facts.Leases) {
	for i := range pods {
		pods[i] = *leases.Reporting(&pods[i], ptr.Deref(js.Status.SyncedEpoch, 0))
	}
}
