/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import (
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Failure is why a Pod failed or restarted, as its status showed for a moment.
type Failure struct {
	Pod  string
	Node string
	// Deleted: the Pod is being deleted. Otherwise one of its containers ended, or the
	// Pod failed as a whole if Container is empty.
	Deleted   bool
	Container string
	ExitCode  int32
	// Reason is the kubelet's, such as OOMKilled, or that of a disruption; it may be empty.
	Reason string
	// Hang is how the worker hung, if it did (P133).
	Hang protocol.Hang
	// Replaced is why the Pod asked to be replaced (P70), if it did.
	Replaced string
	// NoSandbox: the Pod lost its sandbox, and with it all of its containers (P74).
	NoSandbox bool
}

// FailureOf returns the failure that ends a whole Pod, if the Pod shows one: all its
// containers are being restarted, the Pod has failed, or it is being deleted.
func FailureOf(pod *facts.Member) (Failure, bool) {
	failure := Failure{Pod: pod.Name, Node: pod.Node}
	switch {
	case pod.Phase == corev1.PodSucceeded:
		return Failure{}, false
	case pod.Terminating(): // which also ends its containers
		failure.Deleted, failure.Reason = true, pod.Disruption
	case pod.Phase == corev1.PodFailed && pod.Reason != "": // an eviction, which also ends its containers
		failure.Reason = pod.Reason
	case pod.End.Container != "":
		failure.Container, failure.ExitCode, failure.Reason = pod.End.Container, pod.End.ExitCode, pod.End.Reason
	case pod.Phase == corev1.PodFailed: // no container says why
	default:
		return Failure{}, false
	}
	return failure, true
}
