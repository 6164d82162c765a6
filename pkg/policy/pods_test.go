/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/facts"
)

// origins are the Pods that the Members of tests were read from, so that a table can change a Pod and have it read again.
var origins sync.Map // *facts.Member -> *corev1.Pod

func memberOf(pod *corev1.Pod) *facts.Member {
	m := facts.Of(pod)
	origins.Store(m, pod)
	return m
}

// podOf returns the Pod that a Member was read from, nil if it was made in another way.
func podOf(m *facts.Member) *corev1.Pod {
	pod, ok := origins.Load(m)
	if !ok {
		return nil
	}
	return pod.(*corev1.Pod)
}

// edit changes the Pod that a Member was read from.
func edit(m *facts.Member, change func(*corev1.Pod)) {
	pod := podOf(m)
	change(pod)
	*m = *facts.Of(pod)
}

// editAll changes all Pods of the Jobs.
func editAll(in *Input, change func(*corev1.Pod)) {
	for _, pods := range in.Pods {
		for _, m := range pods {
			edit(m, change)
		}
	}
}

// copyOf returns a Member of its own.
func copyOf(m *facts.Member) *facts.Member {
	other := m.DeepCopyObject().(*facts.Member)
	if pod := podOf(m); pod != nil {
		origins.Store(other, pod.DeepCopy())
	}
	return other
}
