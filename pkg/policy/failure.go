/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"strings"

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

// String names what failed, how, and on which node.
func (f *Failure) String() string {
	var what string
	switch {
	case f.Deleted:
		what = fmt.Sprintf("worker pod %s was deleted%s", f.Pod, parenthesized(f.Reason))
	case f.NoSandbox:
		return fmt.Sprintf("worker pod %s lost its sandbox: node %s restarted, or the runtime of the Pod was killed", f.Pod, f.Node)
	case f.Replaced != "":
		what = fmt.Sprintf("worker pod %s could not restart in place (%s)", f.Pod, f.Replaced)
	case f.Hang.Hung():
		what = fmt.Sprintf("container %s of worker pod %s hung: %s", f.Container, f.Pod, f.Hang)
	case f.Container == "":
		what = fmt.Sprintf("worker pod %s failed%s", f.Pod, parenthesized(f.Reason))
	default:
		what = fmt.Sprintf("container %s of worker pod %s exited with code %d%s", f.Container, f.Pod, f.ExitCode,
			parenthesized(signal(f.ExitCode), unlessGeneric(f.Reason)))
	}
	if f.Node == "" {
		return what
	}
	return what + " on node " + f.Node
}

// signal names the signal that ended a process: its exit code is 128 plus the number of the signal.
func signal(code int32) string {
	if code <= 128 || code > 128+64 {
		return ""
	}
	return fmt.Sprintf("signal %d", code-128)
}

// unlessGeneric leaves out the reason that every exit code other than 0 has.
func unlessGeneric(reason string) string {
	if reason == "Error" {
		return ""
	}
	return reason
}

// parenthesized appends the words that are not empty to a sentence.
func parenthesized(words ...string) string {
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
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
