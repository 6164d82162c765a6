/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestP125aNames(t *testing.T) {
	if got, want := GenJobName("js", "workers", 3), "js-workers-3"; got != want {
		t.Errorf("Job %q, want %q", got, want)
	}
	if got, want := GenPodName("js", "workers", "3", "0"), "js-workers-3-0"; got != want {
		t.Errorf("Pod %q, want %q", got, want)
	}
	for index, leads := range map[string]bool{"0": true, "1": false, "": false} {
		pod := &corev1.Pod{}
		if index != "" {
			pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
		}
		if got := IsLeaderPod(pod); got != leads {
			t.Errorf("index %q leads: %t", index, got)
		}
	}
}
