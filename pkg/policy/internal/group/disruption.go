/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// A Pod that is taken away says nothing about its program: somebody deletes, evicts or preempts it, drains its node, or its node is
// tainted or shut down. The restart is charged, since others may cause it without end, but it is no quick failure, for which the
// others would wait, and no restart without progress (P71b).

// Reasons that kubelets give to Pods that they end for others. An eviction is not among them: the Pod may have used up the node.
const (
	endedByShutdown = "Terminated"
	endedByCritical = "Preempting"
)

// isDisruption reports whether a failure is that of a Pod that was taken away.
func isDisruption(f *pass.Failure) bool {
	switch {
	case f == nil:
		return false // a failure that was not seen
	case f.Deleted:
		return f.Reason != corev1.PodReasonTerminationByKubelet
	}
	return f.Container == "" && slices.Contains([]string{endedByShutdown, endedByCritical}, f.Reason)
}
