/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// A supervisor that is killed with its worker, as by the kernel when the container is out of memory, can tell nobody. The
// kubelet can: it starts the container alone again, and keeps how it ended.

// lastKilled leaves out Pods that have ended, whose End says more.
func lastKilled(pod *corev1.Pod) (last End) {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if !workerpod.Supervised(c) {
			continue
		}
		for k := range pod.Status.ContainerStatuses {
			s := &pod.Status.ContainerStatuses[k]
			if s.Name != c.Name {
				continue
			}
			for _, end := range [...]*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
				if end == nil || end.ExitCode == 0 || end.ExitCode == protocol.ExitLeave {
					continue
				}
				if at := moment(&end.FinishedAt); last.Container == "" || at.After(last.At) {
					last = End{Container: c.Name, ExitCode: end.ExitCode, Reason: end.Reason, At: at}
				}
			}
		}
	}
	return last
}
