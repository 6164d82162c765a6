/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestReplacementWait(t *testing.T) {
	t.Parallel()
	for failed, want := range map[int64]time.Duration{
		-1: 0, 0: 0, 1: 10 * time.Second, 2: 20 * time.Second, 6: 320 * time.Second, 7: 10 * time.Minute, 8: 10 * time.Minute, math.MaxInt64: 10 * time.Minute,
	} {
		if got := ReplacementWait(failed); got != want {
			t.Errorf("P170: %d have failed: got %s, want %s", failed, got, want)
		}
	}
}

func TestFailuresOfAnIndex(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		counted, ignored string
		want             int64
	}{
		"P170: no count, as in Jobs that count all indexes together": {"", "", 0},
		"P170: those that count, and those that are ignored":         {"2", "3", 5},
		"P170: what is no number":                                    {"x", "1", 1},
		"P170: what no Job controller writes":                        {"-1", "99999999999", 0},
		"P170: the largest":                                          {"2147483647", "2147483647", 2 * math.MaxInt32},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			batchv1.JobIndexFailureCountAnnotation: tc.counted, batchv1.JobIndexIgnoredFailureCountAnnotation: tc.ignored,
		}}}
		if got := Of(pod).Failures; got != tc.want {
			t.Errorf("%s: got %d, want %d", name, got, tc.want)
		}
	}
}

func TestWhenAFailedPodEnded(t *testing.T) {
	t.Parallel()
	at := func(seconds int) metav1.Time { return metav1.NewTime(now.Add(time.Duration(seconds) * time.Second)) }
	ends := func(name string, seconds int) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(seconds)}}}
	}
	runs := corev1.ContainerStatus{Name: "worker", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	unready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at(7)}}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   int
	}{
		"P170: the last container":                     {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ends("worker", 3), ends("side", 5)}, Conditions: unready}, 5},
		"P170: and its sidecars":                       {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ends("worker", 3)}, InitContainerStatuses: []corev1.ContainerStatus{ends("agent", 4), ends("setup", 6)}}, 4},
		"P170: one of which no end is known":           {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{runs, ends("side", 5)}, Conditions: unready}, 7},
		"P170: nor since when the Pod is not ready":    {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{runs}}, 2},
		"P170: an evicted Pod that shows no container": {corev1.PodStatus{}, 2},
	} {
		tc.status.Phase = corev1.PodFailed
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: ptr.To(at(32)), DeletionGracePeriodSeconds: ptr.To[int64](30)},
			Spec:       corev1.PodSpec{InitContainers: []corev1.Container{{Name: "setup"}, {Name: "agent", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}},
			Status:     tc.status,
		}
		if got := Of(pod).Finished; !got.Equal(at(tc.want).Time) {
			t.Errorf("%s: got %s, want %s", name, got, at(tc.want))
		}
	}
}
