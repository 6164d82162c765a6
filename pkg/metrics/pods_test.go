/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// runs returns a JobSet whose group runs at epoch 1.
func runs(changes ...func(*jobset.JobSet)) *jobset.JobSet {
	js := builders.MakeJobSet("js", "ns").UID("runs-uid").FailurePolicy(jobset.InPlaceRestart, 10).Epochs(0, 1).Obj()
	js.Status.LastSyncTime = ptr.To(metav1.NewTime(now.Add(-time.Hour)))
	for _, change := range changes {
		change(js)
	}
	return js
}

// worker returns a Pod of that JobSet that reported an epoch.
func worker(epoch int, changes ...func(*corev1.Pod)) *facts.Member {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{jobset.JobSetUIDKey: "runs-uid"},
		Annotations: map[string]string{jobset.EpochKey: strconv.Itoa(epoch)},
	}}
	for _, change := range changes {
		change(pod)
	}
	return facts.Of(pod)
}

// unready for some time, with a container that waits for each reason.
func unready(since time.Duration, reasons ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(now.Add(-since))}}
		for _, reason := range reasons {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}})
		}
	}
}

func terminating(since time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(-since))) }
}

func phase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = phase }
}

func TestSummarizePods(t *testing.T) {
	t.Parallel()
	blocked := unready(time.Minute, "ImagePullBackOff")
	tests := map[string]struct {
		jobSet *jobset.JobSet
		pod    *facts.Member
		want   summary
	}{
		"C227: a worker whose image cannot be pulled after the lift":               {runs(), worker(1, blocked), summary{notReady: 1, notReadyFor: time.Minute}},
		"C227: one that is ready":                                                  {runs(), worker(1), summary{}},
		"a worker that starts has five minutes":                                    {runs(), worker(1, unready(5*time.Minute-1)), summary{}},
		"and then counts from the start":                                           {runs(), worker(1, unready(5*time.Minute)), summary{notReady: 1, notReadyFor: 5 * time.Minute}},
		"before the lift nobody is expected to be ready":                           {assembles(0, func(js *jobset.JobSet) { js.UID = "runs-uid" }), worker(2, blocked), summary{assembling: 1}},
		"nor in another epoch":                                                     {runs(), worker(2, blocked), summary{}},
		"P20: nor in a group that nobody watches":                                  {runs(condition(jobset.JobSetInPlaceRestartDisabled, true)), worker(1, blocked), summary{}},
		"P20: nor in one that is suspended":                                        {runs(func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }), worker(1, blocked), summary{}},
		"nor in a JobSet that has ended":                                           {runs(condition(jobset.JobSetFailed, true)), worker(1, blocked), summary{}},
		"nor in another JobSet, perhaps an earlier one of the name":                {runs(func(js *jobset.JobSet) { js.UID = "later" }), worker(1, blocked), summary{}},
		"nor in one of another strategy":                                           {runs(func(js *jobset.JobSet) { js.Spec.FailurePolicy = nil }), worker(1, blocked), summary{}},
		"a Pod that failed is a matter of its group":                               {runs(), worker(1, blocked, phase(corev1.PodFailed)), summary{}},
		"C227: a Pod that should have been gone for two minutes":                   {runs(), worker(1, blocked, terminating(2*time.Minute)), summary{stuckFor: 2 * time.Minute}},
		"one inside its grace":                                                     {runs(), worker(1, terminating(-time.Second)), summary{}},
		"one that has ended and waits for finalizers":                              {runs(), worker(1, terminating(time.Hour), phase(corev1.PodSucceeded)), summary{}},
		"C227: it counts while the group assembles: that is when it is waited for": {assembles(0, func(js *jobset.JobSet) { js.UID = "runs-uid" }), worker(1, terminating(time.Hour)), summary{assembling: 1, stuckFor: time.Hour}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := summarize([]*jobset.JobSet{tc.jobSet}, []*facts.Member{tc.pod}, nil, gates.Set{InPlaceRestart: true}, now)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(summary{}, toleranceSummary{})); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoIsNotReadyCountsFromTheLift(t *testing.T) {
	t.Parallel()
	js := runs(func(js *jobset.JobSet) { js.Status.LastSyncTime = ptr.To(metav1.NewTime(now.Add(-time.Minute))) })
	got := summarize([]*jobset.JobSet{js}, []*facts.Member{worker(1, unready(time.Hour, "ErrImagePull"))}, nil, gates.Set{InPlaceRestart: true}, now)
	if got.notReadyFor != time.Minute {
		t.Errorf("not ready for %s, want a minute: before the lift it was held", got.notReadyFor)
	}
}
